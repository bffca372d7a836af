"""Faults of clients that we know of, by the name a client gives itself in `clientInfo`. They cannot be told otherwise.

A row was seen in the version it names, and goes when nobody uses that version any more; what is done about it must be
right with a mended client, too. `tests/acp/test_client_quirks.py` plays each of them.
"""

from collections.abc import Mapping

from claw_acp.core.value import Value


class ClientQuirks(Value):
    """The mistakes of a client.

    Attributes:
        seen_in: The version it was seen in.
        joins_arguments: `terminal/create` joins the command and its arguments to one line for a shell, unquoted.
        writes_below_buffers: `fs/write_text_file` writes to the disk only; an open buffer with unsaved changes stays as
            it is, and `fs/read_text_file` goes on answering with it.
        files_without_buffers: `fs/read_text_file` answers with the disk, and `fs/write_text_file` replaces an open
            buffer, unsaved changes and all.
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
