"""What is open in the journal about files: commands and undos that have not ended, and news that no prompt has told."""

from claw_acp.core.events import FilesChanged, FilesRestored, PathState


class PendingFiles:
    """The open matters of one session, kept up to date event by event.

    Attributes:
        commands: The commands that may change files and have begun, whose changes are not known yet, by id.
        restoring: The undo or redo that has begun and not ended.
        restored: Those that have ended since the last prompt, which the model does not know of.
        turn: The last turn that changed files.
        before: The state of each path that it changed, before its first change.
    """

    def __init__(self) -> None:
        self.commands: dict[str, FilesChanged] = {}
        self.restoring: FilesRestored | None = None
        self.restored: list[FilesRestored] = []
        self.turn = ""
        self.before: dict[str, PathState] = {}

    def apply(self, event: FilesChanged | FilesRestored) -> None:
        """Apply the next event."""
        if isinstance(event, FilesRestored):
            self.restoring = event if event.status == "in_progress" else None
            if event.status == "completed":
                self.restored.append(event)
            return
        if event.item != self.turn:
            self.turn, self.before = event.item, {}
        for change in event.changes:
            self.before.setdefault(change.path, change.before)
        if event.command and self.commands.pop(event.command, None) is None:
            self.commands[event.command] = event
