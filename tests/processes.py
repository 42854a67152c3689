"""Processes that wait for commands, and end by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from multiprocessing.context import ForkServerContext, SpawnContext

    from typing_extensions import Self

SECONDS_TO_END = 15.0
"""A worker takes under one second to end; a pool of psycopg left open takes 20 (5 for each of its four threads)."""


class Processes:
    """Processes that answer one command after the other; use them in a ``with``.

    Args:
        context: how they start.
        main: what each of them runs, given its end of a pipe and its arguments; it returns when the pipe is closed.
        arguments: one tuple for each process.
    """

    def __init__(
        self,
        context: SpawnContext | ForkServerContext,
        main: Callable[..., object],
        arguments: Sequence[tuple[Any, ...]],
    ) -> None:
        self.count = len(arguments)
        self._connections, self._processes = [], []
        for own in arguments:
            here, there = context.Pipe()
            process = context.Process(target=main, args=(there, *own), daemon=True)
            process.start()
            there.close()
            self._connections.append(here)
            self._processes.append(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Wait until they end; one that hangs is killed, and an error."""
        for connection in self._connections:
            connection.close()
        hanging = []
        for number, process in enumerate(self._processes):
            process.join(SECONDS_TO_END)
            if process.is_alive():
                hanging.append(number)
                process.kill()
                process.join()
            process.close()
        assert not hanging, f"not ended {SECONDS_TO_END:g} seconds after their pipe: the processes {hanging}"

    def each(self, commands: Iterable[object]) -> list[Any]:
        """Give each process its command at once, and return their answers."""
        for connection, command in zip(self._connections, commands, strict=True):
            connection.send(command)
        return [connection.recv() for connection in self._connections]

    def all(self, command: object) -> list[Any]:
        """Give all of them one command at once, and return their answers."""
        return self.each([command] * self.count)
