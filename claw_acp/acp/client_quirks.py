"""Known faults of clients, by their name in `clientInfo`; they cannot be detected otherwise.

A row was seen in the version it names, and is removed when that version is out of use; the workaround must be right for
a fixed client, too. `tests/acp/test_client_quirks.py` plays each of them.
"""

from collections.abc import Mapping

from claw_acp.core.value import Value


class ClientQuirks(Value):
    """The faults of a client.

    Attributes:
        seen_in: The version it was seen in.
        joins_arguments: `terminal/create` joins the command and its arguments to one line for a shell, unquoted.
        writes_below_buffers: `fs/write_text_file` writes to the disk only; an open buffer with unsaved changes stays as
            it is, and `fs/read_text_file` goes on returning it.
        files_without_buffers: `fs/read_text_file` returns the text on disk, and `fs/write_text_file` replaces an open
            buffer with its unsaved changes.
    """

    seen_in: str = ""
    joins_arguments: bool = False
    writes_below_buffers: bool = False
    files_without_buffers: bool = False


_QUIRKS: Mapping[str, ClientQuirks] = {
    # The extension "ACP Client" of VS Code.
    "vscode-acp-client": ClientQuirks(seen_in="0.2.0", joins_arguments=True, writes_below_buffers=True),
    # It also reads CRLF as LF, and leaves one more empty line at the end of each buffer it writes.
    "codecompanion.nvim": ClientQuirks(seen_in="19.22.0", files_without_buffers=True),
}
_NONE = ClientQuirks()


def quirks_of(name: str) -> ClientQuirks:
    """The quirks of the client of this name."""
    return _QUIRKS.get(name.casefold(), _NONE)
