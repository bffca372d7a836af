"""Shared by the offline assistant's tasks: its text, its plan, and its tool calls."""

import re
from collections.abc import Generator, Sequence
from typing import TypeAlias

from claw_acp.core.events import PlanStatus
from claw_acp.core.json_value import JsonValue
from claw_acp.core.value import Value
from claw_acp.providers.offline.task_steps import Call, Move, Outcome, Outcomes

STOPPED = -1  # the exit code of a command that was killed
SHOWN_LINES = 40  # lines of a result repeated in an answer; the rest is in the tool call
TITLE_LIMIT = 60  # characters
_REFUSED = re.compile(r"\b(?:reject|refus|declin|den(?:y|ied)|nobody allowed|not allowed)", re.IGNORECASE)
_ENDING = re.compile(r"\[(?:exit code (?P<code>\d+)|killed by|timed out)[^\[\]]*\]\s*$")  # how the shell tool closes

Asking: TypeAlias = Generator[Move, Outcomes, Outcome]
Doing: TypeAlias = Generator[Move, Outcomes, bool]
"""Carries out a wish; returns whether it succeeded."""


class Wish(Value):
    """A request to the assistant; as text it is one step of a plan."""

    def steps(self) -> Sequence[str]:
        """The steps of a plan for it."""
        return (str(self),)

    def perform(self, worker: "Worker") -> Doing:
        """Carry it out. A success counts as all its steps."""
        raise NotImplementedError


def shortened(text: str) -> str:
    """The first line, cut to the length of a title."""
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= TITLE_LIMIT else f"{line[: TITLE_LIMIT - 1]}…"


def without_ending(output: str) -> str:
    """The output of a command without the shell tool's line about its end."""
    return _ENDING.sub("", output).rstrip()


class Worker:
    """Collects text until the next call, and publishes the plan along with the calls."""

    def __init__(self, steps: Sequence[str], *, plans: bool) -> None:
        self._steps = list(steps)
        self._plans = plans and len(steps) > 1
        self.steps_done = 0
        self._published: int | None = None
        self._voice: list[str] = []
        self._thoughts: list[str] = []
        self.last_command: str | None = None
        self.last_code: int | None = None

    # ------------------------------------------------------------------ speaking

    def say(self, text: str) -> None:
        """Add a paragraph to the next answer."""
        self._voice.append(f"{text.strip()}\n\n")

    def think(self, text: str) -> None:
        """Add to the thinking before the next answer."""
        self._thoughts.append(text)

    def show(self, text: str, *, language: str = "") -> None:
        """Add a fenced block, cut to a readable length."""
        lines = text.strip("\n").split("\n")
        if len(lines) > SHOWN_LINES:
            lines = [*lines[:SHOWN_LINES], f"… {len(lines) - SHOWN_LINES} more lines"]
        longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
        fence = "`" * max(3, longest + 1)
        self.say("\n".join([f"{fence}{language}", *lines, fence]))

    def complain(self, what: str, *, outcome: Outcome) -> None:
        """Report that `what` failed, and whether a person refused it or an error prevented it."""
        reason = outcome.text.strip().split("\n", 1)[0]
        if _REFUSED.search(reason):
            self.say(f"You did not allow me to {what}, so I left it.")
        else:
            self.say(f"I could not {what}: {reason or 'no reason was given'}")

    # ------------------------------------------------------------------ acting

    def call(self, tool: str, **arguments: JsonValue) -> Asking:
        """Call a tool and wait for its outcome."""
        plan = self._news_of_plan()
        outcomes = yield self._flush(calls=(*plan, Call(tool=tool, arguments=arguments)))
        return outcomes[-1]

    def result(self, what: str, tool: str, **arguments: JsonValue) -> Generator[Move, Outcomes, str | None]:
        """Call a tool to do `what`; its result, or None after a complaint that it failed."""
        outcome = yield from self.call(tool, **arguments)
        if outcome.failed:
            self.complain(what, outcome=outcome)
            return None
        return outcome.text

    def shell(self, command: str) -> Asking:
        """Run a command; `last_code` is its exit code, None if it did not run to its end."""
        outcome = yield from self.call("shell", command=command)
        ending = _ENDING.search(outcome.text)
        self.last_command = command
        if ending is None:
            self.last_code = None if outcome.failed else 0
        else:
            self.last_code = int(ending["code"] or STOPPED)
        return Outcome(text=outcome.text, failed=self.last_failed)

    @property
    def last_failed(self) -> bool:
        """True if the last command failed or could not run."""
        return self.last_command is not None and self.last_code != 0

    def finish(self) -> Generator[Move, Outcomes, None]:
        """Publish the state of the plan, then the remaining text, which ends the task."""
        if plan := self._news_of_plan():
            yield Move(calls=plan)
        yield self._flush()

    def _flush(self, *, calls: tuple[Call, ...] = ()) -> Move:
        move = Move(thought=" ".join(self._thoughts), text="".join(self._voice), calls=calls)
        self._thoughts, self._voice = [], []
        return move

    def _news_of_plan(self) -> tuple[Call, ...]:
        if not self._plans or self._published == self.steps_done:
            return ()
        self._published = self.steps_done
        entries = [{"content": step, "status": self._status(number)} for number, step in enumerate(self._steps)]
        return (Call(tool="plan", arguments={"entries": entries}),)

    def _status(self, number: int) -> PlanStatus:
        if number < self.steps_done:
            return "completed"
        return "in_progress" if number == self.steps_done else "pending"
