"""`fs/*`: text files as the editor has them, unsaved changes included."""

from claw_acp.schema.base import Uint32, Wire


class ReadTextFileRequest(Wire):
    """Read a file, or `limit` lines of it from `line` on, which counts from 1."""

    session_id: str
    path: str
    line: Uint32 | None = None
    limit: Uint32 | None = None


class ReadTextFileResponse(Wire):
    """The text."""

    content: str


class WriteTextFileRequest(Wire):
    """Replace the text of a file, creating it if needed."""

    session_id: str
    path: str
    content: str


class WriteTextFileResponse(Wire):
    """The file is written."""
