// Pytest on CPython in WebAssembly: node wasm.mjs FOLDER-OF-PYODIDE FOLDER-OF-PACKAGES CHECKOUT PYTEST-ARGUMENT...
// It has no threads, processes and sockets: a test that asks for one is skipped, with what Python said.
const [pyodide, packages, checkout, ...args] = process.argv.slice(2);
const { loadPyodide } = await import(`${pyodide}/pyodide.mjs`);
const env = { HOME: "/tmp", GATEKEEPER_HYPOTHESIS_PROFILE: "wheel", PYTHONDONTWRITEBYTECODE: "1" };
const python = await loadPyodide({ env });
for (const [at, root] of [["/packages", packages], ["/checkout", checkout]]) {
  python.FS.mkdirTree(at);
  python.FS.mount(python.FS.filesystems.NODEFS, { root }, at);
}
python.FS.chdir("/checkout");
python.globals.set("args", python.toPy(args));
process.exitCode = python.runPython(`
import sys
sys.path[:0] = ["/checkout", "/checkout/integrations", "/packages"]
import pytest

class WithoutSystem:
    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        why = str(call.excinfo.value) if call.excinfo else ""
        if any(missing in why for missing in ("start new thread", "not support processes", "Host is unreachable")):
            report.outcome, report.longrepr = "skipped", (item.nodeid, 0, why)
        return report

print(sys.version)
int(pytest.main([*args, "-p", "no:cacheprovider"], plugins=[WithoutSystem()]))
`);
