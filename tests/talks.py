"""Short conversations in three scripts: for each its turns and a question about them; ``tests/cases/talks.jsonl``."""

from __future__ import annotations

from tests.case_files import rows


def talks(name: str) -> dict[str, tuple[list[tuple[str, str]], str]]:
    """Return the conversations of one kind by script."""
    return {script: ([(user, reply) for user, reply in pairs], query) for script, pairs, query in rows("talks", name)}


TALKS = talks("talk")
"""Three turns, each on a topic of its own, and a question that goes back to the first."""
