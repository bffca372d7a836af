"""Running commands and fixing a failing test, for the offline assistant."""

from collections.abc import Generator, Sequence

from claw_acp.providers.offline.correction import Correction, correction_from, files_hit
from claw_acp.providers.offline.files import Replace
from claw_acp.providers.offline.looking import literal
from claw_acp.providers.offline.task_steps import Move, Outcome, Outcomes
from claw_acp.providers.offline.worker import STOPPED, Doing, Wish, Worker, shortened, without_ending

TEST_COMMAND = "python3 -m unittest"  # when a request says "the test" and names no command
OUTPUT_TAIL = 12  # lines of a command's output that are repeated


class Run(Wish):
    """Run a command, also successfully if it fails; None: the previous one, or the usual one for tests."""

    command: str | None = None

    def __str__(self) -> str:
        return f"Run {shortened(self.command)}" if self.command else "Run the command again"

    def perform(self, worker: Worker) -> Doing:
        """See `Wish`."""
        line = self.command or worker.last_command or TEST_COMMAND
        outcome = yield from worker.shell(line)
        if worker.last_code is None:
            worker.complain(f"run `{line}`", outcome=outcome)
            return False
        worker.say(f"`{line}` {_ending(worker.last_code)}.")
        _show_tail(outcome, worker)
        return True


class Repair(Wish):
    """Make a failing test pass by correcting a text that is spelled differently in the test; None: as in `Run`."""

    command: str | None = None

    def __str__(self) -> str:
        return "Repair what the test found"

    def steps(self) -> Sequence[str]:
        """See `Wish`."""
        return ("Run the test", "Find the cause", "Correct it", "Run the test again")

    def perform(self, worker: Worker) -> Doing:
        """See `Wish`."""
        line = self.command or worker.last_command or TEST_COMMAND
        worker.think("The failure itself says best what is wrong, so I run the test before anything else.")
        worker.say(f"I run `{line}` to see what fails.")
        first = yield from worker.shell(line)
        if worker.last_code is None:
            worker.complain(f"run `{line}`", outcome=first)
            return False
        if not first.failed:
            worker.say("It passes already: there is nothing to repair.")
            return True
        worker.steps_done += 1
        correction = correction_from(first.text)
        if correction is None:
            worker.say("It fails, but not because of a wrong text, which is all that I can repair without a model:")
            _show_tail(first, worker)
            return False
        return (yield from _correct(correction, line, worker))


def _correct(asked: Correction, command: str, worker: Worker) -> Doing:
    found = yield from _locate(asked, worker)
    if found is None:
        worker.say(f"I did not find one single place in the program that says `{asked.wrong}`, so I changed nothing.")
        return False
    path, correction = found
    worker.steps_done += 1
    worker.say(f"The cause is in `{path}`.")
    if not (yield from Replace(path=path, old=correction.wrong, new=correction.right).perform(worker)):
        return False
    worker.steps_done += 1
    again = yield from worker.shell(command)
    if again.failed:
        worker.say("The test still fails:")
        _show_tail(again, worker)
        return False
    worker.say(f"`{command}` passes now.")
    return True


def _locate(asked: Correction, worker: Worker) -> Generator[Move, Outcomes, tuple[str, Correction] | None]:
    """Find the only file outside the tests with the wrong text, on either side of the comparison."""
    for correction in (asked, asked.reversed):
        if not any(letter.isalnum() for letter in correction.wrong):
            continue
        worker.think(
            f"The test got “{correction.wrong}” where “{correction.right}” should be; I look where the program says it."
        )
        worker.say(f"The test compares texts that differ in `{correction.wrong}` and `{correction.right}`.")
        outcome = yield from worker.call("grep", pattern=literal(correction.wrong))
        files = () if outcome.failed else files_hit(outcome.text)
        if len(files) == 1:
            return files[0], correction
    return None


def _ending(code: int) -> str:
    if code == STOPPED:
        return "did not come to its end"
    return "ended well" if code == 0 else f"failed with exit code {code}"


def _show_tail(outcome: Outcome, worker: Worker) -> None:
    lines = without_ending(outcome.text).strip("\n").split("\n")
    worker.show("\n".join(lines[-OUTPUT_TAIL:]))
