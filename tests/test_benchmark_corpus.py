"""The generated conversation: the same for the same seed, growing at its end, with the words and lengths of real talk."""

from __future__ import annotations

from itertools import islice

from benchmarks.corpus import generate_turns, stream_turns

SEED = 7
TURNS = generate_turns(2_000, seed=SEED)


def test_the_same_seed_gives_the_same_turns_streamed_or_not_and_a_longer_talk_begins_like_a_shorter_one() -> None:
    assert generate_turns(100, seed=SEED) == TURNS[:100] == list(islice(stream_turns(seed=SEED), 100))
    assert generate_turns(60, seed=8) != TURNS[:60]
