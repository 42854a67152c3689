"""Run the frameworks' own tests on the stock classes and on ours, and say where the outcomes differ.

::

    python tests/upstream/compare.py             everything
    python tests/upstream/compare.py --sample    what CI has time for

The tests come from the source archives of the installed versions, fetched from the package index into a temporary
folder. LlamaIndex ships no tests: its suite is our own contract (``tests/adapters/test_llama_index_contract.py``), run
on the stock classes and on ours. The exit status is 1 when a test that passes on stock fails on ours for a reason that
is not listed here. Needs the extras of the frameworks and the dependency group ``test-upstream``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]


class Suite(NamedTuple):
    """Tests that run twice: plain, and with a plugin that puts ours in the place of stock.

    Attributes:
        name: for the table.
        package: the distribution whose source archive holds the tests; "" for our own.
        paths: what to run, relative to the root of the archive.
        sample: what to run in CI, nothing where fetching the archive alone takes too long or our own tests run anyway.
        plugin: the module beside this file that replaces the classes; "" where the tests read GATEKEEPER_CONTRACT_OF.
        differences: test name (its last part, without parameters) to the reason why it may fail on ours.
    """

    name: str
    package: str
    paths: tuple[str, ...]
    sample: tuple[str, ...]
    plugin: str
    differences: dict[str, str]


CLASSIC = (
    "tests/unit_tests/chains/test_conversation.py",
    "tests/unit_tests/chains/test_memory.py",
    "tests/unit_tests/chains/test_conversation_retrieval.py",
    "tests/unit_tests/memory/test_combined_memory.py",
)
LIVE_LIST = "asserts that a list loaded before a save shows what was saved after it (the store's live list)"

SUITES = (
    Suite(
        "langchain-classic",
        "langchain-classic",
        CLASSIC,
        (),
        "ours_for_classic",
        {
            "test_simplea": LIVE_LIST,
            "test_fixed_message_response_when_docs_founda": LIVE_LIST,
            "test_fixed_message_response_when_docs_found": LIVE_LIST,
            "test_fixed_message_response_when_no_docs_found": LIVE_LIST,
        },
    ),
    Suite(
        "langchain agents",
        "langchain",
        ("tests/unit_tests/agents",),
        (
            "tests/unit_tests/agents/test_injected_runtime_create_agent.py",
            "tests/unit_tests/agents/test_response_format.py",
            "tests/unit_tests/agents/middleware/core/test_framework.py",
        ),
        "ours_for_agents",
        {"test_on_model_call": "the second of two user messages in a row needs nothing of the first"},
    ),
    Suite(
        "llama-index contract",
        "",
        ("tests/adapters/test_llama_index_contract.py",),
        (),
        "",
        {},
    ),
)


def fetched(package: str, folder: Path) -> Path:
    """Return the root of the unpacked source archive of the installed version of a package."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    command += ["--no-build-isolation", "--dest", str(folder / package), f"{package}=={version(package)}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    archive = next((folder / package).glob("*.tar.gz"))
    shutil.unpack_archive(archive, folder / package)
    return next(path for path in (folder / package).iterdir() if path.is_dir())


def outcomes(root: Path, paths: tuple[str, ...], folder: Path, *, plugin: str, ours: bool) -> dict[str, str]:
    """Return the outcome of each test of a run."""
    found = folder / "outcomes.json"
    found.unlink(missing_ok=True)
    plugins = ["no:cacheprovider", "outcomes", *([plugin] if plugin and ours else [])]
    if root == CHECKOUT:
        plugins.append("no:asyncio")  # our own tests know nothing of the plugins that theirs need
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", *(f"-p{name}" for name in plugins), *paths]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GATEKEEPER_")} | {
        "PYTHONPATH": str(HERE),
        "GATEKEEPER_OUTCOMES": str(found),
        "GATEKEEPER_CONTRACT_OF": "ours" if ours else "stock",
    }
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not found.exists():
        raise SystemExit(f"pytest ended with {done.returncode}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return json.loads(found.read_text(encoding="utf-8"))


def verdict(stock: str | None, ours: str | None, reason: str | None) -> str:
    """Return how a test's outcome on ours compares with its outcome on stock."""
    if stock == ours:
        return "same" if stock != "failed" else "fails on both"
    if ours == "passed":
        return "improved"
    return "different" if stock == "passed" and reason else "worse"


def compare(suite: Suite, folder: Path, *, sample: bool) -> Counter[str]:
    """Run a suite twice, print what differs, and return the number of tests by verdict."""
    root = fetched(suite.package, folder) if suite.package else CHECKOUT
    paths = suite.sample if sample else suite.paths
    stock, ours = (outcomes(root, paths, folder, plugin=suite.plugin, ours=ours) for ours in (False, True))
    counts: Counter[str] = Counter()
    for test in sorted(stock.keys() | ours.keys()):
        reason = suite.differences.get(test.rpartition("::")[2].partition("[")[0])
        found = verdict(stock.get(test), ours.get(test), reason)
        counts[found] += 1
        if found not in ("same", "fails on both"):
            print(f"  {found}: {test}: {reason if found == 'different' else f'{stock.get(test)} -> {ours.get(test)}'}")
    return counts


def main() -> int:
    """Print the counts by suite and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", action="store_true", help="what CI has time for")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for suite in (suite for suite in SUITES if suite.sample or not arguments.sample):
            name = f"{suite.name} {version(suite.package or 'llama-index-core')}"
            print(f"{name} ...", flush=True)
            rows.append((name, compare(suite, Path(folder), sample=arguments.sample)))
    verdicts = ("same", "fails on both", "improved", "different", "worse")
    print(f"\n{'suite':<32}{''.join(f'{verdict:>15}' for verdict in verdicts)}")
    for name, counts in rows:
        print(f"{name:<32}{''.join(f'{counts[verdict]:>15}' for verdict in verdicts)}")
    return int(any(counts["worse"] for _, counts in rows))


if __name__ == "__main__":
    sys.exit(main())
