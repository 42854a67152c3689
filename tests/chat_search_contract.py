"""What every index of chats must do, as a class of tests: its own test file inherits it and gives the store and the index."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import Message
from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_mcp import ChatHits, UserThreads, assign_thread
from gatekeeper_mcp import search as chat_search
from gatekeeper_mcp.search import K1, B, ChatIndex
from tests.case_files import from_file, rows
from tests.message_store_contract import messages as any_message

if TYPE_CHECKING:
    from gatekeeper_core.storage.tables import TableStore

WHEN = datetime(2025, 3, 8, 9, 30, tzinfo=timezone.utc)
CHATS = {
    "english": ("Which port does the Redis cache use?", "It listens on 6380."),
    "chinese": ("酸面包要发酵多久？", "二十六度大约五个小时。"),
    "mixed": ("nginx 的 access log 在哪个目录？", "在 /var/log/nginx 下。"),
}
[HOSTILE] = rows("chat_search_contract", "hostile")
TENANTS = ["acme", "acme ", "ACME", "acme'--", 'acme"', "acme\0", "茶", "\ud800", "%", "../acme", "a" * 500]


def turn(user: str, assistant: str) -> list[Message]:
    return [Message("user", user, created_at=WHEN), Message("assistant", assistant)]


def places(hits: ChatHits) -> list[tuple[str, int]]:
    return [(hit.thread, hit.seq) for hit in hits.hits]


class ChatSearchContract:
    def make_store(self) -> TableStore:
        """Return an empty store."""
        raise NotImplementedError

    def make_index(self, threads: UserThreads) -> ChatIndex:
        raise NotImplementedError

    def index_of_chats(self, chats: dict[str, tuple[str, str]] = CHATS) -> tuple[TableStore, ChatIndex]:
        store = self.make_store()
        for thread, texts in chats.items():
            store.append_messages("acme", thread, turn(*texts))
        return store, self.make_index(UserThreads(store, "acme"))

    @from_file("query", "thread", "matched")
    def test_a_turn_is_found_by_its_words_and_says_by_which(
        self, query: str, thread: str, matched: tuple[str, ...]
    ) -> None:
        _, index = self.index_of_chats()
        (hit,) = index.search(query, limit=1).hits
        assert (hit.thread, hit.seq, hit.date) == (thread, 0, "2025-03-08")
        assert set(matched) <= {*hit.matched}
        assert (hit.user, hit.assistant) == CHATS[thread]

    def test_what_is_new_is_found_and_a_turn_that_grows_is_one_turn(self) -> None:
        store, index = self.index_of_chats()
        assert not index.search("kafka retention").hits
        store.append_messages("acme", "english", [Message("user", "And the kafka retention?")])
        assert places(index.search("kafka")) == [("english", 2)]
        store.append_messages("acme", "english", [Message("assistant", "Seven days; zookeeper has its own.")])
        assert places(index.search("kafka zookeeper")) == [("english", 2)]
        (hit,) = index.search("zookeeper").hits
        assert (hit.seq, hit.user) == (2, "And the kafka retention?")
        store.append_messages("acme", "later", turn("kafka?", "9092"))
        assert sorted(places(index.search("kafka"))) == [("english", 2), ("later", 0)]

    def test_what_is_forgotten_is_found_no_more_and_its_name_can_be_used_again(self) -> None:
        store, index = self.index_of_chats()
        assert places(index.search("redis")) == [("english", 0)]
        store.forget("acme", thread="english")
        assert not index.search("redis port").hits
        assert places(index.search("nginx")) == [("mixed", 0)]
        store.begin_anew("acme", thread="english")
        store.append_messages("acme", "english", turn("redis again", "yes"))
        assert index.search("redis port").hits[0].user == "redis again"

    def test_threads_are_looked_at_only_after_somebody_has_written(self, monkeypatch: pytest.MonkeyPatch) -> None:
        store, index = self.index_of_chats()
        look, looks = index.threads.last_seqs, list[int]()
        monkeypatch.setattr(index.threads, "last_seqs", lambda: looks.append(1) or look())
        for _ in range(6):  # PostgreSQL counts what the index itself writes
            index.search("redis")
        assert 1 <= len(looks) < 6
        store.append_messages("acme", "later", turn("heron", "yes"))
        before = len(looks)
        assert places(index.search("heron")) == [("later", 0)]
        assert len(looks) == before + 1

    def test_turns_stand_in_the_order_of_their_bm25_scores(self) -> None:
        words = ["apple", "pear", "plum", "fig", "缓存", "端口"]
        texts = [
            " ".join(words[at] for at in range(6) for _ in range((number * (at + 3) + at) % 4)) for number in range(40)
        ]
        _, index = self.index_of_chats({f"t{number}": (text, "x" * number) for number, text in enumerate(texts)})
        query = "plum fig 端口"
        documents = {f"t{number}": count_terms(f"{text}\n{'x' * number}") for number, text in enumerate(texts)}
        mean = sum(sum(terms.values()) for terms in documents.values()) / len(documents)

        def score(thread: str) -> float:
            terms, total = documents[thread], 0.0
            for term in ("plum", "fig", "端口"):
                holding = sum(term in other for other in documents.values())
                idf = max(math.log((len(documents) - holding + 0.5) / (holding + 0.5)), 1e-6)
                count, length = terms.get(term, 0), sum(terms.values())
                total += idf * count * (K1 + 1) / (count + K1 * (1 - B + B * length / mean))
            return total

        found = [score(hit.thread) for hit in index.search(query, limit=20).hits]
        assert found == pytest.approx(sorted(map(score, documents), reverse=True)[:20])
        assert found[0] > found[-1] > 0

    def test_of_too_many_turns_only_the_rarest_terms_are_ranked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        _, index = self.index_of_chats({f"t{number}": ("common", "rare" * (number == 3)) for number in range(9)})
        assert len(index.search("common rare", limit=20).hits) == 9
        monkeypatch.setattr(chat_search, "MAX_RANKED", 5)
        assert places(index.search("common rare", limit=20)) == [("t3", 0)]
        assert len(index.search("common", limit=20).hits) == 9

    def test_tenants_never_see_each_other(self) -> None:
        store = self.make_store()
        own = [f"{letter}heron" for letter in "abcdefghijk"]
        for word, tenant in zip(own, TENANTS, strict=True):
            store.append_messages(tenant, "t", turn(f"the port of {word}", "shared"))
        indexes = [self.make_index(UserThreads(store, tenant)) for tenant in TENANTS]
        for word, index in zip(own, indexes, strict=True):
            for query in ("port shared", *own):
                found = [hit.user for hit in index.search(query, limit=20).hits]
                assert found == ([f"the port of {word}"] if query in ("port shared", word) else [])
            assert index.read("t")[0].text == f"the port of {word}"
        store.forget("acme")
        assert not indexes[0].search("port").hits
        assert len(indexes[1].search("port").hits) == 1

    def test_users_of_a_tenant_see_their_own_threads_only(self) -> None:
        store, everything = self.index_of_chats()
        assign_thread(store, "acme", "english", "ann")
        assign_thread(store, "acme", "chinese", "bob\0")
        ann, bob, nobody = (self.make_index(UserThreads(store, "acme", user)) for user in ("ann", "bob\0", "bob"))
        assert places(ann.search("redis nginx 发酵")) == [("english", 0)]
        assert places(bob.search("redis nginx 发酵")) == [("chinese", 0)]
        assert not nobody.search("redis nginx 发酵").hits
        assert len(everything.search("redis nginx 发酵").hits) == 3
        assert (ann.threads.last_seqs(), nobody.threads.last_seqs()) == ({"english": 1}, {})
        assert (len(ann.read("english")), ann.read("chinese"), ann.read("mixed")) == (2, (), ())
        assign_thread(store, "acme", "english", "bob")
        assert not ann.search("redis").hits
        assert places(nobody.search("redis")) == [("english", 0)]

    def test_a_query_is_words_and_no_syntax(self) -> None:
        _, index = self.index_of_chats()
        for query in HOSTILE:
            assert {hit.thread for hit in index.search(f"{query} redis {query}").hits} >= {"english"}
            assert {hit.thread for hit in index.search(query).hits} <= {"english"}

    def test_any_text_can_be_stored_and_looked_for(self) -> None:
        store = self.make_store()
        index = self.make_index(UserThreads(store, "acme"))

        @given(st.lists(any_message, max_size=5), st.text(st.characters(codec=None, categories=None), min_size=1))
        def check(messages: list[Message], query: str) -> None:
            store.append_messages("acme", "any", messages)
            text = next((message.text for message in messages if message.role == "user"), "")
            for words in filter(str.strip, (query, text)):
                hits = index.search(words, limit=20).hits
                assert bool(hits) or words == query or not count_terms(text)

        check()

    def test_long_turns_and_many_messages_are_indexed_over_several_searches(self) -> None:
        store = self.make_store()
        call = [Message("assistant", "step"), Message("tool", "result", tool_call_id="c")]
        store.append_messages("acme", "long", [Message("user", "begin"), *call * 1_200, Message("user", "heron")])
        store.append_messages("acme", "short", turn("heron?", "yes"))
        index = self.make_index(UserThreads(store, "acme"))
        assert index.update(max_messages=1_000) == 2
        assert index.update(max_messages=0) == 2
        assert index.search("heron").pending == 0
        assert sorted(places(index.search("heron"))) == [("long", 2_401), ("short", 0)]
        assert places(index.search("begin")) == [("long", 0)]

    def test_wrong_arguments_say_what_to_do(self) -> None:
        _, index = self.index_of_chats()
        with pytest.raises(ConfigError, match="query must not be blank: use words"):
            index.search(" \n")
        for limit in (0, 21):
            with pytest.raises(ConfigError, match="limit"):
                index.search("redis", limit=limit)
        with pytest.raises(ConfigError, match="tenant must not be empty"):
            UserThreads(index.threads.store, "")
        for wrong in ("", None):
            with pytest.raises((ConfigError, TypeError), match="user must"):
                assign_thread(index.threads.store, "acme", "t", wrong)  # type: ignore[arg-type]
