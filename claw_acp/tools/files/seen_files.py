"""The last text of each file that a session saw, so that unseen changes are not overwritten."""

from hashlib import blake2b
from pathlib import Path

from claw_acp.contracts.tool import ToolState
from claw_acp.core.errors import FileConflict

_SHELF_KEY = "file stamps"


class Stamps:
    """Digests of file texts by resolved path; unsaved changes count, since the texts come from the workspace."""

    def __init__(self) -> None:
        self._digests: dict[Path, bytes] = {}

    @classmethod
    def on(cls, state: ToolState) -> "Stamps":
        """The stamps of the session with this state."""
        stamps = state.get(_SHELF_KEY, cls)
        assert isinstance(stamps, cls)
        return stamps

    def saw(self, path: Path, text: str) -> None:
        """Record a text that the model was shown, or wrote."""
        self._digests[path] = _digest(text)

    def knows(self, path: Path) -> bool:
        """Return whether the session has seen the file at all."""
        return path in self._digests

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


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
