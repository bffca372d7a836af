"""The family and generation of a model, read from its name; a role means the newest of a family.

`claude-sonnet-4-5-20250929` is of the family `claude sonnet`, generation 4.5, a dated snapshot. Sizes, quantizations
and words such as `mini` belong to the family: another size is another model.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from claw_acp.contracts.provider import ModelInfo

Family: TypeAlias = tuple[str, ...]

_UNFINISHED = frozenset(
    {
        *("preview", "exp", "experimental", "beta", "alpha", "rc", "draft", "early"),
        *("test", "testing", "nightly", "canary", "dev", "snapshot"),
    }
)
_SIZE = r"(?:a?\d+(?:\.\d+)?|\d+x\d+)[bkmt]|(?:fp|int|bf|nf|q)\d+"
_NAMED_NUMBER = r"([a-z]+?)(\d+(?:\.\d+)*)([a-z]*)"
_NUMBER = r"(\d{1,2}(?:\.\d+)*)([a-z]*)"
_REVISION = r"-v\d+:\d+$|(?<=\d)-v\d+$"  # Bedrock: `anthropic.claude-opus-4-6-v1`, `...-20250929-v1:0`


class Lineage(NamedTuple):
    """The parts of a model's name.

    Attributes:
        family: The name without numbers, after its vendor (`anthropic/`).
        version: The generation as comparable whole numbers; empty when the name has none.
        date: The date of a snapshot as a number, 0 for a name that moves with its model.
        finished: Whether it is no preview.
    """

    family: Family
    version: tuple[int, ...]
    date: int
    finished: bool


@lru_cache(maxsize=4096)
def lineage(model: str) -> Lineage:
    """The family and generation of a model."""
    maker, slash, name = model.lower().rpartition("/")
    if "-v" in name:
        name = re.sub(_REVISION, "", name)
    name, colon, tag = name.partition(":")
    family = [maker + slash] if slash else []
    version: list[int] = []
    date, finished = 0, True
    for word in _words(name):
        if word in _UNFINISHED:
            finished = False
        elif _is_date(word):
            date = int(word)
        elif word.isalpha() and word != "latest":  # most are: a session waits, and a pattern takes time to compile
            family.append(word)
        elif word != "latest":
            family += _read(word, version)
    if colon:
        family.append(colon + tag)
    return Lineage(tuple(family), tuple(version), date, finished)


def newest(models: Sequence[ModelInfo], families: Sequence[Family]) -> str:
    """The newest model of some families, by name; empty if there is none.

    Previews are never chosen, snapshots and models that will be retired only if there is nothing else. The first number
    decides, then the release dates if the list has all of them, then the other numbers.
    """
    found = [(lineage(model.id), model) for model in models if _might_be(model.id, families)]
    found = [(line, model) for line, model in found if line.family in families and line.finished]
    found = [row for row in found if not row[1].deprecated] or found
    found = [row for row in found if not row[0].date] or found
    dated = all(model.created for _, model in found)

    def rank(row: tuple[Lineage, ModelInfo]) -> tuple[object, ...]:
        line, model = row
        major = line.version[0] if line.version else -1
        created = model.created if dated else 0
        return major, created, line.version, line.date, -len(model.id), model.id

    return max(found, key=rank)[1].id if found else ""


def steady(models: Sequence[ModelInfo]) -> str:
    """The first model that is neither a preview nor a snapshot nor to be retired, else the first; empty without any."""
    found = (info for info in models if not info.deprecated and lineage(info.id).finished and not lineage(info.id).date)
    return next((info.id for info in found), models[0].id if models else "")


def _might_be(model: str, families: Sequence[Family]) -> bool:
    """A quick test before the name is parsed: lists are long, and a session waits."""
    name = model.lower()
    return any(all(word in name for word in family) for family in families)


def _words(name: str) -> Sequence[str]:
    """The words of a name; a date is one of them, also in the form `2025-08-07` or `08-2024`."""
    for other in "_ @":
        name = name.replace(other, "-")
    if "20" in name:
        name = re.sub(r"(?<!\d)(20\d\d)-([01]\d)-([0-3]\d)(?!\d)", r"\1\2\3", name)
        name = re.sub(r"(?<!\d)([01]\d)-(20\d\d)(?!\d)", r"\g<2>\g<1>00", name)
    return [word for word in name.split("-") if word]


def _is_date(word: str) -> bool:
    """True if a word is the date of a snapshot: `20250929`, `0709`, `2512`, `001`."""
    return word.isdigit() and (len(word) in {3, 4} or (len(word) == 8 and word.startswith("20")))


def _read(word: str, version: list[int]) -> Sequence[str]:
    """The part of a word that belongs to the family; its numbers are added to the version."""
    if word.replace(".", "").isdigit() and len(word.partition(".")[0]) <= 2 and word[0] != ".":
        _count(word, version)
        return ()
    if re.fullmatch(_SIZE, word):
        return (word,)
    if found := re.fullmatch(_NUMBER, word):
        number, letters = found.groups()
        _count(number, version)
        return (letters,) if letters else ()
    if found := re.fullmatch(_NAMED_NUMBER, word):
        letters, number, more = found.groups()
        _count(number, version)
        return [part for part in ("" if letters == "v" else letters, more) if part]
    return (word,)


def _count(number: str, version: list[int]) -> None:
    """Add a number. After a dot it is read as a decimal, since vendors release 4.20 before 4.3."""
    for place, digits in enumerate(number.strip(".").split(".")):
        if place:
            version.append(int(f"{digits}00"[:2]))
        else:
            version.append(int(digits) * (10 if version else 1))
