"""ChatGPT's export, ``conversations.json``: a list of conversations, each a tree of messages in ``mapping``.

An edited question or a regenerated answer starts a branch; the one shown last runs from the root to ``current_node``.
"""

from __future__ import annotations

from collections.abc import Mapping

from gatekeeper_core.messages import MediaKind, Message, Part, TextPart
from gatekeeper_formats import base
from gatekeeper_formats.transcript import Transcript, TreeKeys, branch_of

_KEYS = TreeKeys(nodes="mapping", current="current_node", parent="parent")
_THINKING = frozenset({"thoughts", "reasoning_recap"})
_CONTEXT = frozenset({"user_editable_context", "model_editable_context", "model_set_context"})
"""Messages to the model about the user; the conversation never shows them."""

_POINTERS: Mapping[str, MediaKind] = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
    "real_time_user_audio_video_asset_pointer": "audio",
}


class _ChatGPT(base.Format):
    name = "chatgpt"
    signs = frozenset({"mapping"})
    id_keys = ("conversation_id", "id")
    created_key = "create_time"
    day = staticmethod(base.date_of_seconds)

    def conversation(self, value: base.Fields, left_out: base.LeftOut) -> tuple[Message, ...]:
        mapping = base.field_of(value, "mapping", dict)
        path = branch_of(mapping, value.get("current_node"), _KEYS)
        on_path = set(path)
        beside = (node for name, node in mapping.items() if name not in on_path)
        left_out["branch_message"] += sum(isinstance(node, dict) and node.get("message") is not None for node in beside)
        transcript = Transcript(left_out)
        for name in path:
            node_message = mapping[name].get("message")
            if node_message is None:
                continue
            message = base.checked_object(node_message, f"the message of node {name!a:.60}")
            author, metadata, content = (base.object_at(message, key) for key in ("author", "metadata", "content"))
            role, kind, recipient = author.get("role"), content.get("content_type"), message.get("recipient")
            kind = kind if isinstance(kind, str) else None
            transcript.pause()
            if metadata.get("is_visually_hidden_from_conversation") is True or kind in _CONTEXT:
                left_out["hidden_message"] += 1
            elif kind in _THINKING:
                left_out["thinking"] += 1
            elif message.get("weight") == 0 and not isinstance(message.get("weight"), bool):
                left_out["weightless_message"] += 1
            elif role not in ("system", "user", "assistant", "tool"):
                left_out["unknown_role"] += 1
            elif role == "assistant" and isinstance(recipient, str) and recipient != "all":
                parts = _parts(content, left_out)
                transcript.call(recipient, "\n".join(part.text for part in parts if isinstance(part, TextPart)))
            elif role == "tool":
                tool = author.get("name")
                transcript.answer(_parts(content, left_out), name=tool if isinstance(tool, str) else None)
            else:
                transcript.message(role, _parts(content, left_out))
        return transcript.messages


def _parts(content: base.Fields, left_out: base.LeftOut) -> list[Part]:
    kind = content.get("content_type")
    parts: list[Part] = []
    pieces = content.get("parts")
    if isinstance(pieces, list):
        for piece in pieces:
            fields = {"text": piece} if isinstance(piece, str) else base.object_at(piece)
            medium, text = _POINTERS.get(str(fields.get("content_type"))), fields.get("text")
            if medium is not None:
                parts += base.media_part(medium, left_out)
            elif isinstance(text, str):  # also the transcript of a recording
                parts += base.text_parts(text)
            else:
                left_out["unknown_part"] += 1
    elif kind == "computer_output":
        parts += base.media_part("image", left_out)
    else:
        # code, execution_output, system_error; tether_quote; tether_browsing_display
        texts = [content[key] for key in ("title", "text", "result") if isinstance(content.get(key), str)]
        parts += [part for text in texts for part in base.text_parts(text)]
        if not texts:
            left_out["unknown_part"] += 1
    return parts


FORMAT = _ChatGPT()
