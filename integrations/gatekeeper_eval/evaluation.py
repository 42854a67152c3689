"""An evaluation: its cost, its requests and its verdicts.

::

    prompts ──plan──> requests, tokens and dollars at most
    prompts ──evaluate──> two answers of each turn ──judged in both orders──> better | equal | worse
    ledger + digest + logs ──rebuild──> the bytes of a request
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from math import fsum
from threading import Event
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from gatekeeper_core.pricing.prices import PRICES, prices_of_model
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.selection.settings import GatekeeperConfig
from gatekeeper_eval.errors import LedgerError
from gatekeeper_eval.prompts import prompts_of
from gatekeeper_eval.requesting import EvalConfig, Side, SpendingLimitError, answer_request, judge_request, usage_of
from gatekeeper_eval.rubric import RUBRIC_VERSION, Preference, read_verdict
from gatekeeper_eval.sampling import read_turn
from gatekeeper_eval.statistics import Share, bootstrap_ratio, wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gatekeeper_core.encoder import TextEncoder
    from gatekeeper_core.pricing.prices import ModelPrices
    from gatekeeper_eval.ledger import Ledger
    from gatekeeper_eval.prompts import Prompts
    from gatekeeper_eval.requesting import Asker, Request
    from gatekeeper_eval.sampling import SampledTurn

Outcome = Literal["better", "equal", "worse", "same_prompt", "refused", "no_verdict"]
_SIDES: tuple[Side, ...] = get_args(Side)
_VERDICTS = ("better", "equal", "worse")
# The outcome for the selection, by whose answer comes first.
_WHOLE_FIRST: Mapping[Preference | None, Outcome] = {"first": "worse", "second": "better", "equal": "equal"}
_SELECTED_FIRST: Mapping[Preference | None, Outcome] = {"first": "better", "second": "worse", "equal": "equal"}


class Plan(NamedTuple):
    """An upper bound of what an evaluation sends; equal answers need no verdict.

    Attributes:
        turns: number of turns to compare.
        same_prompts: number of further turns for which the gatekeeper sends everything.
        requests: number of requests to send.
        in_ledger: number of answers already in the ledger.
        input_tokens: estimated input tokens.
        output_tokens: upper bound of output tokens.
        dollars: upper bound of the cost; None if the price of a model is unknown.
    """

    turns: int
    same_prompts: int
    requests: int
    in_ledger: int
    input_tokens: int
    output_tokens: int
    dollars: float | None


class Cost(NamedTuple):
    """Tokens of requests (reported by the model, or estimated) and dollars; None if a price is unknown."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int
    dollars: float | None

    @classmethod
    def of(cls, used: Iterable[Usage], prices: Mapping[str, ModelPrices]) -> Cost:
        """Return the totals of calls."""
        calls = tuple(used)
        rows = [prices_of_model(call.model, prices) for call in calls]
        dollars = fsum(row.dollars(call) for row, call in zip(rows, calls, strict=True) if row)
        read, written = sum(call.input_tokens for call in calls), sum(call.output_tokens for call in calls)
        return cls(read, written, sum(call.cached_tokens for call in calls), dollars if all(rows) else None)


class Judged(NamedTuple):
    """A turn with its two answers and the verdict.

    Attributes:
        turn: the turn.
        outcome: the selection's answer against the full history's: ``better``, ``equal`` or ``worse``; ``same_prompt``
            if everything is selected, ``refused`` if a request was, ``no_verdict`` if the judge gave none.
        disagreed: whether the verdict changed with the order of the answers, which counts as ``equal``.
        answers: answers with the full history and with the selection; "" for a missing one.
        opinions: texts of the judge, with the full history's answer first, then with the selection's first.
        reason: reason of a refusal, else "".
        used: usage of the two answers.
        judging: usage of the judge.
        digests: digests of the requests, by part.
    """

    turn: SampledTurn
    outcome: Outcome
    disagreed: bool = False
    answers: tuple[str, str] = ("", "")
    opinions: tuple[str, ...] = ()
    reason: str = ""
    used: tuple[Usage, ...] = ()
    judging: tuple[Usage, ...] = ()
    digests: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        values = self._asdict()
        values |= {"turn": list(self.turn.id), "question": self.turn.question}
        for name in ("answers", "opinions", "digests"):
            values[name] = list(values[name])
        for name in ("used", "judging"):
            values[name] = [call._asdict() for call in values[name]]
        return values


class Verdicts(NamedTuple):
    """All verdicts of an evaluation.

    Attributes:
        judged: the turns, worst outcome first.
        prices: prices for the costs.
        seed: seed of the bootstrap.
        stopped: whether the dollar limit ended the evaluation early.
    """

    judged: tuple[Judged, ...]
    prices: Mapping[str, ModelPrices] = PRICES
    seed: int = 0
    stopped: bool = False

    def count(self, outcome: Outcome) -> int:
        """Return the number of turns with an outcome."""
        return sum(each.outcome == outcome for each in self.judged)

    def share(self, *outcomes: Outcome) -> Share:
        """Return the share of outcomes among turns with a verdict (Wilson)."""
        return wilson(sum(map(self.count, outcomes)), sum(map(self.count, _VERDICTS)))  # type: ignore[arg-type]

    @property
    def difference(self) -> Share:
        """Better minus worse, among turns with a verdict (bootstrap over conversations)."""
        groups: dict[tuple[str, int], list[tuple[int, int]]] = {}
        for each in self._compared:
            won = (each.outcome == "better") - (each.outcome == "worse")
            groups.setdefault(each.turn.id[:2], []).append((won, 1))
        return bootstrap_ratio(tuple(groups.values()), seed=self.seed, lowest=-1.0)

    @property
    def disagreed(self) -> int:
        """Number of ties because the verdict changed with the order."""
        return sum(each.disagreed for each in self.judged)

    @property
    def costs(self) -> dict[str, Cost]:
        """Costs of ``whole`` and ``selected`` answers, both over turns with a verdict, and of all ``judging``."""
        calls: dict[str, list[Usage]] = {
            "whole": [each.used[0] for each in self._compared],
            "selected": [each.used[1] for each in self._compared],
            "judging": [call for each in self.judged for call in each.judging],
        }
        return {name: Cost.of(used, self.prices) for name, used in calls.items()}

    @property
    def _compared(self) -> list[Judged]:
        return [each for each in self.judged if each.outcome in _VERDICTS]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return {
            "rubric_version": RUBRIC_VERSION,
            "outcomes": {outcome: self.count(outcome) for outcome in get_args(Outcome)},
            "disagreed": self.disagreed,
            **{outcome: self.share(outcome).to_dict() for outcome in _VERDICTS},  # type: ignore[arg-type]
            "not_worse": self.share("better", "equal").to_dict(),
            "better_less_worse": self.difference.to_dict(),
            "costs": {name: cost._asdict() for name, cost in self.costs.items()},
            "stopped": self.stopped,
            "turns": [each.to_dict() for each in self.judged],
        }


def plan(
    prompts: Sequence[Prompts], config: EvalConfig, ledger: Ledger, *, prices: Mapping[str, ModelPrices] = PRICES
) -> Plan:
    """Return an upper bound of what an evaluation of these prompts sends, without sending anything."""
    compared = [each for each in prompts if not each.are_equal]
    missing: list[Usage] = []
    in_ledger = 0
    for each in compared:
        texts, unknown_tokens = [], 0
        for side in _SIDES:
            request = answer_request(each, side, config)
            entry = ledger.get(request.digest)
            unknown_tokens += 0 if entry else request.output_tokens
            missing += [] if entry else [request.most]
            in_ledger += entry is not None
            if entry and entry.reply is None:
                break  # refused
            texts.append(entry.reply.text if entry and entry.reply else "")
        if len(texts) < len(_SIDES) or (not unknown_tokens and texts[0] == texts[1]):
            continue
        for first in _SIDES:
            request = judge_request(each, *texts, first=first, config=config)
            most = request.most._replace(input_tokens=request.input_tokens + unknown_tokens)
            is_known = not unknown_tokens and ledger.get(request.digest) is not None
            missing += [] if is_known else [most]
            in_ledger += is_known
    cost, same = Cost.of(missing, prices), len(prompts) - len(compared)
    return Plan(len(compared), same, len(missing), in_ledger, cost.input_tokens, cost.output_tokens, cost.dollars)


def evaluate(
    prompts: Sequence[Prompts],
    config: EvalConfig,
    asker: Asker,
    *,
    jobs: int = 1,
    prices: Mapping[str, ModelPrices] = PRICES,
    seed: int = 0,
    progress: Callable[[Judged], object] | None = None,
) -> Verdicts:
    """Get two answers for each turn and have them judged in both orders.

    Args:
        prompts: the turns.
        config: the settings.
        asker: sends requests to the model and keeps the ledger.
        jobs: number of turns to process at once, >= 1.
        prices: prices for the costs.
        seed: seed of the bootstrap.
        progress: called after each turn, if given.

    Raises:
        GatekeeperError: the model cannot answer, or the ledger cannot be written; earlier answers are in it.
    """
    ended = Event()  # once set, turns that wait for a thread do not start

    def judge(each: Prompts) -> Judged | None:
        try:
            return None if ended.is_set() else _judge(each, config, asker)
        except BaseException:
            ended.set()
            raise

    judged: list[Judged] = []
    stopped = False
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        try:
            for done in as_completed([pool.submit(judge, each) for each in prompts]):
                try:
                    result = done.result()
                except SpendingLimitError:
                    stopped = True
                    continue
                if result:
                    judged.append(result)
                if result and progress:
                    progress(result)
        finally:
            ended.set()
    order = ("worse", "refused", "no_verdict", "equal", "better", "same_prompt")
    judged.sort(key=lambda each: (order.index(each.outcome), not each.disagreed, each.turn.id))
    return Verdicts(tuple(judged), prices, seed, stopped)


def _judge(prompts: Prompts, config: EvalConfig, asker: Asker) -> Judged:
    turn = prompts.turn
    if prompts.are_equal:
        return Judged(turn, "same_prompt")
    used: list[Usage] = []
    judging: list[Usage] = []
    digests: list[str] = []
    refusals: list[str] = []

    def ask(request: Request, calls: list[Usage]) -> str | None:
        entry = asker.ask(request)
        calls.append(usage_of(entry, request))
        digests.append(request.digest)
        if entry.reply is None:
            refusals.append(entry.refused)
            return None
        return entry.reply.text

    whole = ask(answer_request(prompts, "whole", config), used)
    selected = None if whole is None else ask(answer_request(prompts, "selected", config), used)
    if whole is None or selected is None:
        return Judged(turn, "refused", reason=refusals[0], used=tuple(used), digests=tuple(digests))
    answers = (whole, selected)
    if answers[0] == answers[1]:
        return Judged(turn, "equal", answers=answers, used=tuple(used), digests=tuple(digests))
    opinions = [ask(judge_request(prompts, *answers, first=first, config=config), judging) or "" for first in _SIDES]
    # Judges favour a position, so an answer wins only if it wins in both.
    # Source: Zheng et al. 2023, "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena", 3.4.
    whole_first, selected_first = map(read_verdict, opinions)
    one, other = _WHOLE_FIRST.get(whole_first, "no_verdict"), _SELECTED_FIRST.get(selected_first, "no_verdict")
    disagreed = one != other and "no_verdict" not in (one, other)
    outcome: Outcome = "refused" if refusals else "equal" if disagreed else one if one == other else "no_verdict"
    reason, calls = refusals[0] if refusals else "", (tuple(used), tuple(judging))
    return Judged(turn, outcome, disagreed, answers, tuple(opinions), reason, *calls, tuple(digests))


def rebuild(
    source: str, ledger: Ledger, digest: str, *, form: str | None = None, embedder: TextEncoder | None = None
) -> bytes:
    """Return the bytes of a request in the ledger, rebuilt from the logs.

    Args:
        source: the logs of the evaluation.
        ledger: the ledger.
        digest: digest of the request, or a prefix.
        form: format of the logs; detected by default.
        embedder: embedder of the evaluation, if any.

    Raises:
        LedgerError: the ledger has no or several such requests, or the logs, the embedder or the library have changed.
    """
    entries = [entry for entry in ledger if entry.digest.startswith(digest)]
    if len(entries) != 1:
        raise LedgerError(f"the ledger has {len(entries)} requests {digest!a:.70}: give more digits")
    entry = entries[0]
    settings = dict(entry.settings)
    if settings.pop("rubric_version", None) != RUBRIC_VERSION:
        raise LedgerError(f"request {entry.digest[:12]} was created with another version of the rubric")
    try:
        token_budget, name = settings.pop("token_budget"), settings.pop("embedder")
        selection, config = GatekeeperConfig(**settings.pop("gatekeeper")), EvalConfig(**settings)
    except (KeyError, TypeError) as error:
        raise LedgerError(f"request {entry.digest[:12]} was created with another version of the library") from error
    if name != (embedder.name if embedder else ""):
        raise LedgerError(f"request {entry.digest[:12]} was created with the embedder {name!r}: use the same one")
    turn = read_turn(source, entry.turn, form=form)
    if turn is None:
        raise LedgerError(f"{source} has no {entry.turn}: use the file or folder of the evaluation")
    (prompts,) = prompts_of([turn], token_budget=token_budget, config=selection, embedder=embedder)
    if entry.part in _SIDES:
        request = answer_request(prompts, entry.part, config)
    else:
        records = [ledger.get(answer_request(prompts, side, config).digest) for side in _SIDES]
        whole, selected = (each.reply.text if each and each.reply else "" for each in records)
        first: Side = "whole" if entry.part == "judge_whole_first" else "selected"
        request = judge_request(prompts, whole, selected, first=first, config=config)
    if request.digest != entry.digest:
        raise LedgerError(
            f"request {entry.digest[:12]} cannot be rebuilt: {entry.turn} or the library has changed since"
        )
    return request.body
