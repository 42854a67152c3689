"""The command for shell programs, forked from a process that has loaded its libraries: a fifth of its start."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import traceback
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CLIENT = """\
#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [b"."], [0, 1, 2])
    server.sendall(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode())
    server.shutdown(socket.SHUT_WR)
    sys.exit(server.recv(1)[0])
"""


@contextmanager
def quick_command(environment: Mapping[str, str]) -> Iterator[str]:
    """Return a folder for PATH with a program ``gatekeeper`` that starts in no time; it needs ``fork``."""
    with TemporaryDirectory() as folder:
        address, client = f"{folder}/socket", Path(folder) / "gatekeeper"
        client.write_text(CLIENT.format(python=sys.executable, address=address), encoding="utf-8")
        client.chmod(0o700)
        command = [sys.executable, __file__, address]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as server:
            try:
                assert server.stdout
                assert server.stdout.readline(), "the command does not load"
                yield folder
            finally:
                server.terminate()


def serve(address: str) -> None:
    import gatekeeper_cli.app
    from gatekeeper_core import ContextGatekeeper

    gatekeeper = ContextGatekeeper(400)
    gatekeeper.sync([("缓存 port?", "6380")])
    gatekeeper.explain("端口 port?")  # reads the word lists
    # Each command loads these again, because they read the language of its environment.
    for name in [name for name in sys.modules if name.startswith(gatekeeper_cli.__name__)]:
        del sys.modules[name]
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                answer(connection)
            connection.close()


def answer(connection: socket.socket) -> None:
    """Run one command with the streams, the folder and the environment of its caller, and end with its status."""
    status = 1
    try:
        _, streams, _, _ = socket.recv_fds(connection, 1, 3)
        arguments, folder, environment = json.loads(connection.makefile("rb").read())
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
            os.close(stream)
        sys.stdin, sys.stdout, sys.stderr = (open(at, mode, closefd=False) for at, mode in enumerate("rww"))  # noqa: SIM115
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["gatekeeper", *arguments]
        from gatekeeper_cli import main

        main()
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:  # noqa: BLE001 - as the interpreter does at the end of a program
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        connection.sendall(bytes([status]))
        os._exit(status)


if __name__ == "__main__":
    serve(sys.argv[1])
