"""What an agent's tools and response format add to each request: the schemas that the model reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
from langchain_core.utils.function_calling import convert_to_openai_tool

from gatekeeper_core.caching import LruCache
from langchain_gatekeeper.content import compact_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from langchain.agents.middleware.types import ModelRequest

__all__ = ["SchemaTexts"]

_MAX_SCHEMAS = 512
"""Tools and response formats that are remembered at once. Source: ours; more than an agent ever has."""


class SchemaTexts:
    """The JSON of tools and response formats, made once for each object; a copy of it starts empty."""

    def __init__(self) -> None:
        self._texts: LruCache[int, tuple[object, str]] = LruCache(max_entries=_MAX_SCHEMAS)

    def of(self, source: object) -> str:
        """Return the JSON that a tool or a response format adds to a request, one line for each schema.

        Args:
            source: a tool, a tool's dict, a response format or a schema.

        >>> SchemaTexts().of({"type": "web_search"})
        '{"type":"web_search"}'
        """
        known = self._texts.get(id(source))
        if known is None or known[0] is not source:
            # The object stays with its text: as long as it lives, no other object has its id.
            known = source, "\n".join(map(compact_json, _schemas(source)))
            self._texts.put(id(source), known)
        return known[1]

    def of_request(self, request: ModelRequest[Any]) -> tuple[str, ...]:
        """Return the JSON of the tools and the response format of a request."""
        return tuple(map(self.of, filter(None, [*request.tools, request.response_format])))


def _schemas(source: Any) -> Iterator[object]:
    if isinstance(source, dict):
        yield source
    elif isinstance(source, AutoStrategy):
        yield from _schemas(ToolStrategy(source.schema))
    elif isinstance(source, (ToolStrategy, ProviderStrategy)):
        for spec in source.schema_specs if isinstance(source, ToolStrategy) else [source.schema_spec]:
            yield {"name": spec.name, "description": spec.description, "schema": spec.json_schema}
    else:
        yield convert_to_openai_tool(source)
