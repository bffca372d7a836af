"""`/undo`, `/redo` and `/diff`: undo, restore and show the work of turns."""

import difflib
from collections.abc import Sequence
from typing import Final

from claw_acp.contracts.checkpoints import FileComparison, OnEdited, Restored, Scope, TurnSummary
from claw_acp.contracts.command import CommandContext, CommandResult, Said
from claw_acp.core.errors import ClawError, InvalidRequest
from claw_acp.core.markdown import code_block, code_span
from claw_acp.core.value import Value

MOST_LINES: Final = 2_000
"""The most lines of both sides to compare, and lines of differences to show."""

_SCOPES: Final[dict[str, Scope]] = {"files": "files", "conversation": "conversation", "chat": "conversation"}
_EDITED: Final[dict[str, OnEdited]] = {"skip": "skip", "overwrite": "overwrite"}


class _Wish(Value):
    """The parsed arguments of `/undo`."""

    turn: int | None = None
    scope: Scope = "all"
    edited: OnEdited = "ask"
    path: str | None = None


class Undo:
    """Goes back to before a turn: files, conversation, or both; or restores one file."""

    name = "undo"
    description = "Take back the last turn, or all since a turn: its changes of files, and what was said"
    hint = "[turn] [files | conversation | path] [skip | overwrite], or list"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        try:
            if argument.strip() == "list":
                return Said(text=_listed(await context.checkpoints.turns()))
            wish = _read(argument)
            restored = await context.checkpoints.undo(wish.turn, scope=wish.scope, path=wish.path, edited=wish.edited)
        except ClawError as error:
            return Said(text=f"Nothing was undone: {error.message}.")
        return Said(text=_told(restored, command=f"/undo {argument}".strip(), undone=True))


class Redo:
    """Takes back the last undo."""

    name = "redo"
    description = "Take back the last undo"
    hint = "[skip]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        try:
            if argument.strip() not in {"", "skip"}:
                return Said(text="`/redo` takes back the last undo as a whole; it knows only the word `skip`.")
            restored = await context.checkpoints.redo(skip=bool(argument.strip()))
        except ClawError as error:
            return Said(text=f"Nothing was done again: {error.message}.")
        return Said(text=_told(restored, command=f"/redo {argument}".strip(), undone=False))


class Diff:
    """Shows the changes of files in a turn."""

    name = "diff"
    description = "Show what the last turn that changed files did to them, or another turn"
    hint = "[turn]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        if argument and not argument.isdecimal():
            return Said(text=f"{code_span(argument)} is not the number of a turn; `/undo list` shows them.")
        try:
            compared = await context.checkpoints.compare(int(argument) if argument else None)
        except InvalidRequest as error:
            return Said(text=f"There is nothing to show: {error.message}.")
        if not compared:
            return Said(text=f"Turn {argument} changed no file.")
        return Said(text="\n\n".join(_difference(file) for file in compared))


def _read(argument: str) -> _Wish:
    turn: int | None = None
    scope: Scope = "all"
    edited: OnEdited = "ask"
    rest: list[str] = []
    for word in argument.split(" "):
        if word.isdecimal() and turn is None and not rest:
            turn = int(word)
        elif word in _SCOPES and not rest:
            scope = _SCOPES[word]
        elif word in _EDITED:
            edited = _EDITED[word]
        elif word or rest:
            rest.append(word)  # with all spaces of its name
    return _Wish(turn=turn, scope=scope, edited=edited, path=" ".join(rest) or None)


def _listed(turns: Sequence[TurnSummary]) -> str:
    if not turns:
        return "This conversation has no turn yet."
    rows = [f"| {turn.number} | {_cell(turn.prompt)} | {_files(turn.files)} |" for turn in turns]
    head = ["| Turn | Prompt | Changed files |", "| ---: | --- | --- |"]
    return "\n".join([*head, *rows, "", "`/undo N` goes back to before turn N; `/diff N` shows what it changed."])


def _cell(text: str) -> str:
    return text.replace("|", "\\|") or " "


def _files(paths: Sequence[str]) -> str:
    shown = ", ".join(code_span(_cell(path)) for path in paths[:5])
    return f"{shown} and {len(paths) - 5} more" if len(paths) > 5 else shown


def _told(restored: Restored, *, command: str, undone: bool) -> str:
    if restored.waits:
        return _asked(restored, command=command, undone=undone)
    done = restored.files or restored.turns
    lines: list[str] = []
    if restored.turns:
        which = (
            f"turn {restored.turn}" if restored.turns == 1 else f"{restored.turns} turns from turn {restored.turn} on"
        )
        lines.append(
            f"Undone: {which}. The model does not know of it any more; your editor may still show it."
            if undone
            else f"Done again: {which}. The model knows of it again."
        )
    if restored.files:
        lines.append("Files:\n\n" + "\n".join(f"- {code_span(file.path)} {file.deed}" for file in restored.files))
    stayed = [(path, "somebody else changed it since") for path in restored.edited] + list(restored.failed)
    if stayed:
        lines.append("As they were:\n\n" + "\n".join(f"- {code_span(path)}: {reason}" for path, reason in stayed))
    if restored.repositories and done:
        lines.append(f"{_histories(restored)} as they are; `git reflog` shows what they were.")
    if undone and done:
        again = ", and `/undo` can be tried again then" if restored.failed and restored.turns else ""
        lines.append(f"`/redo` takes this back{again}.")
    return "\n\n".join(lines) or "All files were as they should be already."


def _asked(restored: Restored, *, command: str, undone: bool) -> str:
    """The question about files that others changed, or that cannot be restored."""
    nothing = f"Nothing was {'undone' if undone else 'done again'} yet, because"
    edited = "\n".join(f"- {code_span(path)}" for path in restored.edited)
    failed = "\n".join(f"- {code_span(path)}: {reason}" for path, reason in restored.failed)
    lines: list[str] = []
    if edited:
        lines.append(
            f"{nothing} somebody else changed files since (or a command that ran on, or was interrupted), or has "
            f"unsaved changes in them:\n\n{edited}"
        )
    if failed:
        lines.append(f"{'Besides,' if edited else nothing} these files cannot be brought back:\n\n{failed}")
    choice = f"`{command} skip` leaves these as they are, and {'undoes' if undone else 'does'} the rest."
    if edited and undone:
        what = "the former" if failed else "them"
        choice += f" `{command} overwrite` brings {what} back, too, and `/redo` would return what they hold now."
    return "\n\n".join([*lines, choice])


def _histories(restored: Restored) -> str:
    names = ", ".join(code_span(path) for path in restored.repositories)
    return f"Git's commits, branches and stash, which were changed as well ({names}), stay"


def _difference(file: FileComparison) -> str:
    note = f" ({file.note})" if file.note else ""
    title = f"{code_span(file.path)}{note}"
    if file.old is None and file.new is None:
        return title
    old, new = (file.old or "").splitlines(), (file.new or "").splitlines()
    if len(old) + len(new) > MOST_LINES * 10:
        return f"{title}: {len(old):,} lines before, {len(new):,} after; too many to compare"
    names = ("/dev/null" if file.old is None else "before", "/dev/null" if file.new is None else "after")
    lines = list(difflib.unified_diff(old, new, *names, lineterm=""))
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"… {len(lines) - MOST_LINES:,} more lines"]
    return f"{title}\n\n{code_block(chr(10).join(lines), language='diff')}" if lines else title
