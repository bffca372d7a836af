"""The facts about a session besides its events."""

from collections.abc import Mapping
from typing import Final

from claw_acp.core.value import Value, made_by
from claw_acp.session.setup import Instructions

SUBAGENT: Final = "subagent"
"""The option that marks the session of a subagent."""
BACKGROUND: Final = "task"
"""The option with the number of a task that goes on in the background, on the session of its subagent."""


class SessionRecord(Value):
    """One session as stored; times are seconds since the epoch, `model` is `provider/model`.

    Attributes:
        title_given: The title was set by a person, so that we never change it.
        archived: Ordinary lists leave it out.
        options: Further settings of the session, by id.
        instructions: The client's system prompt.
        parent: The session this one was copied from, or that gave a subagent its task; it may be deleted by now.
    """

    id: str
    cwd: str
    additional_directories: tuple[str, ...] = ()
    title: str | None = None
    mode: str
    model: str
    created_at: float
    updated_at: float
    archived: bool = False
    title_given: bool = False
    options: Mapping[str, str | bool] = made_by(default_factory=dict[str, str | bool])
    instructions: Instructions | None = None
    parent: str | None = None
