"""What an agent's tools and response format add to each request: the schemas that the model reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
from langchain_core.utils.function_calling import convert_to_openai_tool

from gatekeeper_core.native.calls import compact_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from langchain.agents.middleware.types import ModelRequest

__all__ = ["request_schemas", "schema_text"]


def schema_text(source: object) -> str:
    """Return the JSON that a tool or a response format adds to a request, one line for each schema.

    Args:
        source: a tool, a tool's dict, a response format or a schema.

    >>> schema_text({"type": "web_search"})
    '{"type":"web_search"}'
    """
    return "\n".join(map(compact_json, _schemas(source)))


def request_schemas(request: ModelRequest[Any]) -> tuple[str, ...]:
    """Return the JSON of the tools and the response format of a request."""
    return tuple(map(schema_text, filter(None, [*request.tools, request.response_format])))


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
