"""Whatever an agent, commands, a person and crashes do: each turn can be taken back, and nothing is lost by that."""

import tempfile
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
texts = st.sampled_from(["one", "two", "three", ""])
deeds: st.SearchStrategy[Deed] = st.one_of(
    st.builds(write, names, texts),
    st.builds(remove, names),
    st.builds(move, names, names),
    st.builds(link, names, st.sampled_from(["a", "nowhere"])),
    st.builds(chmod, names, st.sampled_from([0o600, 0o755])),
)


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


class Oracle:
    """Plain copies: of what was there before the first change of each path in a turn, and of all that was replaced."""

    def __init__(self) -> None:
        self.turns: dict[str, dict[str, tuple[str, int] | None]] = {}
        self.endangered: set[str] = set()

    def changed(self, before: Tree, after: Tree) -> None:
        """Note a change by the agent."""
        latest = self.turns[next(reversed(self.turns))]
        for name in before.keys() | after.keys():
            if before.get(name) != after.get(name):
                latest.setdefault(name, before.get(name))
        self.replaced(before, after)

    def replaced(self, before: Tree, after: Tree) -> None:
        """Note what is on the disk no more."""
        self.endangered |= {
            text for name, (text, mode) in before.items() if after.get(name, ("", 0))[0] != text and mode
        }

    def undo(self, turn: str) -> dict[str, tuple[str, int] | None]:
        """Forget a turn and all after it; returns what was there before the first change of each path in them."""
        ids = list(self.turns)
        known: dict[str, tuple[str, int] | None] = {}
        for id_ in ids[ids.index(turn) :]:
            known = self.turns.pop(id_) | known
        return known


async def _undo(project: Project, oracle: Oracle, number: int) -> None:
    checkpoints = project.checkpoints
    turns = await checkpoints.turns()
    if not turns:
        return
    turn = min(number, len(turns))
    before = tree_of(project.folder)
    asked = await checkpoints.undo(turn)
    if asked.edited:
        assert tree_of(project.folder) == before
        asked = await project.checkpoints.undo(turn, edited="overwrite")
    after = tree_of(project.folder)
    oracle.replaced(before, after)
    known = oracle.undo(turns[turn - 1].prompt.removeprefix("prompt of "))
    for file in asked.files:
        assert after.get(file.path) == known.get(file.path)
    untouched = before.keys() - {file.path for file in asked.files}
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
            await project.command(step.deed, killed=step.who == "killed")
        case "person":
            project.by_hand(step.deed)
            return
        case "turn" | "crash" | "undo":
            pass
    oracle.changed(before, tree_of(project.folder))
    if step.who in {"killed", "crash"}:
        await project.reopen()
    if step.who in {"turn", "undo"}:
        await project.end_turn()
    if step.who == "undo":
        await _undo(project, oracle, step.number)
    if step.who not in {"tool", "command"}:
        oracle.turns[await project.begin_turn()] = {}


async def _play(project: Project, played: list[Step]) -> None:
    oracle = Oracle()
    oracle.turns[await project.begin_turn()] = {}
    for step in played:
        await _take(project, oracle, step)
    for text in oracle.endangered:
        assert project.store.get(digest_of(text.encode())) == text.encode()


@settings(max_examples=40, deadline=None)
@given(steps)
def test_every_turn_can_be_taken_back_and_nothing_is_lost(played: list[Step]) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory() as place:
            async with Project.opened(Path(place)) as project:
                await _play(project, played)

    anyio.run(run)
