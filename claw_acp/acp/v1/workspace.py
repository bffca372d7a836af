"""The workspace as the editor sees it: its buffers and its terminals where it offers them, this machine otherwise."""

import logging
from collections.abc import Sequence
from pathlib import Path

from claw_acp.acp.v1.refusal import is_refusal, words
from claw_acp.acp.v1.terminal import EditorTerminal
from claw_acp.acp.view import SessionView
from claw_acp.contracts.workspace import Command, RunningProcess
from claw_acp.core.errors import InvalidRequest, ToolError
from claw_acp.core.events import Notice
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonValue
from claw_acp.rpc.errors import RpcError
from claw_acp.schema.files import ReadTextFileResponse
from claw_acp.schema.invalid import parse

log = logging.getLogger(__name__)

PATIENCE = 30.0  # seconds for the editor to read or write a buffer


class EditorWorkspace:
    """Routes each operation to the client when it advertised it, and to the local workspace otherwise or on failure.

    What the client does not want done is not done: a refusal fails the operation.
    """

    def __init__(self, view: SessionView) -> None:
        self._view = view
        self._local = view.opened.workspace
        self._client = view.client

    @property
    def roots(self) -> Sequence[Path]:
        """See `Workspace`."""
        return self._local.roots

    def locate(self, path: str) -> Path:
        """See `Workspace`."""
        return self._local.locate(path)

    def contains(self, path: Path) -> bool:
        """See `Workspace`."""
        return self._local.contains(path)

    async def read_text(self, path: Path) -> str:
        """The editor's buffer, unsaved changes included; the file on disk where the editor cannot say."""
        if self._client.read_file:
            try:
                answer = await self._ask("fs/read_text_file", path)
                return parse(ReadTextFileResponse, answer, method="fs/read_text_file").content
            except (RpcError, InvalidRequest, TimeoutError) as error:
                if is_refusal(error):
                    raise ToolError(f"The editor refused to read {path}: {words(error)}.") from error
                # Ordinary for files that do not exist or are no text: the local workspace finds the right words.
                log.info("editor did not read", extra={"path": str(path), "reason": words(error)})
        return await self._local.read_text(path)

    async def read_bytes(self, path: Path, *, limit: int) -> bytes:
        """See `Workspace`; ACP has no bytes, so this is always the disk."""
        return await self._local.read_bytes(path, limit=limit)

    async def write_text(self, path: Path, text: str) -> None:
        """Through the editor; when it fails, to disk, and the person is told."""
        if self._client.write_file:
            try:
                await self._ask("fs/write_text_file", path, content=text)
            except TimeoutError as error:
                # It may still write later, so writing to disk behind its back could lose one of the two.
                raise ToolError(
                    f"The editor did not confirm that it wrote {path}; look before writing again."
                ) from error
            except RpcError as error:
                if is_refusal(error):
                    raise ToolError(
                        f"The editor refused to write {path}: {words(error)}. Nothing was written."
                    ) from error
                await self._say_fallback(f"The editor could not write {path}", words(error))
            else:
                return
        await self._local.write_text(path, text)

    async def start(self, command: Command) -> RunningProcess:
        """In a terminal of the editor; when it cannot open one, on this machine."""
        if self._client.terminal:
            try:
                return await EditorTerminal.create(self._view.peer, self._view.opened.session.id, command)
            except (RpcError, InvalidRequest, TimeoutError) as error:
                if is_refusal(error):
                    raise ToolError(
                        f"The editor refused to open a terminal: {words(error)}. The command was not run."
                    ) from error
                await self._say_fallback("The editor could not open a terminal", words(error))
        return await self._local.start(command)

    async def _ask(self, method: str, path: Path, **more: JsonValue) -> JsonValue:
        params = {"sessionId": self._view.opened.session.id, "path": str(path), **more}
        return await self._view.peer.request(method, params, within=PATIENCE)

    async def _say_fallback(self, title: str, reason: str) -> None:
        log.warning("editor failed, working locally", extra={"what": title, "reason": reason})
        notice = Notice(item=new_id("ntc"), severity="warning", title=title, description=f"{reason}; done locally")
        await self._view.opened.session.show(notice)
