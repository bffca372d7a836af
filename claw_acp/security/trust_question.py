"""What people are shown before files of a project may have a say: their whole text, and what changed in it."""

import difflib
from collections.abc import Sequence
from typing import Final, NamedTuple

from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.core.lookalikes import note_on_lookalikes
from claw_acp.core.markdown import code_block, code_span
from claw_acp.core.printable import in_reading_order, plain_lines, printable
from claw_acp.security.trust_store import TrustedText

MOST_SHOWN: Final = 80_000  # characters of all texts in one question
MOST_FILES: Final = 20
_GAP: Final = "\n\n"
_MOST_CHANGES: Final = 400  # lines of a difference; beyond, the whole text says it better


class TrustQuestion(NamedTuple):
    """A question about files, as Markdown, and those that it shows: only in them it may be answered with trust."""

    text: str
    shown: tuple[ProjectFile, ...]


def trust_question(files: Sequence[tuple[ProjectFile, TrustedText | None]]) -> TrustQuestion:
    """The question about files, each with the text of it that was trusted before.

    It is bounded: of many files the last are only named.
    """
    texts: list[str] = []
    shown: list[ProjectFile] = []
    room = MOST_SHOWN
    for file, known in files:
        if len(file.text) > room or len(shown) == MOST_FILES:
            break
        room -= len(file.text)
        texts.append(_about(file, known))
        shown.append(file)
    if left := [file for file, _ in files[len(shown) :]]:
        named = ", ".join(code_span(printable(file.path)) for file in left[:MOST_FILES])
        more = f" and {len(left) - MOST_FILES} more" if len(left) > MOST_FILES else ""
        texts.append(f"Too long to be shown here: {named}{more}. `claw-acp trust` in a terminal shows all.")
    return TrustQuestion(text=_GAP.join(texts), shown=tuple(shown))


def _about(file: ProjectFile, known: TrustedText | None) -> str:
    named = f"the {file.kind} {code_span(printable(file.path))} of {code_span(printable(str(file.project)))}"
    note = note_on_lookalikes([file.path, file.text])
    text = f"Its whole text:\n\n{_shown(file.text)}{f'{_GAP}{note}' if note else ''}"
    if known is None:
        return f"You have not trusted {named} yet, so it was not used. {text}"
    changes = None if known.text is None else _changes(known.text, file.text)
    differs = f"What changed:\n\n{code_block(changes)}\n\n" if changes else ""
    return f"Since you trusted {named} ({known.at[:10]}), it has changed, so it was not used. {differs}{text}"


def trust_lines(file: ProjectFile, known: TrustedText | None) -> list[str]:
    """The same for a terminal."""
    state = "new" if known is None else "trusted" if known.sha256 == file.digest else f"changed since {known.at[:10]}"
    lines = [f"{file.kind} {printable(file.path)} ({state})"]
    if known is not None and known.text is not None and known.sha256 != file.digest:
        lines += [f"  {line}" for line in _changes(known.text, file.text).split("\n")] + ["  The whole text:"]
    note = note_on_lookalikes([file.path, file.text])
    return [*lines, *(f"  {line}" for line in _plain(file.text).split("\n")), *([note] if note else [])]


def _changes(before: str, now: str) -> str:
    lines = list(difflib.unified_diff(before.split("\n"), now.split("\n"), "trusted", "now", lineterm="", n=1))
    return _plain("\n".join(lines)) if len(lines) <= _MOST_CHANGES else ""


def _shown(text: str) -> str:
    return code_block(_plain(text))


def _plain(text: str) -> str:
    return in_reading_order(plain_lines(text))
