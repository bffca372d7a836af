"""The steps of an offline task, without state between requests.

A task is a generator of moves: the thinking, text and tool calls of one model answer. It is sent the outcomes of those
calls and goes on, so tasks read as straight lines. A model request replays the task from the start against the answers
that are already in the conversation, and answers with the first new move.
"""

import json
from collections.abc import Generator, Sequence
from itertools import takewhile
from typing import TypeAlias

from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import Message
from claw_acp.core.value import Value


class Call(Value):
    """A tool to call."""

    tool: str
    arguments: JsonObject

    @property
    def arguments_text(self) -> str:
        """The arguments as JSON text."""
        return json.dumps(self.arguments, ensure_ascii=False)


class Move(Value):
    """One answer of the assistant; an answer without calls is the last."""

    thought: str = ""
    text: str = ""
    calls: tuple[Call, ...] = ()


class Outcome(Value):
    """The result of a call."""

    text: str
    failed: bool = False


Outcomes: TypeAlias = Sequence[Outcome]
"""One outcome for each call of the move, in order."""

Task: TypeAlias = Generator[Move, Outcomes, None]


def next_move(task: Task, *, conversation: Sequence[Message], offered: frozenset[str]) -> Move:
    """Replay `task` over the conversation since the last user message; returns the next move."""
    turn = _since_last_user_message(conversation)
    results = {message.tool_call_id: message for message in turn if message.role == "tool"}
    answers = [message for message in turn if message.role == "assistant"]
    move = next(task)
    for answer in answers:
        try:
            move = task.send(_outcomes(move, answer=answer, results=results))
        except StopIteration:
            return Move(text="I have nothing more to do here.")
    return _possible(move, offered=offered)


def _since_last_user_message(conversation: Sequence[Message]) -> list[Message]:
    turn = list(takewhile(lambda message: message.role != "user", reversed(conversation)))
    return turn[::-1]


def _outcomes(move: Move, *, answer: Message, results: dict[str | None, Message]) -> list[Outcome]:
    """Pair the calls of `move` with the recorded ones of the same tool, in order."""
    left = list(answer.tool_calls)
    outcomes: list[Outcome] = []
    for call in move.calls:
        made = next((one for one in left if one.name == call.tool), None)
        if made is None:
            outcomes.append(Outcome(text="The call was not made.", failed=True))
            continue
        left.remove(made)
        result = results.get(made.id)
        if result is None:
            outcomes.append(Outcome(text="The call was interrupted.", failed=True))
        else:
            outcomes.append(Outcome(text=result.text, failed=result.failed))
    return outcomes


def _possible(move: Move, *, offered: frozenset[str]) -> Move:
    """The move itself, or an apology if the session lacks a tool for it."""
    missing = sorted({call.tool for call in move.calls if call.tool not in offered})
    if not missing:
        return move
    names = ", ".join(f"`{name}`" for name in missing)
    return Move(text=f"{move.text}I cannot go on: this session does not offer {names}; its mode may forbid it.\n")
