"""Copies of sessions."""

from collections.abc import Sequence

from claw_acp.core.clock import Clock
from claw_acp.core.ids import new_id
from claw_acp.core.value import replace
from claw_acp.session.record import SUBAGENT, SessionRecord
from claw_acp.session.setup import Instructions
from claw_acp.session.titles import title_of_fork


def forked(
    source: SessionRecord,
    *,
    clock: Clock,
    cwd: str,
    additional: Sequence[str] = (),
    instructions: Instructions | None = None,
) -> SessionRecord:
    """The record of a copy: the settings of its source, its own folders, and by default the source's instructions.

    `Journal.fork` stores it, with all events of the source.
    """
    now = clock.now()
    return replace(
        source,
        id=new_id("ses", clock=clock),
        cwd=cwd,
        additional_directories=tuple(additional),
        title=title_of_fork(source.title),
        title_given=False,
        archived=False,
        created_at=now,
        updated_at=now,
        instructions=instructions or source.instructions,
        options={key: value for key, value in source.options.items() if key != SUBAGENT},
        parent=source.id,
    )
