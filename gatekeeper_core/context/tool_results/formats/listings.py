"""Search results and directory listings: matches and unusual entries, the rest counted by file or folder."""

from __future__ import annotations

from collections import Counter

from gatekeeper_core.context.tool_results.digest import MARK, Digest, Lines, Task
from gatekeeper_core.context.tool_results.formats.rows import columns_of_texts, select_rows
from gatekeeper_core.context.tool_results.pointers import one_line
from gatekeeper_core.text import LazyPattern, data_pattern

_MATCHED = data_pattern("result_patterns.tsv", "HIT")
_NEAR_MATCH = data_pattern("result_patterns.tsv", "NEAR_HIT")

_LISTED = data_pattern("result_patterns.tsv", "LISTED")
_CLOCK = LazyPattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}\Z")
_NO_PATH = frozenset('<>|*?"=;(){}\t')
_MAX_GROUPS = 24
_UNITS = {"K": 10.0**3, "M": 10.0**6, "G": 10.0**9, "T": 10.0**12, "P": 10.0**15}


def is_listed(line: str) -> bool:
    """Return whether a line looks like one of ``ls -l``."""
    return _LISTED.match(line) is not None


def is_match(line: str) -> bool:
    """Return whether a line is a hit of a search: file, number, text."""
    match = _MATCHED.match(line)
    return match is not None and not match[1].isdigit() and "=" not in match[1] and not _CLOCK.search(match[1])


def is_path(line: str) -> bool:
    """Return whether a line is the path of a file or folder, or a plain file name."""
    path = line.strip()
    if not path or len(path) > 400 or path[-1] in ",;{}" or not _NO_PATH.isdisjoint(path) or ":" in path[2:]:
        return False
    if "/" not in path and "\\" not in path:
        return " " not in path and _folder_and_ending(path)[1] != "none"
    if " " not in path:
        return True
    return ". " not in path and all(part.count(" ") < 4 for part in path.replace("\\", "/").split("/"))


def _read_entry(line: str, folder: str) -> tuple[dict[str, str], str]:
    """Return the columns of a line below a folder's heading, and the group that counts it."""
    listed = _LISTED.match(line)
    if listed:
        mode, owner, group, size, _, name = listed.groups()
        columns = {"mode": mode, "owner": owner, "group": group, "ending": _folder_and_ending(name)[1]}
        if mode[0] == "-":
            unit = _UNITS.get(size[-1])
            columns["size"] = size if unit is None else str(float(size[:-1].replace(",", "")) * unit)
        return columns, folder or "."
    matched = _MATCHED.match(line) or _NEAR_MATCH.match(line)
    if matched:
        above, ending = _folder_and_ending(matched[1])
        return {"folder": above, "ending": ending, "text": matched[3].strip()}, matched[1]
    above, ending = _folder_and_ending(line)
    above = above or folder
    return {"folder": above, "ending": ending}, above or "."


def digest_listing(lines: Lines, task: Task) -> Digest:
    """Return a digest of search results or a listing."""
    entries: dict[int, dict[str, str]] = {}
    groups: dict[int, str] = {}
    headings: dict[str, int] = {}  # by folder, the index of the line that names it
    folder = ""
    for at, line in enumerate(lines.texts):
        bare = line.rstrip("\r")
        if bare.endswith(":") and not is_match(bare):
            folder = bare[:-1]
            headings[folder] = at
        elif bare.strip() and not bare.startswith("total "):
            entries[at], groups[at] = _read_entry(bare, folder)
    counted = _counted(Counter(groups.values()), task._replace(budget_tokens=task.budget_tokens // 3))
    room_tokens = task.budget_tokens - task.counter(counted)
    columns = columns_of_texts(entries.values())
    selection = select_rows(lines.at(list(entries)), columns, task._replace(budget_tokens=room_tokens))
    kept = set(selection.kept)
    for at, group in groups.items():
        if lines.numbers[at] in kept and group in headings:
            heading = headings[group]
            selection.kept[lines.numbers[heading]] = lines.texts[heading]
    return selection.digest("groups", below=counted)


def _folder_and_ending(path: str) -> tuple[str, str]:
    """Return the folder of a path, "" if it has none, and the extension of its name, or ``none``."""
    folder, _, name = path.rstrip("/\\").replace("\\", "/").rpartition("/")
    before, _, ending = name.partition(" -> ")[0].rpartition(".")
    return folder, f".{ending[:12]}" if before and ending.isalnum() else "none"


def _counted(groups: Counter[str], task: Task) -> str:
    """Return the number of entries by group, the largest groups first, as many as fit the budget."""
    while len(groups) > _MAX_GROUPS and any("/" in group.strip("/") for group in groups):
        shorter: Counter[str] = Counter()
        deepest = max(group.count("/") for group in groups)
        for group, count in groups.items():
            shorter[(_folder_and_ending(group)[0] or group) if group.count("/") == deepest else group] += count
        if shorter == groups:
            break
        groups = shorter
    lines: list[str] = []
    room_tokens = task.budget_tokens
    ranked = sorted(groups, key=lambda group: (-groups[group], group))
    for group in ranked[:_MAX_GROUPS]:
        line = f"{MARK} {groups[group]} in {one_line(group, max_chars=120)}"
        room_tokens -= task.counter(line + "\n")
        if room_tokens < 0:
            break
        lines.append(line)
    if lines and len(ranked) > len(lines):
        others = sum(groups[group] for group in ranked[len(lines) :])
        lines.append(f"{MARK} {others} in {len(ranked) - len(lines)} others")
    return "\n".join(lines)
