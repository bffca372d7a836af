"""How often the right memory is among the first five: `python -m tests.memory.measure`.

One store holds everything: the facts of two projects, what was said before and is no longer so, and days that are over.
"""

import csv
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from claw_acp.contracts.memory import Memory, SearchMode
from claw_acp.core.value import replace
from claw_acp.memory.sqlite_backend import opened
from tests.memory.support import TestClock, setup_of
from tests.memory.thesaurus import embedded

QUESTIONS: Final = Path(__file__).parent / "questions" / "facts.tsv"
HERE, ELSEWHERE = "project:/here", "project:/elsewhere"
MODES: Final[Mapping[SearchMode, str]] = {"bm25": "by words", "embedding": "by vectors", "hybrid": "by both"}
MONTH: Final = 30 * 86_400.0
DAYS: Final = ("release", "incident", "meeting", "upgrade", "outage", "hiring", "audit", "budget", "training", "demo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, what has to be among the answers, and what must not come before it."""

    kind: str
    text: str
    right: str
    wrong: str = ""
    namespace: str = HERE


def facts() -> Sequence[Mapping[str, str]]:
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def questions() -> Sequence[Question]:
    asked: list[Question] = []
    for row in facts():
        asked += [
            Question(kind="planted facts", text=row["direct"], right=row["fact"]),
            Question(kind="paraphrases", text=row["paraphrase"], right=row["fact"]),
            Question(kind="contradictions", text=row["direct"], right=row["fact"], wrong=row["before"]),
            Question(kind="other projects", text=row["direct"], right=row["elsewhere"], wrong=row["fact"],
                     namespace=ELSEWHERE),
        ]  # fmt: skip
    stale = [
        Question(kind="stale facts", text=f"What came out of the last {day}?", right=_day(day, 2), wrong=_day(day, 1))
        for day in DAYS
    ]
    return [*asked, *stale]


def _day(day: str, number: int) -> str:
    return f"Round {number}: the {day} ended with decision {number} of that round."


async def plant(memory: Memory, clock: TestClock) -> None:
    for row in facts():
        await memory.store_with_metadata(row["key"], row["before"], namespace=HERE)
        await memory.store_with_metadata(row["key"], row["elsewhere"], namespace=ELSEWHERE)
    for number in (1, 2):
        for day in DAYS:
            await memory.store_with_metadata(f"{day}-{number}", _day(day, number), namespace=HERE, category="daily")
        clock.seconds += MONTH
    for row in facts():
        await memory.store_with_metadata(row["key"], row["fact"], namespace=HERE)


async def answered(memory: Memory, question: Question, *, mode: SearchMode) -> bool:
    found = await memory.recall_namespaced(question.text, namespaces=[question.namespace, "user"], limit=5, mode=mode)
    texts = [entry.content for entry in found]
    if question.right not in texts:
        return False
    return question.wrong not in texts[: texts.index(question.right)]


class Thesaurus:
    """See `Embedding`: WordNet in the place of a model."""

    name = "wordnet"

    async def embed(self, texts: Sequence[str], *, within: float) -> Sequence[Sequence[float]]:
        del within
        return [embedded(text) for text in texts]


async def measured(mode: SearchMode) -> Mapping[str, Sequence[bool]]:
    """The answers of a search, right or not, by kind of question."""
    clock = TestClock()
    outcome: dict[str, list[bool]] = {}
    with tempfile.TemporaryDirectory() as directory:
        setup = replace(setup_of(Path(directory), clock=clock), embedding=Thesaurus())
        async with opened(setup) as memory:
            await plant(memory, clock)
            while await memory.embed_missing():
                pass
            for question in questions():
                outcome.setdefault(question.kind, []).append(await answered(memory, question, mode=mode))
    return outcome


def main() -> None:
    """Print the table."""
    columns = [anyio.run(measured, mode) for mode in MODES]
    print(f"{'recall@5':<16} {'questions':>9} {'nothing':>9}" + "".join(f"{name:>14}" for name in MODES.values()))
    kinds = {kind: [column[kind] for column in columns] for kind in columns[0]}
    everything = [[right for answers in column.values() for right in answers] for column in columns]
    for kind, answers in {**kinds, "all": everything}.items():
        shares = "".join(f"{100 * sum(right) / len(right):>13.0f}%" for right in answers)
        print(f"{kind:<16} {len(answers[0]):>9} {0:>8}%{shares}")


if __name__ == "__main__":
    main()
