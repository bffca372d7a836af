"""Whatever an agent, commands, git, a person and crashes do: each turn can be taken back, and nothing is lost by that.

The program may be killed at each of its operations on files or on the journal; another one goes on from there. With
CLAW_ACP_TEST_DEPTH=20 twenty times as many plays are played.
"""

import os
import tempfile
from functools import reduce
from pathlib import Path
from typing import Final, Literal, NamedTuple

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.contracts.checkpoints import Restored
from claw_acp.store.contents import digest_of
from tests.session.checkpoints.folder import (
    Deed,
    Project,
    Tree,
    chmod,
    git,
    link,
    move,
    remove,
    run_line,
    tree_of,
    write,
)

NAMES: Final = ["a", "b", "d/c", "d/e/f", "d"]
names = st.sampled_from(NAMES)
texts = st.sampled_from(["one", "two"])
deeds: st.SearchStrategy[Deed] = st.one_of(
    st.builds(write, names),
    st.builds(remove, names),
    st.builds(move, names, names),
    st.builds(link, names, st.sampled_from(["a", "nowhere"])),
    st.builds(chmod, names, st.sampled_from([0o600, 0o755])),
)
GIT: Final = (
    "repository", "git stash -q -u", "git stash pop -q", "git checkout -q -b other", "git checkout -q -f -",
    "git reset -q --hard HEAD~1", "git clean -fdxq", "git rm -rfq .", "git rebase -q other",
)  # fmt: skip
DEPTH: Final = int(os.environ.get("CLAW_ACP_TEST_DEPTH", "1"))
State = tuple[str, int] | None
Who = Literal["tool", "deletion", "move", "command", "person", "turn", "crash", "undo", "one file", "copy"]


class Step(NamedTuple):
    who: Who
    name: str
    text: str
    deed: Deed
    number: int
    stop: int


def plays(deeds: st.SearchStrategy[Deed], *, length: int) -> st.SearchStrategy[list[Step]]:
    who: list[Who] = [
        "tool",
        "tool",
        "deletion",
        "move",
        "command",
        "command",
        "person",
        "turn",
        "crash",
        "undo",
        "one file",
        "copy",
    ]
    stops = st.one_of(st.just(0), st.just(0), st.integers(1, 20))
    step = st.builds(
        Step, who=st.sampled_from(who), name=names, text=texts, deed=deeds, number=st.integers(1, 3), stop=stops
    )
    return st.lists(step, max_size=length)


class PlainTurn:
    """What a turn did, by name: the state before its first change of each and after its last, and who else was there.

    Attributes:
        start: The folder as it was when the turn began.
        alone: Whether only the agent changed files, and was not killed.
    """

    def __init__(self, start: Tree) -> None:
        self.start = start
        self.first: dict[str, State] = {}
        self.last: dict[str, State] = {}
        self.alone = True

    def then(self, later: "PlainTurn") -> "PlainTurn":
        """Both as one."""
        both = PlainTurn(self.start)
        both.first, both.last = later.first | self.first, self.last | later.last
        both.alone = self.alone and later.alone
        return both


class Oracle:
    """Plain copies of what the turns did, and of all contents that the agent or an undo replaced."""

    def __init__(self) -> None:
        self.turns: dict[str, PlainTurn] = {}
        self.endangered: set[str] = set()

    @property
    def latest(self) -> PlainTurn:
        """The turn that runs."""
        return self.turns[next(reversed(self.turns))]

    def changed(self, before: Tree, after: Tree) -> None:
        """Note a change by the agent."""
        for name in before.keys() | after.keys():
            if before.get(name) != after.get(name):
                self.latest.first.setdefault(name, before.get(name))
                self.latest.last[name] = after.get(name)
        self.replaced(before, after)

    def replaced(self, before: Tree, after: Tree) -> None:
        """Note what is on the disk no more."""
        self.endangered |= {
            text for name, (text, mode) in before.items() if after.get(name, ("", 0))[0] != text and mode
        }

    def since(self, turn: str) -> PlainTurn:
        """A turn and all after it as one."""
        ids = list(self.turns)
        return reduce(PlainTurn.then, [self.turns[id_] for id_ in ids[ids.index(turn) :]])

    def forget(self, turn: str) -> None:
        """Forget a turn and all after it."""
        ids = list(self.turns)
        for id_ in ids[ids.index(turn) :]:
            del self.turns[id_]


class Undo:
    """One undo, and what must be true of it.

    Args:
        project: The folder.
        oracle: Knows what the turns did.
        number: The turn to go back to.
    """

    def __init__(self, project: Project, oracle: Oracle, number: int, *, turn: str) -> None:
        self._project = project
        self._oracle = oracle
        self._number = number
        self._turn = turn
        self._before = tree_of(project.folder)
        self._done = oracle.since(turn)

    async def run(self, *, stop: int) -> None:
        """Undo, redo and undo again; the first of them may be cut off."""
        checkpoints, number = self._project.checkpoints, self._number
        turns = len(await checkpoints.turns())
        outcome = None if stop else await checkpoints.undo(number)
        if outcome is None or outcome.waits:
            assert outcome is None or not self._done.alone
            assert tree_of(self._project.folder) == self._before
            outcome = await self._project.survives(checkpoints.undo(number, edited="overwrite"), stop=stop)
            if outcome is None and len(await self._project.checkpoints.turns()) == turns:
                assert tree_of(self._project.folder) == self._before
                return
        after = tree_of(self._project.folder)
        self._oracle.replaced(self._before, after)
        self._oracle.forget(self._turn)
        assert not self._done.alone or after == self._done.start
        if outcome is not None:
            self._check(outcome, after)
        await self._project.checkpoints.redo()
        assert tree_of(self._project.folder) == self._before
        await self._project.checkpoints.undo(number, edited="overwrite")
        assert tree_of(self._project.folder) == after

    def _check(self, outcome: Restored, after: Tree) -> None:
        assert not (self._done.alone and outcome.failed)
        assert not any("not kept" in reason for _, reason in outcome.failed)
        first, last = self._done.first, self._done.last
        wanted = first.keys() - {path for path, _ in outcome.failed}
        wanted = {name for name in wanted if first[name] not in (last[name], self._before.get(name))}
        assert {name: after.get(name) for name in wanted} == {name: first[name] for name in wanted}
        untouched = self._before.keys() - {file.path for file in outcome.files}
        assert {name: after.get(name) for name in untouched} == {name: self._before[name] for name in untouched}


async def _go_back(project: Project, oracle: Oracle, step: Step) -> None:
    turns = await project.checkpoints.turns()
    if not turns:
        return
    number = min(step.number, len(turns))
    before = tree_of(project.folder)
    if step.who == "undo":
        turn = turns[number - 1].prompt.removeprefix("prompt of ")
        await Undo(project, oracle, number, turn=turn).run(stop=step.stop)
    elif step.who == "copy":
        copy = await project.copied()
        await copy.checkpoints.undo(number, edited="overwrite")
        await copy.checkpoints.redo()
        assert tree_of(project.folder) == before
    elif (paths := turns[number - 1].files) and not (project.folder / paths[0]).is_dir():
        await project.checkpoints.undo(number, path=paths[0], edited="overwrite")
        after = tree_of(project.folder)
        inside = {name for name in before.keys() | after.keys() if f"{name}/".startswith(f"{paths[0]}/")}
        assert {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} <= inside
        await project.checkpoints.redo()
        assert tree_of(project.folder) == before


async def _take(project: Project, oracle: Oracle, step: Step) -> None:
    before = tree_of(project.folder)
    whole = True
    match step.who:
        case "tool":
            whole = bool(await project.survives(project.write(step.name, step.text), stop=step.stop))
        case "deletion":
            whole = bool(await project.survives(project.delete(step.name), stop=step.stop))
        case "move":
            whole = bool(await project.survives(project.move(step.name, NAMES[step.number]), stop=step.stop))
        case "command":
            whole = bool(await project.survives(project.command(step.deed, step.text), stop=step.stop))
        case "person":
            project.by_hand(step.deed, step.text)
            oracle.latest.alone = False
            return
        case "crash":
            await project.reopen()
        case "turn" | "undo" | "one file" | "copy":
            await project.end_turn()
    oracle.changed(before, tree_of(project.folder))
    oracle.latest.alone &= whole
    if step.who in {"undo", "one file", "copy"}:
        await _go_back(project, oracle, step)
    if step.who not in {"tool", "deletion", "move", "command"} or not whole:
        oracle.turns[await project.begin_turn()] = PlainTurn(tree_of(project.folder))


async def _play(project: Project, played: list[Step]) -> None:
    oracle = Oracle()
    oracle.turns[await project.begin_turn()] = PlainTurn(tree_of(project.folder))
    for number, step in enumerate(played):
        unique = step._replace(text=f"{step.text} {number}")  # or a copy of one would pass for the other's
        await _take(project, oracle, unique)
    for text in oracle.endangered:
        assert project.store.get(digest_of(text.encode())) == text.encode()


def _played(played: list[Step], *, setup: str = "") -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory() as place:
            async with Project.opened(Path(place)) as project:
                if setup:
                    run_line(setup, cwd=project.folder)
                await _play(project, played)

    anyio.run(run)


@settings(deadline=None, max_examples=100 * DEPTH)
@given(plays(deeds, length=14))
def test_every_turn_can_be_taken_back_and_nothing_is_lost(played: list[Step]) -> None:
    _played(played)


@settings(deadline=None, max_examples=25 * DEPTH)
@given(plays(st.one_of(deeds, st.builds(git, st.sampled_from(GIT))), length=10))
def test_git_takes_part_and_nothing_is_lost(played: list[Step]) -> None:
    _played(played, setup="echo one > a; mkdir d; echo two > d/c; repository")
