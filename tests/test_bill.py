"""What the model calls of a conversation cost in dollars, and what ``gatekeeper inspect`` says about it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_cli.conversation import CONVERSATION
from gatekeeper_cli.costs import CacheState, Dollars, PriceList, Reported, token_use
from gatekeeper_cli.texts import ENGLISH, Language, Texts
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.messages import Message
from gatekeeper_core.pricing.prices import PRICES, ModelPrices, prices_of_model
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.tokens import count_message, count_messages
from tests.case_files import from_file
from tests.command import run
from tests.conversations import turns_of
from tests.histories import selector_with
from tests.loops import assistant, calls, result, user

if TYPE_CHECKING:
    from pathlib import Path

SONNET = "claude-sonnet-4-5"
OWN = ModelPrices(input=2.0, output=8.0, cache_read=0.5, cache_write=2.0)
TALK = [message for turn in turns_of(list(CONVERSATION)) for message in turn.messages]
LONG = [
    user("Read it all. 全部读一遍。" * 300),
    *(message for at in range(5) for message in (calls(f"c{at}"), result(f"c{at}", f"row {at} 行 " * 300))),
    assistant("Done."),
]
each_talk = pytest.mark.parametrize("messages", [TALK, LONG], ids=["talk", "loop"])


def tariff(cache: CacheState = CacheState.warm, *, prices: ModelPrices | None = None) -> Any:
    rows = {**PRICES, "own": prices} if prices else PRICES
    return PriceList(rows, "own" if prices else SONNET, cache).tariff(())


def requests(messages: list[Message]) -> list[tuple[int, int]]:
    """Return the tokens of everything before each model call, and of its answer."""
    return [
        (count_messages(messages[:at]), count_message(message))
        for at, message in enumerate(messages)
        if message.role == "assistant"
    ]


# --- the account


@each_talk
def test_where_the_cache_is_cold_everything_is_written_at_each_call_and_without_one_nothing(
    messages: list[Message],
) -> None:
    prices = ModelPrices(input=1.0, output=4.0, cache_read=0.1, cache_write=1.25, min_cached_tokens=1)
    for cache, price in ((CacheState.cold, 1.25), (CacheState.none, 1.0)):
        use = token_use(messages, token_budget=4000, tariff=tariff(cache, prices=prices))
        for point, (tokens, answer) in zip(use.points, requests(messages), strict=True):
            assert point.dollars.full * 1e6 == pytest.approx(price * tokens + 4.0 * answer)
            assert point.dollars.window * 1e6 == pytest.approx(price * point.window + 4.0 * answer)
            assert point.dollars.selected * 1e6 == pytest.approx(price * point.selected + 4.0 * answer)


@each_talk
@pytest.mark.parametrize("cache", list(CacheState))
@pytest.mark.parametrize("model", [SONNET, "gpt-4o"])
def test_the_account_of_a_provider_equals_the_librarys_own(
    model: str, cache: CacheState, messages: list[Message]
) -> None:
    found = PriceList(model=model, cache=cache).tariff(())
    use = token_use(messages, token_budget=4000, tariff=found)
    selector = selector_with(HistoryConfig(token_budget=4000), clock=lambda: found.time_of(call))
    call, answers = 0, 0.0
    for at, message in enumerate(messages):
        if message.role == "assistant":
            view = selector.view(messages[:at], HistoryRequest(prices=found.prices), thread="t")
            answers += count_message(message) * found.prices.output / 1e6
            call += 1
    assert use.dollars.selected == pytest.approx(view.bill.paid + answers, rel=0.001)
    assert use.dollars.full == pytest.approx(view.bill.everything_paid + answers, rel=0.001)


def test_with_prices_every_call_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatekeeper_cli.costs.MAX_CALLS", 5)
    assert len(token_use(TALK, token_budget=500).points) == 5
    use = token_use(TALK, token_budget=500, tariff=tariff())
    assert len(use.points) == use.calls == 41
    assert use.dollars == Dollars.total(point.dollars for point in use.points)


# --- whose prices


def test_the_model_that_is_asked_for_wins_then_the_one_of_most_calls_then_the_only_row_of_ones_own() -> None:
    usage = [Usage(9, 1, model=name) for name in ("own-model", SONNET, "unheard-of", "own-model")]
    rows = {**PRICES, "own": OWN}

    def model(prices: PriceList, usage: list[Usage]) -> str | None:
        found = prices.tariff(usage)
        return found and found.model

    assert model(PriceList(model=SONNET), usage) == SONNET
    assert model(PriceList(rows), usage) == "own-model"
    assert model(PriceList(), usage) == SONNET
    assert model(PriceList(rows), []) == model(PriceList(rows), usage[2:3]) == "own"
    assert model(PriceList(), usage[2:3]) is model(PriceList(), []) is None
    assert model(PriceList({**rows, "other": OWN}), []) is None


def test_reported_calls_cost_what_their_own_model_costs() -> None:
    usage = [Usage(9_000, 10, 8_000, model=SONNET), Usage(500, 5, model="own-1"), Usage(70, 7, model="unheard-of")]
    prices = PriceList({**PRICES, "own": OWN}, "own").tariff(usage)
    sonnet = prices_of_model(SONNET)
    report = Reported.of(usage, prices)
    assert report.dollars == pytest.approx(sonnet.dollars(usage[0]) + OWN.dollars(usage[1]) + OWN.dollars(usage[2]))
    assert Reported.of(usage).dollars is None  # type: ignore[union-attr]
    total = Reported.total([report, None, Reported.of(usage)])
    assert (total.calls, total.input_tokens, total.dollars) == (6, 2 * 9_570, report.dollars)


# --- the command


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    file = tmp_path / "talk.json"
    file.write_text(json.dumps([message.to_dict() for message in TALK]), encoding="utf-8")
    return file


@pytest.mark.cli
@pytest.mark.parametrize("cache", list(CacheState))
def test_terminal_json_and_page_have_the_same_dollars(cache: CacheState, talk: Path) -> None:
    from gatekeeper_cli.explanation import shown_dollars

    dollars = token_use(TALK, token_budget=4000, tariff=tariff(cache)).dollars
    options = ("--model", SONNET, "--cache", cache.value, "--budget", "4000")
    value = json.loads(run("inspect", str(talk), *options, "--json").stdout)
    assert value["dollars"] == {**tariff(cache).to_dict(), **dollars._asdict()}
    assert sum(point["dollars"]["selected"] for point in value["token_use"]) == pytest.approx(dollars.selected)
    page = run("inspect", str(talk), *options, "--html", "-").stdout
    for lang in ("en", "zh"):
        shown = run("inspect", str(talk), *options, "--lang", lang).stdout
        assert all(shown_dollars(amount) in shown for amount in dollars[:3])
        says_cheaper = 'strategy="cache"' in shown and shown_dollars(dollars.cached) in shown
        assert says_cheaper == (dollars.cached < 0.9 * dollars.selected)
    for amount in (dollars.full, dollars.selected):
        assert shown_dollars(amount) in page
    assert page.count('<td class="num">$') == 3 * 41


@pytest.mark.cli
def test_prices_of_ones_own_win_over_ours(talk: Path, tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({"claude-sonnet": {"input": 300, "output": 1500, "cache_read": 30}}), encoding="utf-8")
    options = ("inspect", str(talk), "--cache", "none", "--json")
    ours = json.loads(run(*options, "--model", SONNET).stdout)["dollars"]
    own = json.loads(run(*options, "--model", SONNET, "--prices", str(file)).stdout)["dollars"]
    assert own["full"] == pytest.approx(100 * ours["full"])
    alone = json.loads(run(*options, "--prices", str(file)).stdout)["dollars"]
    assert (alone["model"], alone["full"]) == ("claude-sonnet", own["full"])


@pytest.mark.cli
@pytest.mark.parametrize("command", [("inspect",), ("inspect", "--all")], ids=" ".join)
def test_a_model_without_prices_is_refused_with_the_way_to_give_them(command: tuple[str, ...], talk: Path) -> None:
    for lang, words in (("en", "its prices are not known"), ("zh", "没有它的价格")):
        done = run(*command, str(talk), "--model", "unheard-of", "--lang", lang)
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert words in done.stderr
        assert "--prices FILE" in done.stderr
        example = done.stderr[done.stderr.index("{") : done.stderr.rindex("}") + 1]
        assert ModelPrices(**json.loads(example)["unheard-of"]).cache_read == 0.3


@pytest.mark.cli
@from_file("selected", "english", "chinese")
def test_where_it_does_not_pay_it_is_said(selected: float, english: str, chinese: str) -> None:
    from gatekeeper_cli.costs import bill_lines

    dollars = Dollars(2.0, 1.0, selected, 0.95 * selected)
    lines = [[line for line, _ in bill_lines([tariff()], dollars, texts)] for texts in (ENGLISH, Texts(Language.zh))]
    assert lines[0] == [f"dollars at the prices of {SONNET}, warm cache, answers included", english]
    assert chinese in lines[1][1]


@pytest.mark.cli
@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (ENGLISH, 'strategy="cache" costs $0.7500, 25.0 % less than the gatekeeper\'s default'),
        (Texts(Language.zh), 'strategy="cache" 花费 $0.7500，比 gatekeeper 的默认策略少 25.0%'),
    ],
)
def test_where_the_cache_saves_more_than_a_tenth_one_line_says_so(texts: Texts, words: str) -> None:
    from gatekeeper_cli.costs import bill_lines

    lines = [line for line, _ in bill_lines([tariff()], Dollars(2.0, 1.0, 1.0, 0.75), texts)]
    assert lines[-1] == words
    assert words not in [line for line, _ in bill_lines([tariff()], Dollars(2.0, 1.0, 1.0, 0.9), texts)]
