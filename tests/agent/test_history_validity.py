"""After any tier, on any history, every wire family gets a conversation that its vendor takes."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.agent.compaction.put_back import put_back
from claw_acp.agent.compaction.summary import without_model
from claw_acp.agent.compaction.tiers import first_kept, oldest_third, results_to_shorten
from claw_acp.agent.context import Room
from claw_acp.agent.token_estimate import GrowingEstimate, estimate
from claw_acp.contracts.provider import ChatRequest
from claw_acp.contracts.provider_setup import NO_QUIRKS
from claw_acp.core.events import (
    CompactionChanged,
    Event,
    MessageStarted,
    StateChanged,
    TextDelta,
    ThoughtDelta,
    ToolCallChanged,
    ToolStatus,
    TurnRewound,
    UsageChanged,
)
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ImagePart, Message, TextPart, Usage
from claw_acp.core.value import replace
from claw_acp.providers.anthropic.request import messages_request
from claw_acp.providers.bedrock.request import converse_body
from claw_acp.providers.gemini.request import generate_content
from claw_acp.providers.ollama.request import UNKNOWN_MODEL, chat_body
from claw_acp.providers.openai.request import chat_completion
from claw_acp.providers.responses.request import responses_request
from claw_acp.session.history import History
from tests.support.foreign.models import check_valid
from tests.support.servers.model_replies import ReceivedRequest

Json = dict[str, Any]
Names = tuple[Sequence[str], Sequence[str]]
"""The ids of the calls that a message makes, and of those that it answers."""


class Asked(NamedTuple):
    """A model's answer in a random turn: its text, whether it thinks, and the sizes and ends of its calls."""

    text: str
    thinks: bool
    calls: Sequence[tuple[int, ToolStatus | None]]


class Prompt(NamedTuple):
    """A random turn; one without an end was cut off by a crash."""

    text: str
    answers: Sequence[Asked]
    ends: bool


class Tier(NamedTuple):
    """A random run of a tier, with the tokens that it keeps."""

    kind: str
    keep: int


ENDS: st.SearchStrategy[ToolStatus | None] = st.sampled_from(["completed", "failed", "cancelled", "in_progress", None])
ANSWERS = st.builds(
    Asked,
    st.sampled_from(["", " ", "done"]),
    st.booleans(),
    st.lists(st.tuples(st.sampled_from([0, 10, 4_000]), ENDS), max_size=3),
)
PROMPTS = st.builds(Prompt, st.sampled_from(["", "look", "word " * 400]), st.lists(ANSWERS, max_size=4), st.booleans())
TIERS = st.builds(
    Tier, st.sampled_from(["shorten", "force", "summary", "leave out", "third", "undo"]), st.integers(0, 4_000)
)
STEPS = st.lists(PROMPTS | TIERS, min_size=1, max_size=14)


def told(steps: Sequence[Prompt | Tier], *, after: Callable[[History], None] = lambda _: None) -> History:
    """The history of these steps; `after` sees it after each event."""
    history, seq = History(), 0
    for number, step in enumerate(steps):
        events = _tier(history, step, number) if isinstance(step, Tier) else _turn(step, number)
        for event in events:
            seq += 1
            history.apply(replace(event, seq=seq))
            after(history)
    return history


def _turn(turn: Prompt, number: int) -> Iterator[Event]:
    yield StateChanged(item=f"t{number}", state="running")
    yield MessageStarted(item=f"u{number}", role="user", parts=(TextPart(text=turn.text),))
    for place, answer in enumerate(turn.answers):
        message = f"a{number}.{place}"
        yield MessageStarted(item=message, role="assistant")
        if answer.thinks:
            yield ThoughtDelta(item=message, text="hm", signature="s")
        yield TextDelta(item=message, text=answer.text)
        yield UsageChanged(item=message, used=10, size=0, request=Usage())
        for at, (size, end) in enumerate(answer.calls):
            call = f"c{at}"  # the same ids in every answer
            yield ToolCallChanged(item=call, message=message, name="read", status="pending", arguments="{}")
            output = (TextPart(text="x" * size), ImagePart(data="aGk=", mime_type="image/png"))
            yield ToolCallChanged(item=call, status=end, output=output[: 1 + (size == 10)])
    if turn.ends:
        yield StateChanged(item=f"t{number}", state="idle", stop="end_turn")


def _tier(history: History, tier: Tier, number: int) -> Iterator[Event]:
    items, room, running = history.items(), Room(size=4_000), history.turns.running
    done = CompactionChanged(item=f"k{number}", status="completed")
    if tier.kind == "undo":
        if spans := history.turns.spans:
            yield TurnRewound(item=spans[tier.keep % len(spans)].id)
    elif tier.kind in {"shorten", "force"}:
        calls = results_to_shorten(items, room=room, running=running, forced=tier.kind == "force")
        yield replace(done, shortened=tuple(calls))
    elif items:
        kept = first_kept(items, room=room, keep=tier.keep)
        kept = oldest_third(items, room=room) if tier.kind == "third" else kept
        text = without_model(history.summary, messages=kept)
        text += put_back(history, room=room, kept=0, current=bool(running))
        yield replace(done, summary=text, kept_from=items[kept].id if kept < len(items) else None)


# ------------------------------------------------------------------ families


def _bodies(messages: Sequence[Message]) -> Mapping[str, JsonObject]:
    request = ChatRequest(model="m", messages=[Message.system("Be brief."), *messages])
    return {
        "openai": chat_completion(request, quirks=NO_QUIRKS, provider="p"),
        "anthropic": messages_request(request, provider="p"),
        "bedrock": converse_body(request, provider="p"),
        "gemini": generate_content(request, provider="p"),
        "ollama": chat_body(request, model=UNKNOWN_MODEL, thinking=True, provider="p"),
        "responses": responses_request(request, provider="p"),
    }


def _sent(body: JsonObject, path: str) -> None:
    request = ReceivedRequest(method="POST", path=path, headers={}, body=json.dumps(body).encode(), connection=0)
    check_valid(request)


def _alternating(rows: Sequence[Json], names: Callable[[Json], Names]) -> None:
    roles = [row["role"] for row in rows]
    assert all(one != other for one, other in pairwise(roles)), roles
    assert roles[0] == "user"
    _answered(rows, names)


def _answered(rows: Sequence[Json], names: Callable[[Json], Names]) -> None:
    """All calls of a row are answered by the next one."""
    waiting: Sequence[str] = ()
    for row in rows:
        calls, results = names(row)
        assert sorted(results) == sorted(waiting)
        waiting = calls


def _blocks(row: Json) -> Names:
    blocks: list[Json] = row["content"]
    assert blocks
    calls = [block["toolUse"]["toolUseId"] for block in blocks if "toolUse" in block]
    return calls, [block["toolResult"]["toolUseId"] for block in blocks if "toolResult" in block]


def _parts(row: Json) -> Names:
    parts: list[Json] = row["parts"]
    assert parts
    calls = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
    return calls, [part["functionResponse"]["name"] for part in parts if "functionResponse" in part]


def _responses(items: Sequence[Json]) -> None:
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    results = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    assert len(set(calls)) == len(calls)
    assert sorted(calls) == sorted(results)


def check(history: History) -> None:
    """Fail if a family would send what its vendor refuses."""
    messages = history.messages()
    if not messages:
        return
    ids = [call.id for message in messages for call in message.tool_calls]
    assert len(set(ids)) == len(ids)
    assert all(message.parts or message.tool_calls for message in messages)
    bodies = cast("Mapping[str, Json]", _bodies([*messages, Message.user("go on")]))
    if messages[0].role == "user":
        _sent(bodies["openai"], "/v1/chat/completions")
    _sent(bodies["anthropic"], "/v1/messages")
    _alternating(bodies["bedrock"]["messages"], _blocks)
    _answered(bodies["gemini"]["contents"], _parts)  # which may have results and a prompt in a row
    _responses(bodies["responses"]["input"])
    roles = [row["role"] for row in bodies["ollama"]["messages"]]
    assert all(one in {"assistant", "tool"} for one, other in pairwise(roles) if other == "tool")


@settings(deadline=None, max_examples=150)
@given(STEPS)
def test_every_family_gets_a_valid_conversation_after_any_tier(steps: list[Prompt | Tier]) -> None:
    check(told(steps))


@settings(deadline=None, max_examples=60)
@given(STEPS)
def test_a_tier_never_makes_a_conversation_longer_than_what_it_adds(steps: list[Prompt | Tier]) -> None:
    room = Room(size=4_000)
    for number, step in enumerate(steps):
        if isinstance(step, Tier) and step.kind in {"shorten", "force"}:
            before, after = told(steps[:number]), told(steps[: number + 1])
            assert room.tokens(after.messages()) <= room.tokens(before.messages())
            assert [item.id for item in after.items()] == [item.id for item in before.items()]


@settings(deadline=None, max_examples=60)
@given(STEPS)
def test_an_estimate_that_grows_with_a_history_is_that_of_the_whole(steps: list[Prompt | Tier]) -> None:
    growing = GrowingEstimate()

    def compare(history: History) -> None:
        messages = history.messages()
        sums = growing.sums(messages)
        assert sums[-1] == estimate(messages)
        assert 0 <= history.counted < len(sums) == len(messages) + 1

    told(steps, after=compare)


@pytest.mark.parametrize("keep", [0, 1, 500, 10**9])
def test_the_last_item_stays_and_whole_turns_go_where_possible(keep: int) -> None:
    turns = [
        Prompt(
            "word " * 400,
            [Asked("", thinks=False, calls=[(4_000, "completed")]), Asked("done", thinks=False, calls=())],
            ends=True,
        )
    ] * 3
    items = told(turns).items()
    kept = first_kept(items, room=Room(size=4_000), keep=keep)
    assert kept == {0: len(items), 1: len(items) - 1, 500: len(items) - 1, 10**9: 0}[keep]
    assert first_kept(items, room=Room(size=4_000), keep=2_000) == 6, "a turn of three items stays, and no half one"
