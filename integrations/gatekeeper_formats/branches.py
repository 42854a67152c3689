"""One branch of a tree of messages, as exports keep them: an object of nodes, each of which names its parent."""

from __future__ import annotations

from typing import NamedTuple

from gatekeeper_formats import base


class TreeKeys(NamedTuple):
    """The names that a format gives to a tree of messages.

    Attributes:
        nodes: the object of nodes, for errors.
        current: the newest node of the branch that is shown.
        parent: the parent of a node.
    """

    nodes: str
    current: str
    parent: str


def branch_of(nodes: base.Fields, current: object, keys: TreeKeys) -> list[str]:
    """Return the names of the nodes from the root to the current one; None stands for the only end there is.

    Raises:
        PlaceError: a node is missing or no object, the parents go round in a circle, or several branches have an end.
    """
    if current is None:
        current = _only_end(nodes, keys)
    path: dict[str, None] = {}
    while current is not None:
        if not isinstance(current, str):
            raise base.PlaceError(f"the name of a node must be text, got {base.kind_of(current)}")
        if current in path:
            raise base.PlaceError(f"the parents of node {current!a:.60} go round in a circle")
        if current not in nodes:
            raise base.PlaceError(f'node {current!a:.60} is missing in "{keys.nodes}"')
        path[current] = None
        current = base.checked_object(nodes[current], f"node {current!a:.60}").get(keys.parent)
    return list(reversed(path))


def _only_end(nodes: base.Fields, keys: TreeKeys) -> str | None:
    """Return the node that is no parent: where the conversation ends if it has one branch."""
    named = (node.get(keys.parent) for node in nodes.values() if isinstance(node, dict))
    parents = {parent for parent in named if isinstance(parent, str)}
    ends = [name for name in nodes if name not in parents]
    if len(ends) > 1 or (nodes and not ends):
        raise base.PlaceError(f'"{keys.current}" is missing, and {len(ends)} branches have an end')
    return ends[0] if ends else None
