"""The part of the system prompt about skills: an index within a budget, and the texts of those that always count."""

from collections.abc import Sequence
from typing import Final, Literal

from claw_acp.contracts.provider import UNKNOWN_WINDOW
from claw_acp.skills.catalog import Catalog, Entry

Form = Literal["text", "xml"]

MOST: Final = 8_000  # characters of the index
SHARE: Final = 0.01  # of the model's window
LONGEST_ALWAYS: Final = 20_000  # characters of all texts that always count
_PER_TOKEN: Final = 4  # characters
_WIDTHS: Final = (1_024, 300, 160, 80, 0)  # characters of a description, the less room there is
_INTRODUCTION: Final = (
    "\n# Skills\n\nSkills are instructions for kinds of work. When one fits the task, call the tool `skill` with its "
    "name before you begin, and follow it as far as the user's words and the permissions allow.\n"
)


def instructions(catalog: Catalog, *, window: int, form: Form) -> str:
    """The index of the skills that models are told of, and the texts of those that always count.

    Args:
        catalog: The skills.
        window: The tokens of the model's window; 0 where that is not known.
        form: Lines, or XML.
    """
    usable = [entry for entry in catalog.counting if entry.trusted and entry.skill.for_model]
    always = [entry for entry in usable if entry.skill.always and not entry.lacks]
    listed = [entry for entry in usable if entry not in always]
    budget = min(MOST, int((window or UNKNOWN_WINDOW) * SHARE * _PER_TOKEN))
    index = f"{_INTRODUCTION}{_listed(listed, budget=budget, form=form)}" if listed else ""
    return index + _always(always)


def _listed(entries: Sequence[Entry], *, budget: int, form: Form) -> str:
    """The index of some skills, with descriptions as long as there is room for; if need be without the last skills."""
    line = _xml if form == "xml" else _line
    frame = ("<skills>\n", "</skills>\n") if form == "xml" else ("", "")
    lines: list[str] = []
    for width in _WIDTHS:
        lines = [line(entry, width) for entry in entries]
        if sum(map(len, lines)) <= budget:
            return f"{frame[0]}{''.join(lines)}{frame[1]}"
    kept: list[str] = []
    while lines and sum(map(len, kept)) + len(lines[0]) <= budget:
        kept.append(lines.pop(0))
    return f"{frame[0]}{''.join(kept)}{frame[1]}(There are {len(lines)} more; the tool `skill` names them all.)\n"


def _line(entry: Entry, width: int) -> str:
    about = _cut(entry.skill.description, width)
    works = "works by itself; give it `arguments`" if entry.skill.forks else ""
    state = f" ({entry.state or works})" if entry.state or works else ""
    return f"- {entry.skill.name}{f': {about}' if about else ''}{state}\n"


def _xml(entry: Entry, width: int) -> str:
    about = _cut(entry.skill.description, width)
    parts = [f"<name>{entry.skill.name}</name>"]
    parts += [f"<description>{_escaped(about)}</description>"] if about else []
    parts += [f"<missing>{_escaped(', '.join(entry.lacks))}</missing>"] if entry.lacks else []
    return f'<skill available="{str(not entry.lacks).lower()}">{"".join(parts)}</skill>\n'


def _escaped(text: str) -> str:
    """The text as XML has it. The library for this brings all names of characters."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…" if width else ""


def _always(entries: Sequence[Entry]) -> str:
    texts: list[str] = []
    room = LONGEST_ALWAYS
    for entry in entries:
        text = entry.skill.expanded()
        if len(text) > room:
            text = f"{text[:room]}\n[cut: {len(text) - room:,} characters; the tool `skill` shows the whole text]"
        room = max(0, room - len(text))
        texts.append(f"\n{text}\n")
    return "".join(texts)
