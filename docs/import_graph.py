"""Draw the import graph of the core by room, from the source files.

python docs/import_graph.py           writes the two pictures (imports.svg) and the table in architecture.md
python docs/import_graph.py --check   exits with status 1 if they do not show what the code imports today

A room is a folder of ``gatekeeper_core`` or of its ``context``; the modules at the top are the hall. The picture leaves
out an arrow that follows from others (a imports b, b imports c: a to c); the table has every one.
"""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

from write_or_check import write_or_check

DOCS = Path(__file__).resolve().parent
HALL = "hall"
BEGINNING, END = "<!-- drawn by docs/import_graph.py -->\n\n", "\n<!-- end of the drawing -->\n"

LANES = (
    "native",
    "history",
    "pricing",
    "tool_results",
    "selection",
    "prompt",
    "memory",
    "storage",
)
"""The rooms from left to right: each has its own lane, so that no arrow runs through a box."""
DOORS = {"selection": "ContextGatekeeper", "history": "select_history", "prompt": "ContextBuilder"}
CAPTIONS = {
    "native": ("providers' formats", "各家消息格式"),
    "pricing": ("prices, caches", "价格与缓存"),
    "tool_results": ("digests, pointers", "精简工具结果"),
    "memory": ("summary, task, facts", "摘要、任务、记忆"),
    "storage": ("stores, SQLite", "存储"),
    HALL: ("hall: messages, text, tokens, errors, observation", "公共模块：消息、文字、token、错误、观测"),
}
"""By room: what it is for, in English and in Chinese; a room with a door shows the door."""
PURPOSES = {
    "prompt": "builds the whole prompt within one budget",
    "memory": "threads and what they leave: summary, task, constraints, long-term memories",
    "history": "which messages are sent, the current run, loops of tools made shorter, cache marks",
    "tool_results": "digests of long tool results, and the memory that keeps the full ones",
    "native": "the message formats of providers",
    "pricing": "prices, usage, what a provider has cached, the account of a thread",
    "selection": "the turns that a question needs, with the reasons",
    "storage": "stores, in memory and in SQLite",
}
"""By room: what it is for, for the table."""
LANE_WIDTH, ROW_HEIGHT, BOX_WIDTH, BOX_HEIGHT, MARGIN = 66, 84, 124, 46, 68


def package_root() -> Path:
    """Return the folder of ``gatekeeper_core``: that of the checkout, else the installed one."""
    checkout = DOCS.parent / "gatekeeper_core"
    if checkout.is_dir():
        return checkout
    spec = importlib.util.find_spec("gatekeeper_core")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("gatekeeper_core is neither in the checkout nor installed: pip install -e .")
    return Path(spec.origin).parent


def room_of(module: str) -> str:
    """Return the room of a dotted module name below the package.

    >>> room_of("context.history.select"), room_of("selection.index"), room_of("tokens")
    ('history', 'selection', 'hall')
    """
    parts = module.split(".")
    if parts[0] == "context" and len(parts) > 1:
        return parts[1]
    return parts[0] if len(parts) > 1 or parts[0] in LANES else HALL


def rooms_imported(root: Path) -> dict[str, set[str]]:
    """Return for each room of a package the other rooms that its modules import, also inside functions."""
    rooms: dict[str, set[str]] = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if module in {"", "context"}:
            continue  # the faces of the package: they name everything
        here = rooms.setdefault(room_of(module), set())
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            targets = {room_of(name.partition(".")[2]) for name in names if name.startswith(f"{root.name}.")}
            here |= targets - {room_of(module)}
    return rooms


def floors(rooms: dict[str, set[str]]) -> dict[str, int]:
    """Return for each room how many imports lie below it, the hall at 0.

    Raises:
        ValueError: rooms import each other in a circle.
    """
    heights: dict[str, int] = {}
    while len(heights) < len(rooms):
        ready = [room for room in rooms if room not in heights and rooms[room] <= heights.keys()]
        if not ready:
            raise ValueError(f"a circle of imports among {sorted(rooms.keys() - heights.keys())}")
        heights |= {room: 1 + max((heights[other] for other in rooms[room]), default=-1) for room in ready}
    return heights


def direct(rooms: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Return the arrows that do not follow from others, sorted."""

    def below(room: str) -> set[str]:
        return rooms[room].union(*(below(other) for other in rooms[room]))

    arrows = []
    for room, others in rooms.items():
        implied = set().union(*(below(other) for other in others))
        arrows += [(room, other) for other in others - implied]
    return sorted(arrows)


def picture(rooms: dict[str, set[str]], language: int) -> str:
    """Return the graph as SVG, in the style of the other pictures.

    Args:
        rooms: what ``rooms_imported`` returns.
        language: 0 for English, 1 for Chinese.

    Raises:
        ValueError: a room has no lane yet, or rooms import each other in a circle.
    """
    if missing := rooms.keys() - {*LANES, HALL}:
        raise ValueError(f"give {sorted(missing)} a lane in LANES and a caption in CAPTIONS (docs/import_graph.py)")
    heights = floors(rooms)
    top = max(heights.values())
    width = 2 * MARGIN + LANE_WIDTH * (len(LANES) - 1)
    height = 14 + ROW_HEIGHT * top + BOX_HEIGHT
    style = (DOCS / "pictures" / "selection.svg").read_text(encoding="utf-8")
    style = style[style.index("<style>") : style.index("</style>") + len("</style>")]

    def x_of(room: str) -> int:
        return MARGIN + LANE_WIDTH * LANES.index(room)

    def y_of(room: str) -> int:
        return 8 + ROW_HEIGHT * (top - heights[room])

    lines = [
        f'<svg class="picture" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">',
        style,
    ]
    for room, other in direct(rooms):
        start, end = x_of(room), width // 2 if other == HALL else x_of(other)
        bottom, target = y_of(room) + BOX_HEIGHT, y_of(other) - 2
        if other == HALL or start == end:
            end, way = start, f"M{start} {bottom} L{start} {target}"
        else:
            turn = bottom + 8 + 6 * [each for each in LANES if heights[each] == heights[room]].index(room)
            side = 6 if end > start else -6
            way = (
                f"M{start} {bottom} L{start} {turn - 6} Q{start} {turn} {start + side} {turn} "
                f"L{end - side} {turn} Q{end} {turn} {end} {turn + 6} L{end} {target}"
            )
        lines += [
            f'<path class="line" d="{way}"/>',
            f'<path class="tip" d="M{end} {target} L{end - 4.5} {target - 8} L{end + 4.5} {target - 8} Z"/>',
        ]
    for room in (each for each in LANES if each in rooms):
        x, y, kind = x_of(room), y_of(room), "key" if room in DOORS else "box"
        caption = DOORS.get(room) or CAPTIONS[room][language]
        lines += [
            f'<rect class="{kind}" x="{x - BOX_WIDTH // 2}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="8"/>',
            f'<text class="mid bold" x="{x}" y="{y + 20}">{room}</text>',
            f'<text class="mid small" x="{x}" y="{y + 37}">{caption}</text>',
        ]
    y = y_of(HALL)
    lines += [
        f'<rect class="out" x="6" y="{y}" width="{width - 12}" height="{BOX_HEIGHT - 8}" rx="8"/>',
        f'<text class="mid" x="{width // 2}" y="{y + 24}">{CAPTIONS[HALL][language]}</text>',
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def table(rooms: dict[str, set[str]]) -> str:
    """Return every import between rooms as a Markdown table, the highest room first."""
    heights = floors(rooms)
    lines = ["| room | for | imports |", "|---|---|---|"]
    for room in sorted(rooms.keys() - {HALL}, key=lambda each: (-heights[each], each)):
        others = ", ".join(f"`{other}`" for other in sorted(rooms[room] - {HALL})) or "–"
        folder = f"context/{room}" if (package_root() / "context" / room).is_dir() else room
        lines.append(f"| `{folder}` | {PURPOSES[room]} | {others} |")
    return "\n".join(lines) + "\n"


def drawn(rooms: dict[str, set[str]]) -> dict[Path, str]:
    """Return by file what it should hold.

    Raises:
        ValueError: the page has lost the marks around the table.
    """
    page = DOCS / "architecture.md"
    before, opened, rest = page.read_text(encoding="utf-8").partition(BEGINNING)
    _, closed, after = rest.partition(END)
    if not (opened and closed):
        raise ValueError(f"{page.name} must hold {BEGINNING.strip()} and {END.strip()}, each with a blank line inside")
    return {
        DOCS / "pictures" / "imports.svg": picture(rooms, 0),
        DOCS / "pictures" / "imports.zh.svg": picture(rooms, 1),
        page: f"{before}{BEGINNING}{table(rooms)}{END}{after}",
    }


def main() -> None:
    """Write the drawing, or check it."""
    write_or_check(drawn(rooms_imported(package_root())))


if __name__ == "__main__":
    main()
