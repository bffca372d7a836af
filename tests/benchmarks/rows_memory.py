"""What remembering costs: recall among 100,000 entries."""

import random
from functools import cache
from itertools import accumulate
from time import perf_counter_ns

import anyio

from claw_acp.contracts.memory import MemoryEntry
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.ids import new_id
from claw_acp.memory.sqlite_backend import opened
from tests.benchmarks.figures import Figure, Row, milliseconds
from tests.benchmarks.lab import Lab
from tests.memory.support import setup_of

ENTRIES = 100_000
QUERIES = 40
WORDS_OF_A_PROMPT = 15
NAMESPACES = ("project:/a", "user")
CHANCE = random.Random(1)
VOCABULARY = ["".join(CHANCE.choices("abcdefghijklmnoprstuvw", k=CHANCE.randint(3, 9))) for _ in range(20_000)]


@cache
def _frequencies() -> list[float]:
    """As in a language: the second word is half as frequent as the first, the third a third as frequent."""
    return list(accumulate(1 / rank for rank in range(1, len(VOCABULARY) + 1)))


def _text(words: int) -> str:
    return " ".join(CHANCE.choices(VOCABULARY, cum_weights=_frequencies(), k=words))


def _entry(number: int) -> MemoryEntry:
    return MemoryEntry(
        id=new_id("mem"), key=_text(2), content=_text(CHANCE.randint(8, 24)), timestamp=SYSTEM_CLOCK.now() - number,
        namespace=NAMESPACES[number % 2],
    )  # fmt: skip


async def _measured(lab: Lab, runs: int) -> list[float]:
    samples: list[float] = []
    async with opened(setup_of(lab.new_home(), clock=SYSTEM_CLOCK)) as memory:
        await memory.restore([_entry(number) for number in range(ENTRIES)])
        for _ in range(runs * QUERIES):
            query = _text(WORDS_OF_A_PROMPT)
            before = perf_counter_ns()
            await memory.recall_namespaced(query, namespaces=NAMESPACES)
            samples.append(milliseconds(perf_counter_ns() - before))
    return samples


def measure_recall(lab: Lab, runs: int) -> tuple[Figure]:
    """In this process, by words alone."""
    what = f"recall among {ENTRIES:,} memories, by a prompt of {WORDS_OF_A_PROMPT} words"
    return (Figure(what=what, unit="ms", samples=anyio.run(_measured, lab, runs)),)


ROWS = (
    Row(
        name="memory-recall",
        about=f"{QUERIES} prompts of {WORDS_OF_A_PROMPT} words, among {ENTRIES:,} memories of two namespaces",
        runs=5,
        measure=measure_recall,
    ),
)
