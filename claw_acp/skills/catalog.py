"""The skills of a session: of those with one name the nearest counts, as far as it is trusted."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.core.value import Value
from claw_acp.skills.requirements import missing
from claw_acp.skills.skill import Scope, Skill

_ORDER: Final[Mapping[Scope, int]] = {"project": 0, "user": 1, "built-in": 2}


class Entry(Value):
    """A skill as it counts in a session.

    Attributes:
        skill: The skill.
        lacks: What it needs and the machine lacks, in words.
        trusted: False for one of a project whose text nobody has trusted.
        hidden_by: The scope of the skill of the same name that counts instead of it.
    """

    skill: Skill
    lacks: tuple[str, ...] = ()
    trusted: bool = True
    hidden_by: Scope | None = None

    @property
    def state(self) -> str:
        """Why it cannot be used, in words; empty: it can."""
        if self.hidden_by is not None:
            return f"hidden: the one of the same name from {_FROM[self.hidden_by]} counts"
        if not self.trusted:
            return "not trusted yet"
        return f"unavailable: it needs {', '.join(self.lacks)}" if self.lacks else ""


_FROM: Final[Mapping[Scope, str]] = {"project": "the project", "user": "you", "built-in": "this program"}


class Catalog(Value):
    """The skills of a session, and the faults of files that are none."""

    entries: tuple[Entry, ...] = ()
    troubles: tuple[str, ...] = ()

    @property
    def counting(self) -> Sequence[Entry]:
        """The skills that no other hides, also those that are unavailable or not trusted."""
        return [entry for entry in self.entries if entry.hidden_by is None]

    def find(self, name: str) -> Entry | None:
        """The skill of this name that counts."""
        return next((entry for entry in self.counting if entry.skill.name == name), None)


def make_catalog(
    skills: Sequence[Skill],
    *,
    troubles: Sequence[str] = (),
    trusted: Callable[[Sequence[ProjectFile]], Collection[ProjectFile]],
    environ: Mapping[str, str],
    tools: Collection[str],
    disabled: Collection[str] = (),
) -> Catalog:
    """The catalog of these skills, of which the nearest of a scope comes first.

    Args:
        skills: The skills.
        troubles: The faults of files that are none.
        trusted: Returns those files of projects whose text the person trusts.
        environ: The variables of the machine.
        tools: The names of the tools that are there.
        disabled: The names of skills that are not wanted.
    """
    files = [skill.file for skill in skills if skill.file is not None]
    agreed = frozenset((file.project, file.path) for file in (trusted(files) if files else ()))
    wanted = sorted((skill for skill in skills if skill.name not in disabled), key=lambda skill: _ORDER[skill.scope])
    counts: dict[str, Skill] = {}
    for of_trusted in (True, False):  # one that is not trusted hides none that is
        for skill in wanted:
            if _is_trusted(skill, agreed) is of_trusted:
                counts.setdefault(skill.name, skill)
    entries = [
        Entry(
            skill=skill,
            lacks=tuple(missing(skill.needs, environ=environ, tools=tools)),
            trusted=_is_trusted(skill, agreed),
            hidden_by=None if counts[skill.name] is skill else counts[skill.name].scope,
        )
        for skill in wanted
    ]
    return Catalog(entries=tuple(entries), troubles=tuple(troubles))


def _is_trusted(skill: Skill, agreed: Collection[object]) -> bool:
    return skill.file is None or (skill.file.project, skill.file.path) in agreed
