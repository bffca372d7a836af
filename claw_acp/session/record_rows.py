"""Session records as rows of the store, both ways."""

import json
from collections.abc import Mapping
from typing import Any, Final

from claw_acp.session.record import SessionRecord
from claw_acp.session.setup import Instructions
from claw_acp.store.database import Row, SqlValue

COLUMNS: Final = (
    "id, cwd, additional_directories, title, mode, model, created_at, updated_at, "
    "archived, title_given, options, instructions, parent"
)


def as_columns(record: SessionRecord) -> tuple[SqlValue, ...]:
    """The column values of a record, in the order of `COLUMNS`."""
    return (
        record.id,
        record.cwd,
        json.dumps(record.additional_directories),
        None if record.title is None else clean(record.title),
        record.mode,
        record.model,
        record.created_at,
        record.updated_at,
        record.archived,
        record.title_given,
        options_text(record.options),
        None if record.instructions is None else instructions_text(record.instructions),
        record.parent,
    )


def as_record(row: Row) -> SessionRecord:
    """The record of a row with `COLUMNS`."""
    session, cwd, additional, title, mode, model, created_at, updated_at = row[:8]
    archived, title_given, options, instructions, parent = row[8:]
    directories: list[Any] = json.loads(additional)
    return SessionRecord(
        id=session,
        cwd=cwd,
        additional_directories=tuple(directories),
        title=title,
        mode=mode,
        model=model,
        created_at=created_at,
        updated_at=updated_at,
        archived=bool(archived),
        title_given=bool(title_given),
        options=json.loads(options),
        instructions=None if instructions is None else Instructions(**json.loads(instructions)),
        parent=parent,
    )


def options_text(options: Mapping[str, str | bool]) -> str:
    """Options as JSON text, lone surrogates as escapes."""
    return json.dumps(dict(options))


def instructions_text(instructions: Instructions) -> str:
    """Instructions as JSON text, lone surrogates as escapes."""
    return json.dumps({"mode": instructions.mode, "text": instructions.text})


def clean(text: str) -> str:
    """A title with the characters replaced that cannot be stored."""
    return text.encode(errors="replace").decode()
