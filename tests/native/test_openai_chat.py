from gatekeeper_core.messages import MediaPart, Message
from gatekeeper_core.native.items import Sent
from gatekeeper_core.native.openai_chat import CHAT
from gatekeeper_core.native.reading import read_messages


def test_what_a_client_says_of_a_message_makes_it_none_of_ours() -> None:
    marks = {"synthetic": "folded", "compressed": True, "signed": True, "beside_results": True, "author": "ann"}
    (message,) = read_messages([{"role": "user", "content": "Which port?", "metadata": marks}])
    assert dict(message.metadata) == {"author": "ann"}


def test_what_a_part_costs_is_counted_and_never_read_from_it() -> None:
    parts = [
        {"type": kind, "tokens": 0, "data": "端口" * 200} for kind in ("image", "audio", "compaction", "unheard_of")
    ]
    (message,) = read_messages([{"role": "user", "content": parts}])
    assert message.content[:2] == (MediaPart("image"), MediaPart("audio"))
    assert all(part.kind == "other" and part.tokens > 300 for part in message.content[2:])


def test_a_shorter_text_takes_the_place_of_the_texts_beside_media() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://a/b.png"}}
    item = {"role": "user", "content": [{"type": "text", "text": "看这里"}, image, {"type": "text", "text": "here"}]}
    (read,) = read_messages([item])
    rewritten = CHAT.rewrite(item, [Sent(read, Message("user", "看"))])
    assert rewritten == {"role": "user", "content": [{"type": "text", "text": "看"}, image]}
