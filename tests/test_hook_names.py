"""The names of ``gatekeeper_hooks``: each needs its own framework alone, and names the line that installs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gatekeeper_hooks
from tests.case_files import rows

FRAMEWORKS = {name: (framework, extra) for name, framework, extra in rows("hook_names", "framework")}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_missing_framework_is_named_with_the_line_that_installs_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    framework, extra = FRAMEWORKS[name]
    for module in [module for module in sys.modules if module.startswith("gatekeeper_hooks.")]:
        monkeypatch.delitem(sys.modules, module)
    for module in [framework, *(module for module in sys.modules if module.startswith(f"{framework}."))]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=f"^{name} needs {framework}.*: pip install .*{extra}]"):
        getattr(gatekeeper_hooks, name)


def test_the_package_shows_its_names_and_loads_no_framework() -> None:
    assert list(gatekeeper_hooks.__all__) == sorted({*FRAMEWORKS, "NativeSelector"})
    assert {*gatekeeper_hooks.__all__} <= {*dir(gatekeeper_hooks)}
    with pytest.raises(AttributeError, match="no attribute 'GatekeeperTransform'"):
        gatekeeper_hooks.GatekeeperTransform  # noqa: B018 - reading it is the test
    loaded = {framework for framework, _ in FRAMEWORKS.values()}
    code = f"import gatekeeper_hooks, sys\ngatekeeper_hooks.NativeSelector\nprint({loaded!r} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "set()"
