"""A short conversation in three scripts, for the tests of histories."""

from __future__ import annotations

TALKS: dict[str, tuple[list[tuple[str, str]], str]] = {
    "english": (
        [
            ("Which port does the Redis cache listen on?", "The Redis cache listens on port 6380."),
            ("New topic: how long does sourdough proof?", "Sourdough proofs for five hours at 26 degrees."),
            ("New topic: who keeps the minutes of the choir?", "Marta keeps the minutes of the choir."),
        ],
        "New topic: what was the port of the Redis cache?",
    ),
    "chinese": (
        [
            ("缓存监听哪个端口？", "缓存监听六三八零端口。"),
            ("换个话题，酸面包要发酵多久？", "酸面包在二十六度下发酵五个小时。"),
            ("换个话题，合唱团的会议记录谁负责？", "合唱团的会议记录由玛尔塔负责。"),
        ],
        "换个话题，缓存的端口是多少？",
    ),
    "mixed": (
        [
            ("Redis 缓存的 port 是多少？", "Redis 缓存用 6380 端口。"),
            ("换个话题，sourdough 要发酵多久？", "Sourdough 在 26 度发酵五小时。"),
            ("换个话题，choir 的 minutes 谁负责？", "Choir 的 minutes 由 Marta 负责。"),
        ],
        "换个话题，Redis 缓存的 port 再说一遍？",
    ),
}
"""By script: three turns, each on a topic of its own, and a question that goes back to the first."""
