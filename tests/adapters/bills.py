"""Long conversations of agents in three scripts, and what a server that keeps prefixes bills for them.

A conversation is scripted: whatever the model is sent, it calls the same tools and says the same. So two runs of it make
the same calls, and their bills differ by their prompts alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_anthropic.middleware import AnthropicPromptCachingMiddleware
from langchain_core.messages import BaseMessage
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.pricing.usage import Usage
from tests.caching_server import CachingServer, Reported
from tests.case_files import rows
from tests.native_lists import ANTHROPIC, CHAT, Call, Native, NativeTurn, Round, script_of

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware


class Language(NamedTuple):
    """What is asked and said in a language; a sentence has a place for a subject, a detail and a number."""

    subjects: tuple[str, ...]
    details: tuple[str, ...]
    change: str
    question: str
    sentences: tuple[str, ...]
    system: str


LANGUAGES = {name: Language(*wordings) for name, *wordings in rows("bills", "languages")}


def talk_in(language: str, *, turns: int, seed: int = 1) -> list[NativeTurn]:
    """Return a conversation of turns of some 350 tokens: subjects last six turns and come back, every fourth turn calls."""
    words, chance = LANGUAGES[language], random.Random(f"{language} {seed}")

    def text(subject: str, sentences: int) -> str:
        forms = (chance.choice(words.sentences) for _ in range(sentences))
        return " ".join(one.format(subject, chance.choice(words.details), chance.randint(10, 9999)) for one in forms)

    talk = []
    for at in range(turns):
        subject = words.subjects[at // 6 % len(words.subjects)]
        question = words.question.format(subject, chance.choice(words.details), chance.randint(10, 9999))
        calls = [
            Call(f"call_{at}_{part}", "look_up", {"n": 10 * at + part}, text(subject, 8))
            for part in range(2 if at % 4 == 3 else 0)
        ]
        rounds = (Round("", "", tuple(calls)),) if calls else ()
        opening = words.change if at % 6 == 0 and at else ""
        talk.append(NativeTurn(f"{at}: {opening}{question}", rounds, Round("", f"{at}: {text(subject, 16)}")))
    return talk


class Model(NamedTuple):
    """A model behind a server.

    Attributes:
        native: the format of its client.
        name: by which its prices are found.
        make: returns its client for the address of the server.
        caching: what an application puts beside it to have prompts cached.
    """

    native: Native
    name: str
    make: Callable[[str], Any]
    caching: Callable[[], list[AgentMiddleware[Any, Any, Any]]]


CLAUDE, GPT = "claude-sonnet-4-6", "gpt-5"


def claude(url: str, **more: Any) -> ChatAnthropic:
    return ChatAnthropic(model=CLAUDE, base_url=url, api_key="secret", max_retries=0, max_tokens=2_048, **more)


def gpt(url: str) -> ChatOpenAI:
    return ChatOpenAI(model=GPT, base_url=f"{url}/v1", api_key="secret", max_retries=0)


MODELS = {
    "ChatAnthropic": Model(ANTHROPIC, CLAUDE, claude, lambda: [AnthropicPromptCachingMiddleware()]),
    "ChatOpenAI": Model(CHAT, GPT, gpt, list),
}


class Agents:
    """Agents on one conversation with one store of checkpoints, each with its own middleware.

    Args:
        server: who answers.
        model: which model they use.
        language: what they are told about themselves in.
        talk: what is asked, and what the model and its tools say.
        system_parts: the length of the system message, in units of some 25 tokens.
    """

    def __init__(
        self, server: CachingServer, model: Model, language: str, talk: Sequence[NativeTurn], *, system_parts: int = 12
    ) -> None:
        server.begin(model.native, [], script_of(talk))
        self._client = model.make(server.url)
        self._system = LANGUAGES[language].system * system_parts
        self._checkpoints = InMemorySaver()
        look_up = tool_of(talk)
        self._tools = [StructuredTool.from_function(look_up, name="look_up", description="Look up a number.")]

    @property
    def messages(self) -> list[BaseMessage]:
        """What the checkpoints hold of the conversation."""
        saved = self._checkpoints.get({"configurable": {"thread_id": "1"}})
        return saved["channel_values"]["messages"] if saved else []

    def open(self, *middleware: AgentMiddleware[Any, Any, Any]) -> Callable[[NativeTurn], None]:
        """Return what asks one question of the conversation through an agent with some middleware."""
        agent: Any = create_agent(
            self._client,
            self._tools,
            middleware=middleware,
            system_prompt=self._system,
            checkpointer=self._checkpoints,
        )

        def ask(turn: NativeTurn) -> None:
            agent.invoke({"messages": [("user", turn.question)]}, {"configurable": {"thread_id": "1"}})

        return ask


def tool_of(talk: Sequence[NativeTurn]) -> Callable[[int], str]:
    """Return the tool of a conversation."""
    calls = (call for turn in talk for one in turn.rounds for call in one.calls)
    results = {call.arguments["n"]: call.result for call in calls}

    def look_up(n: int) -> str:
        """Look up a number."""
        return results[n]

    return look_up


def dollars(reported: Iterable[Reported], prices: ModelPrices) -> list[float]:
    """Return the running total of a bill after each call: of what is read, as no prompt changes what is said."""
    usages = (Usage(one.input_tokens, 0, one.cached_tokens, one.written_tokens) for one in reported)
    return list(accumulate(map(prices.dollars, usages)))
