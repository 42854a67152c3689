"""LoCoMo's questions answered with the whole history and with the selection, by a model of yours, and judged by it.

Run ``make eval-locomo``, or ``python -m benchmarks.eval_locomo --data DIR --base-url URL --model NAME``, where
``DIR/selection/locomo_dev.jsonl`` holds the conversations and the environment variable ``EVAL_KEY`` the key. A question
comes after its whole conversation, 15,000 tokens or so, which is why it takes ``--yes`` or ``--max-dollars`` to begin,
as ``gatekeeper eval`` does; ``--dry-run`` says what it would cost. Without a model it ends with status 2.

* **better**, **equal**, **worse**: the answer with the selection against the one with everything, by the rubric of
  ``gatekeeper_eval``, in both orders.
* **F1**: the words that an answer shares with the answer of the data set, on average (Maharana et al. 2024, "Evaluating
  Very Long-Term Conversational Memory of LLM Agents", 4.1, without their stemming).
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
from collections import Counter
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.data import read_locomo
from benchmarks.report import SEED, Row, options, print_table, report
from gatekeeper_chat import ChatClient, ChatConfig
from gatekeeper_core.errors import GatekeeperError
from gatekeeper_core.messages import Message
from gatekeeper_core.pricing.prices import PRICES, read_prices
from gatekeeper_eval import Asker, EvalConfig, HttpModel, Ledger, SampledTurn, TurnId, evaluate, plan, prompts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.data import Conversation
    from gatekeeper_eval import Verdicts

_FILE = Path("selection", "locomo_dev.jsonl")
_WORD = re.compile(r"\w+")
_ARTICLES = frozenset({"a", "an", "the", "and"})


def turns_of(conversations: Sequence[Conversation], *, count: int) -> tuple[list[SampledTurn], dict[TurnId, str]]:
    """Return so many questions, drawn with a fixed seed, and the answers of the data set."""
    places = [(at, number) for at, talk in enumerate(conversations) for number in range(len(talk.questions))]
    turns, answers = [], {}
    for at, number in sorted(random.Random(SEED).sample(places, min(count, len(places)))):
        talk, question = conversations[at], conversations[at].questions[number]
        place = TurnId(talk.name, 1, number)
        past = list[Message]()
        for block in talk.blocks:
            past += [Message("user", block.user, created_at=block.written)]
            past += [Message("assistant", block.assistant, created_at=block.written)]
        answers[place] = question.answer
        turns.append(SampledTurn(place, (*past, Message("user", question.text)), len(past), question.text, "", ""))
    return turns, answers


def f1(answer: str, expected: str) -> float:
    """Return the harmonic mean of precision and recall of words, articles left out.

    >>> round(f1("It was in May 2023.", "May 2023"), 2)
    0.57
    """
    first, second = (Counter(_WORD.findall(text.casefold())) for text in (answer, expected))
    for article in _ARTICLES:
        del first[article], second[article]
    shared = (first & second).total()
    return 2 * shared / (first.total() + second.total()) if shared else 0.0


def rows_of(verdicts: Verdicts, answers: dict[TurnId, str]) -> list[Row]:
    """Return a row for each side: its F1, tokens and dollars."""
    rows: list[Row] = []
    answered = [each for each in verdicts.judged if all(each.answers)]
    for at, side in enumerate(("whole", "selected")):
        cost = verdicts.costs[side]
        mean = fsum(f1(each.answers[at], answers[each.turn.id]) for each in answered) / max(1, len(answered))
        spent = {"tokens read": cost.input_tokens, "tokens written": cost.output_tokens, "dollars": cost.dollars}
        rows.append({"prompt": side, "questions": len(answered), "F1": mean, **spent})
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__)
    for name, meaning in (("--data", "folder of the data"), ("--base-url", "address"), ("--model", "its name")):
        parser.add_argument(name, default="", help=meaning)
    parser.add_argument("--key-env", default="EVAL_KEY", help="the environment variable that holds the key")
    parser.add_argument("--questions", type=int, default=50, help="how many, of all conversations")
    parser.add_argument("--budget", type=int, default=4_000, help="tokens of the prompt with the selection")
    parser.add_argument("--prices", help="a price list of your own")
    parser.add_argument("--ledger", default="eval-locomo.jsonl", help="where answers are kept")
    parser.add_argument("--jobs", type=int, default=4, help="questions at once")
    parser.add_argument("--dry-run", action="store_true", help="say what it would cost, and send nothing")
    parser.add_argument("--yes", action="store_true", help="send the requests")
    parser.add_argument("--max-dollars", type=float, help="send requests up to this")
    chosen = parser.parse_args(arguments)
    if missing := _missing(chosen):
        print(f"LoCoMo was not run. It needs {'; '.join(missing)}", file=sys.stderr)
        return 2
    prices = read_prices(chosen.prices) if chosen.prices else PRICES
    turns, answers = turns_of(read_locomo(Path(chosen.data, _FILE)), count=chosen.questions)
    config = EvalConfig(model=chosen.model, rubric="en")
    prompts = tuple(prompts_of(turns, token_budget=chosen.budget))
    ledger = Ledger(chosen.ledger)
    planned = plan(prompts, config, ledger, prices=prices)
    print_table("at most", [planned._asdict()])
    if chosen.dry_run:
        return 0
    if not chosen.yes and (chosen.max_dollars is None or planned.dollars is None):
        print("nothing was sent: say --yes, or --max-dollars where the price is known", file=sys.stderr)
        return 2
    with ChatClient(os.environ[chosen.key_env], config=ChatConfig(base_url=chosen.base_url)) as client:
        asker = Asker(HttpModel(client), ledger, prices=prices, max_dollars=chosen.max_dollars)
        verdicts = evaluate(prompts, config, asker, jobs=chosen.jobs, prices=prices)
    shares = [{"outcome": name, **verdicts.share(name).to_dict()} for name in ("better", "equal", "worse")]
    report(chosen, "eval_locomo", {"the selection against everything": shares, "answers": rows_of(verdicts, answers)})
    return int(verdicts.stopped)


def _missing(chosen: argparse.Namespace) -> list[str]:
    """Return what has to be given before anything can be asked."""
    missing = []
    if not Path(chosen.data, _FILE).is_file():
        missing.append(f"the data: GATEKEEPER_DATA (--data), a folder with {_FILE.as_posix()}")
    if not (chosen.base_url and chosen.model):
        missing.append(
            "a model: EVAL_BASE_URL (--base-url), such as https://api.openai.com/v1, and EVAL_MODEL (--model)"
        )
    if not chosen.dry_run and not os.environ.get(chosen.key_env, "").strip():
        missing.append(f"a key in the environment variable {chosen.key_env}; any text for a server that takes none")
    return missing


if __name__ == "__main__":
    try:
        sys.exit(main())
    except GatekeeperError as error:
        sys.exit(f"eval-locomo: {error}")
