import pytest

from gatekeeper_core.pricing.model_names import window_of_model


def test_no_row_is_larger_than_what_the_frameworks_say() -> None:
    for package in ("langchain_openai", "langchain_anthropic", "langchain_google_genai"):
        profiles = pytest.importorskip(f"{package}.data._profiles")._PROFILES
        for name, profile in profiles.items():
            theirs, ours = profile.get("max_input_tokens"), window_of_model(name)
            assert ours is None or not theirs or ours <= theirs, name
