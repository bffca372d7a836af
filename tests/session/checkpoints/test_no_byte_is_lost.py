"""Whatever an agent, commands, a person and crashes do: each turn can be taken back, and nothing is lost by that."""

import tempfile
from functools import reduce
from pathlib import Path
from typing import Final, Literal, NamedTuple

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.store.contents import digest_of
from tests.session.checkpoints.folder import (
    Deed,
    Project,
    Tree,
    chmod,
    link,
    move,
    remove,
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
State = tuple[str, int] | None


class Step(NamedTuple):
    who: Literal["tool", "command", "killed", "person", "turn", "crash", "undo"]
    name: str
    text: str
    deed: Deed
    number: int


steps = st.lists(
    st.builds(
        Step,
        who=st.sampled_from(["tool", "tool", "command", "command", "killed", "person", "turn", "crash", "undo"]),
        name=names,
        text=texts,
        deed=deeds,
        number=st.integers(1, 3),
    ),
    max_size=14,
)


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

    def undo(self, turn: str) -> PlainTurn:
        """Forget a turn and all after it; returns them as one."""
        ids = list(self.turns)
        taken = [self.turns.pop(id_) for id_ in ids[ids.index(turn) :]]
        return reduce(PlainTurn.then, taken)


async def _undo(project: Project, oracle: Oracle, number: int) -> None:
    checkpoints = project.checkpoints
    turns = await checkpoints.turns()
    if not turns:
        return
    turn = min(number, len(turns))
    before = tree_of(project.folder)
    done = oracle.undo(turns[turn - 1].prompt.removeprefix("prompt of "))
    outcome = await checkpoints.undo(turn)
    wanted = {name: state for name, state in done.first.items() if state not in (done.last[name], before.get(name))}
    assert outcome.edited or all(before.get(name) == done.last[name] for name in wanted)
    if outcome.edited:
        assert not done.alone
        assert tree_of(project.folder) == before
        outcome = await project.checkpoints.undo(turn, edited="overwrite")
    after = tree_of(project.folder)
    oracle.replaced(before, after)
    assert not done.alone or (after, outcome.failed) == (done.start, ())
    assert not any("not kept" in reason for _, reason in outcome.failed)
    failed = {path for path, _ in outcome.failed}
    assert {name: after.get(name) for name in wanted.keys() - failed} == {
        name: wanted[name] for name in wanted.keys() - failed
    }
    untouched = before.keys() - {file.path for file in outcome.files}
    assert {name: after.get(name) for name in untouched} == {name: before[name] for name in untouched}
    await project.checkpoints.redo()
    assert tree_of(project.folder) == before
    await project.checkpoints.undo(turn, edited="overwrite")
    assert tree_of(project.folder) == after


async def _take(project: Project, oracle: Oracle, step: Step) -> None:
    before = tree_of(project.folder)
    match step.who:
        case "tool":
            await project.write(step.name, step.text)
        case "command" | "killed":
            await project.command(step.deed, step.text, killed=step.who == "killed")
        case "person":
            project.by_hand(step.deed, step.text)
            oracle.latest.alone = False
            return
        case "turn" | "crash" | "undo":
            pass
    oracle.changed(before, tree_of(project.folder))
    if step.who == "killed":
        oracle.latest.alone = False
    if step.who in {"killed", "crash"}:
        await project.reopen()
    if step.who in {"turn", "undo"}:
        await project.end_turn()
    if step.who == "undo":
        await _undo(project, oracle, step.number)
    if step.who not in {"tool", "command"}:
        oracle.turns[await project.begin_turn()] = PlainTurn(tree_of(project.folder))


async def _play(project: Project, played: list[Step]) -> None:
    oracle = Oracle()
    oracle.turns[await project.begin_turn()] = PlainTurn({})
    for number, step in enumerate(played):
        unique = step._replace(text=f"{step.text} {number}")  # or a copy of one would pass for the other's
        await _take(project, oracle, unique)
    for text in oracle.endangered:
        assert project.store.get(digest_of(text.encode())) == text.encode()


@settings(max_examples=80, deadline=None)
@given(steps)
def test_every_turn_can_be_taken_back_and_nothing_is_lost(played: list[Step]) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory() as place:
            async with Project.opened(Path(place)) as project:
                await _play(project, played)

    anyio.run(run)
