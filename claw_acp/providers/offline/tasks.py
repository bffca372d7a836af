"""Carrying out a request to the offline assistant: wish by wish, up to the first failure.

After a failure the person decides how to go on: nothing is retried.
"""

from collections.abc import Sequence

from claw_acp.providers.offline.commands import Run
from claw_acp.providers.offline.task_steps import Move, Task
from claw_acp.providers.offline.worker import Doing, Wish, Worker

NOT_UNDERSTOOD = (
    "I am the offline assistant built into claw-acp: no language model is connected, so I work by fixed rules, and "
    "I did not understand that request."
)

ABILITIES = """\
What I can do with the files and programs of this project:

- `list files in src` · `find files named *.py` · `summarize this project`
- `read README.md` · `explain app.py` · `search for "some text"`
- `create notes.txt with "Hello"` · `append "a line" to notes.txt`
- `replace "old" with "new" in app.py`
- `run "make test"`, and after it `if it fails, …`
- `fix the failing test: run "python3 -m unittest"` (texts that are spelled other than the test says)
- `plan: first this, then that`

Several requests can be joined with “then”."""

HOW_TO_CONNECT = """\
To work with a language model, set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` in the environment your editor starts \
claw-acp with, or name a model in `config.toml` (`model = "provider/model"`), then start a new session. \
`claw-acp doctor` says what it finds."""


class Help(Wish):
    """Describe what the assistant can do."""

    def __str__(self) -> str:
        return "Say what I can do"

    def perform(self, worker: Worker) -> Doing:
        """See `Wish`."""
        worker.say(f"{ABILITIES}\n\n{HOW_TO_CONNECT}")
        yield from ()
        return True


class Remind(Wish):
    """Say what a job was planned to remind of."""

    text: str

    def __str__(self) -> str:
        return f"Remind of {self.text}"

    def perform(self, worker: Worker) -> Doing:
        """See `Wish`."""
        worker.say(f"Reminder: {self.text}")
        yield from ()
        return True


class MakePlan(Wish):
    """Publish a plan."""

    entries: tuple[str, ...]

    def __str__(self) -> str:
        return "Make the plan"

    def perform(self, worker: Worker) -> Doing:
        """See `Wish`."""
        rows = [{"content": entry, "status": "pending"} for entry in self.entries]
        if (yield from worker.result("make the plan", "plan", entries=rows)) is None:
            return False
        worker.say(f"I made a plan with {len(rows)} entr{'y' if len(rows) == 1 else 'ies'}.")
        return True


class Conditional(Wish):
    """A wish to carry out only if the last command failed."""

    wish: Wish

    def __str__(self) -> str:
        return f"{self.wish}, if that failed"

    def steps(self) -> Sequence[str]:
        """See `Wish`."""
        return self.wish.steps()

    def perform(self, worker: Worker) -> Doing:
        """See `Wish`."""
        if worker.last_failed:
            return (yield from self.wish.perform(worker))
        worker.say("It did not fail, so nothing is left to do about that.")
        return True


def task_for(wishes: Sequence[Wish], *, offered: frozenset[str]) -> Task:
    """The task for `wishes` with the tools on offer. Without wishes: a description of what is possible."""
    if not wishes:
        yield Move(text=f"{NOT_UNDERSTOOD}\n\n{ABILITIES}\n\n{HOW_TO_CONNECT}\n")
        return
    worker = Worker([step for wish in wishes for step in wish.steps()], plans="plan" in offered)
    if len(wishes) > 1:
        worker.think(f"These are {len(wishes)} things to do; I take them in order.")
    for number, wish in enumerate(wishes, start=1):
        begun = worker.steps_done
        done = yield from wish.perform(worker)
        if done:
            worker.steps_done = begun + len(wish.steps())
        later = wishes[number:]
        if later and not (done and _may_go_on(wish, later[0], worker)):
            worker.say(f"I stopped there. Not done: {'; '.join(map(str, later))}.")
            break
    yield from worker.finish()


def _may_go_on(wish: Wish, following: Wish, worker: Worker) -> bool:
    """Return whether to go on: after a failed command only with a wish for that case."""
    return not (isinstance(wish, Run) and worker.last_failed) or isinstance(following, Conditional)
