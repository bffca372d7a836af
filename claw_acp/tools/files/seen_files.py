"""The last text of each file that a session saw, so that unseen changes are not overwritten."""

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Final, TypeAlias

from claw_acp.config.safe_read import read_plain_file
from claw_acp.contracts.tool import ToolState
from claw_acp.core.errors import FileConflict

MOST_WATCHED: Final = 200
"""Files whose changes between two turns are noticed: those seen last."""

_LARGEST: Final = 64 * 1024 * 1024  # bytes of a file; the model is shown smaller ones
_SHELF_KEY = "file stamps"

_Status: TypeAlias = tuple[int, int, int, int] | None


class Stamps:
    """Digests of file texts by resolved path; unsaved changes count, since the texts come from the workspace."""

    def __init__(self) -> None:
        self._digests: dict[Path, bytes] = {}
        self._left: dict[Path, _Status] = {}

    @classmethod
    def on(cls, state: ToolState) -> "Stamps":
        """The stamps of the session with this state."""
        stamps = state.get(_SHELF_KEY, cls)
        assert isinstance(stamps, cls)
        return stamps

    def saw(self, path: Path, text: str) -> None:
        """Record a text that the model was shown, or wrote."""
        self._digests.pop(path, None)  # the last seen is the last
        self._digests[path] = _digest(text)

    def forget(self, path: Path) -> None:
        """Drop a file that is not there any more, because a tool deleted or moved it."""
        self._digests.pop(path, None)
        self._left.pop(path, None)

    def knows(self, path: Path) -> bool:
        """Return whether the session has seen the file at all."""
        return path in self._digests

    def leave(self) -> None:
        """Record how the files seen last are now, at the end of a turn."""
        self._left = {path: _status(path) for path in list(self._digests)[-MOST_WATCHED:]}

    def changed(self) -> list[Path]:
        """The files that have another text now than the session saw, and were written since `leave`. Reads them."""
        return [path for path, left in self._left.items() if _status(path) != left and not self._is_seen(path)]

    def latest(self, most: int) -> list[Path]:
        """The files that the session saw last."""
        return list(self._digests)[-most:]

    def differs(self, path: Path, text: str) -> bool:
        """Return whether this is another text than the session saw."""
        return self._digests.get(path) != _digest(text)

    def touched(self) -> bool:
        """Return whether any file was written since `leave`."""
        return any(_status(path) != left for path, left in self._left.items())

    def outdated(self, paths: Iterable[str]) -> frozenset[str]:
        """Those of these files that have another text now than the session saw last, or are gone. Reads them."""
        return frozenset(path for path in paths if self.knows(Path(path)) and not self._is_seen(Path(path)))

    def _is_seen(self, path: Path) -> bool:
        try:
            return self._digests.get(path) == _digest(read_plain_file(path, limit=_LARGEST).decode())
        except (OSError, ValueError):
            return False

    def check(self, path: Path, text: str, *, shown: str) -> None:
        """Check that a file the session has seen still has that text. `shown` is the path for the message.

        Raises:
            FileConflict: It has another text now.
        """
        seen = self._digests.get(path)
        if seen is not None and seen != _digest(text):
            raise FileConflict(
                f"{shown} changed since you last read it (in the editor or on disk). Nothing was written. "
                "Call read_file on it again and base the change on its present text."
            )


def _status(path: Path) -> _Status:
    """What tells that a file was written; None when it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
