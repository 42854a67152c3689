"""Answers judged in both orders by a scripted model on loopback, resumed, refused, limited and made again."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_chat import (
    ChatAuthError,
    ChatClient,
    ChatConfig,
    ChatConnectionError,
    ChatError,
    ChatRateLimitError,
    ChatResponseError,
)
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.selection.settings import GatekeeperConfig
from gatekeeper_eval import (
    Asker,
    EvalConfig,
    FunctionModel,
    HttpModel,
    Ledger,
    LedgerError,
    evaluate,
    plan,
    prompts_of,
    rebuild,
    sample_turns,
)
from gatekeeper_eval.requesting import answer_request
from tests.chat.server import API_KEY, Answer, Cut, Failure, MiniMaxServer
from tests.eval.chats import ANSWERS, PORTS, RIGHT, VERDICTS, is_judging, reply, write_chats

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from gatekeeper_eval import Verdicts
    from gatekeeper_eval.prompts import Prompts

pytestmark = pytest.mark.chat

CONFIG = EvalConfig(model="scripted")
PRICES = {"scripted": ModelPrices(input=1.0, output=10.0, cache_read=0.1, cache_write=1.0)}


def prompts_in(folder: Path) -> tuple[Prompts, ...]:
    return tuple(prompts_of(sample_turns(str(folder)).turns, token_budget=4000))


@contextmanager
def http(server: MiniMaxServer, key: str = API_KEY) -> Iterator[HttpModel]:
    config = ChatConfig(base_url=server.base_url, max_attempts=3, read_timeout_seconds=5.0)
    with ChatClient(key, config=config, sleep=lambda _: None) as client:
        yield HttpModel(client)


def run(
    prompts: Sequence[Prompts], model: HttpModel | FunctionModel, ledger: Ledger, *, jobs: int = 4, **limits: float
) -> Verdicts:
    asker = Asker(model, ledger, prices=PRICES, **limits)
    return evaluate(prompts, CONFIG, asker, jobs=jobs, prices=PRICES)


@pytest.mark.parametrize("script", PORTS)
def test_known_answers_give_the_known_verdicts(tmp_path: Path, script: str) -> None:
    prompts = prompts_in(write_chats(tmp_path, *ANSWERS, script=script))
    with MiniMaxServer(reply) as server, http(server) as model:
        verdicts = run(prompts, model, Ledger())
    found = {each.turn.id.file: each for each in verdicts.judged}
    assert {f"{word.lower()}.json": outcome for word, outcome in VERDICTS.items()} == {
        file: each.outcome for file, each in found.items()
    }
    assert [file for file, each in found.items() if each.disagreed] == ["biased.json"]
    assert found["alike.json"].opinions == ()
    assert verdicts.judged[0].turn.id.file == "worse.json"
    assert (verdicts.share("better").hits, verdicts.share("better").total) == (1, 5)
    assert (verdicts.difference.hits, verdicts.difference.total) == (0, 5)
    # Two answers of each turn, and two opinions where they differ.
    assert len(server.requests) == 2 * 6 + 2 * 5


def test_the_judge_is_told_in_the_language_of_the_question_and_sees_both_orders(tmp_path: Path) -> None:
    for script, words in (("english", "You compare"), ("chinese", "请比较")):
        prompts = prompts_in(write_chats(tmp_path / script, "Worse", script=script))
        with MiniMaxServer(reply) as server, http(server) as model:
            run(prompts, model, Ledger(), jobs=1)
        judged = [sent.body["messages"] for sent in server.requests if is_judging(sent.body)]
        assert [messages[0]["content"].startswith(words) for messages in judged] == [True, True]
        places = [messages[1]["content"].partition("<answer-1")[2].find(RIGHT) for messages in judged]
        assert places[0] < places[1]


def test_the_plan_counts_what_will_be_sent_and_bounds_what_it_costs(tmp_path: Path) -> None:
    prompts = prompts_in(write_chats(tmp_path, *ANSWERS))
    ledger = Ledger()
    before = plan(prompts, CONFIG, ledger, prices=PRICES)
    assert (before.turns, before.requests, before.in_ledger) == (6, 24, 0)
    assert plan(prompts, CONFIG, ledger).dollars is None
    with MiniMaxServer(reply) as server, http(server) as model:
        asker = Asker(model, ledger, prices=PRICES)
        verdicts = evaluate(prompts, CONFIG, asker, prices=PRICES)
    after = plan(prompts, CONFIG, ledger, prices=PRICES)
    assert (after.requests, after.in_ledger, after.dollars) == (0, 22, 0.0)
    assert 0 < asker.dollars < before.dollars
    costs = verdicts.costs
    dollars = [cost.dollars or 0.0 for cost in costs.values()]
    assert sum(dollars) == pytest.approx(asker.dollars - unclear_dollars(verdicts))
    assert costs["selected"].input_tokens < costs["whole"].input_tokens / 3


def unclear_dollars(verdicts: Verdicts) -> float:
    return sum(
        PRICES["scripted"].dollars(used)
        for each in verdicts.judged
        if each.outcome == "no_verdict"
        for used in each.used
    )


def test_a_conversation_that_stands_in_two_files_is_asked_once(tmp_path: Path) -> None:
    folder = write_chats(tmp_path, "Better")
    (folder / "copy.json").write_bytes((folder / "better.json").read_bytes())
    with MiniMaxServer(reply) as server, http(server) as model:
        verdicts = run(prompts_in(folder), model, Ledger())
    assert verdicts.count("better") == 2
    assert len(server.requests) == 4


def test_every_prompt_is_made_again_byte_for_byte(tmp_path: Path) -> None:
    folder = write_chats(tmp_path / "chats", "Better", "Worse", script="mixed")
    ledger = Ledger()
    with MiniMaxServer(reply) as server, http(server) as model:
        config = GatekeeperConfig(strategy="fill")
        run([*prompts_of(sample_turns(str(folder)).turns, token_budget=600, config=config)], model, ledger)
    rebuilt = {rebuild(str(folder), ledger, entry.digest[:16]) for entry in ledger}
    assert rebuilt == {sent.raw for sent in server.requests}
    assert len(rebuilt) == 8
    entry = next(iter(ledger))
    changed = folder / entry.turn.file
    changed.write_text(changed.read_text(encoding="utf-8").replace("6380", "6381"), encoding="utf-8")
    with pytest.raises(LedgerError, match="changed since"):
        rebuild(str(folder), ledger, entry.digest)
    changed.unlink()
    with pytest.raises(LedgerError, match=r"has no .*turn 2: use the file or folder"):
        rebuild(str(folder), ledger, entry.digest)
    for settings in ({"token_budget": 4000, **CONFIG.to_dict()}, {**entry.settings, "answer_tokens": 9}):
        older = Ledger()
        older.add(entry._replace(settings=settings))
        with pytest.raises(LedgerError, match="another version of the library"):
            rebuild(str(folder), older, entry.digest)
    with pytest.raises(LedgerError, match="has 0 requests 'zz'"):
        rebuild(str(folder), ledger, "zz")


# --- what goes wrong


@pytest.mark.parametrize(
    ("behaviour", "kind", "requests"),
    [
        pytest.param(Failure(429, message="slow down"), ChatRateLimitError, 3, id="rate limit"),
        pytest.param(Failure(403), ChatAuthError, 1, id="key"),
        pytest.param(Failure(404, message="no such model"), ChatConnectionError, 1, id="no model"),
        pytest.param(Cut(), ChatResponseError, 1, id="cut"),
    ],
)
def test_what_concerns_every_request_ends_the_evaluation(
    tmp_path: Path, behaviour: Any, kind: type[ChatError], requests: int
) -> None:
    prompts = prompts_in(write_chats(tmp_path, *ANSWERS))
    with MiniMaxServer(reply) as server, http(server) as model:
        server.script(*[behaviour] * requests)
        with pytest.raises(kind):
            run(prompts, model, Ledger(), jobs=1)
        assert len(server.requests) == requests


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (Failure(400, message="context length exceeded"), "context length exceeded"),
        (Answer("", finish_reason="content_filter"), "content rules"),
        (Answer(""), "sent no text"),
        (Answer("<think>hm</think>"), "sent no text"),
    ],
    ids=["too-long", "filter", "empty", "thinking"],
)
def test_a_refused_request_is_counted_not_asked_again_and_stops_nothing(
    tmp_path: Path, behaviour: Any, words: str
) -> None:
    prompts = prompts_in(write_chats(tmp_path / "chats", "Better", "Alike"))
    path = str(tmp_path / "eval.jsonl")
    with MiniMaxServer(reply) as server, http(server) as model:
        server.script(behaviour)
        verdicts = run(prompts, model, Ledger(path), jobs=1)
        count = len(server.requests)
        again = run(prompts, model, Ledger(path), jobs=1)
        assert len(server.requests) == count == 5
    assert [each.outcome for each in again.judged] == ["refused", "better"]
    assert verdicts.to_dict() == again.to_dict()
    assert again.share("better").total == 1
    assert re.search(words, again.judged[0].reason)


def test_a_limit_of_dollars_ends_it_before_it_is_reached_and_a_higher_one_goes_on(tmp_path: Path) -> None:
    prompts = prompts_in(write_chats(tmp_path / "chats", *ANSWERS))
    path = str(tmp_path / "eval.jsonl")
    with MiniMaxServer(reply) as server, http(server) as model:
        asker = Asker(model, Ledger(path), prices=PRICES, max_dollars=0.02)
        some = evaluate(prompts, CONFIG, asker, jobs=2, prices=PRICES)
        assert some.stopped
        assert 0 < len(server.requests) < 22
        assert asker.dollars <= 0.02
        verdicts = run(prompts, model, Ledger(path), max_dollars=9.0)
        assert not verdicts.stopped
        assert len(server.requests) == 22
    assert len(verdicts.judged) == 6


def test_a_function_answers_with_a_text_or_in_openais_format(tmp_path: Path) -> None:
    prompts = prompts_in(write_chats(tmp_path, "Better"))

    def spoken(messages: list[dict[str, Any]]) -> Any:
        text = reply({"messages": messages})
        if not is_judging({"messages": messages}):
            return text
        return {"choices": [{"message": {"content": text}}], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}

    verdicts = run(prompts, FunctionModel(spoken), Ledger())
    assert verdicts.count("better") == 1
    assert verdicts.costs["judging"][:2] == (14, 4)


def test_a_function_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "own_model.py").write_text("answer = lambda messages: 'yes'\nnothing = 3\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert FunctionModel.named("own_model:answer").answer(b'{"messages": []}').text == "yes"
    for name, words in (
        ("own_model:gone", "no such function"),
        ("gone_model:f", "no such function"),
        ("own_model:nothing", "must be a function, got int"),
        (":f", "no such function"),
    ):
        with pytest.raises(ConfigError, match=words):
            FunctionModel.named(name)


def test_further_fields_go_into_every_request_and_none_leaves_one_out(tmp_path: Path) -> None:
    (prompts,) = prompts_in(write_chats(tmp_path, "Alike"))
    config = EvalConfig(model="m", body={"max_tokens": None, "max_completion_tokens": 9, "temperature": 1})
    request = answer_request(prompts, "selected", config)
    body = json.loads(request.body)
    assert request.most.output_tokens == 9
    unlimited = EvalConfig(model="m", body={"max_tokens": None})
    assert answer_request(prompts, "selected", unlimited).most.output_tokens == 1_024
    assert {name: value for name, value in body.items() if name != "messages"} == {
        "model": "m",
        "max_completion_tokens": 9,
        "temperature": 1,
    }
