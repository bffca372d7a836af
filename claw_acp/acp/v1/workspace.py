"""The workspace with the editor's buffers and terminals where it offers them, this machine otherwise."""

import logging
import os
import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from anyio import to_thread

from claw_acp.acp.client_quirks import quirks_of
from claw_acp.acp.v1.client_errors import is_unsupported, words
from claw_acp.acp.v1.terminal import EditorTerminal, plain_argv, unquoted_argv
from claw_acp.acp.view import SessionView
from claw_acp.contracts.launch import Confinement, Launch
from claw_acp.contracts.workspace import Command, RunningProcess, UnsavedChanges
from claw_acp.core.errors import InvalidRequest, ToolError
from claw_acp.core.events import Notice
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonValue
from claw_acp.rpc.errors import ConnectionClosed, RpcError
from claw_acp.schema.files import ReadTextFileResponse
from claw_acp.schema.invalid import parse
from claw_acp.workspace.environment import command_environment
from claw_acp.workspace.process_host import confined

log = logging.getLogger(__name__)

CLIENT_TIMEOUT = 30.0  # seconds for the editor to read or write a buffer


class EditorWorkspace:
    """Routes files of the session's directories and commands to the client when it advertised that; else stays local.

    The client's answer counts, even an error: nothing is done behind its back. A client that turns out to lack a method
    is not asked again in the session, and the person is notified. Files elsewhere are outside the editor's project, and
    most editors know only the files inside.
    """

    def __init__(self, view: SessionView) -> None:
        self._view = view
        self._local = view.live.workspace
        self._quirks = quirks_of(view.client.name)

    @property
    def roots(self) -> Sequence[Path]:
        """See `Workspace`."""
        return self._local.roots

    @property
    def unsaved_changes(self) -> UnsavedChanges:
        """See `Workspace`."""
        client = self._view.client
        if self._quirks.files_without_buffers and client.read_file:
            return "unseen"
        return "stay" if self._quirks.writes_below_buffers and client.write_file else "kept"

    def locate(self, path: str) -> Path:
        """See `Workspace`."""
        return self._local.locate(path)

    def contains(self, path: Path) -> bool:
        """See `Workspace`."""
        return self._local.contains(path)

    async def read_text(self, path: Path) -> str:
        """The editor's buffer, unsaved changes included."""
        if not (self._view.client.read_file and self._is_editors(path)):
            return await self._local.read_text(path)
        try:
            answer = await self._ask("fs/read_text_file", path)
            text = parse(ReadTextFileResponse, answer, method="fs/read_text_file").content
        except (RpcError, InvalidRequest, TimeoutError) as error:
            if not is_unsupported(error):
                raise ToolError(f"The editor could not read {path}: {words(error)}.") from error
            await self._do_without("read_file", "The editor cannot read files", "files are read from the disk")
            return await self._local.read_text(path)
        if not text and not await to_thread.run_sync(os.path.lexists, path):
            return await self._local.read_text(path)  # some editors answer so; it has the right words for it
        return text

    async def read_bytes(self, path: Path, *, limit: int) -> bytes:
        """See `Workspace`; ACP has no bytes, so this is always the disk."""
        return await self._local.read_bytes(path, limit=limit)

    async def write_text(self, path: Path, text: str) -> None:
        """Write through the editor, which may have the file open."""
        if not (self._view.client.write_file and self._is_editors(path)):
            return await self._local.write_text(path, text)
        try:
            await self._ask("fs/write_text_file", path, content=text)
        except TimeoutError as error:
            raise ToolError(f"The editor did not confirm that it wrote {path}; look before writing again.") from error
        except RpcError as error:
            if not is_unsupported(error):
                raise ToolError(f"The editor could not write {path}: {words(error)}.") from error
            await self._do_without("write_file", "The editor cannot write files", "files are written to the disk")
            await self._local.write_text(path, text)

    async def write_bytes(self, path: Path, content: bytes) -> None:
        """See `Workspace`; ACP has no bytes."""
        await self._local.write_bytes(path, content)

    async def delete_file(self, path: Path) -> None:
        """See `Workspace`; ACP has no request for it."""
        await self._local.delete_file(path)

    async def move_file(self, path: Path, *, target: Path) -> None:
        """See `Workspace`; ACP has no request for it."""
        await self._local.move_file(path, target=target)

    async def start(self, command: Command) -> RunningProcess:
        """Start the command in a terminal of the editor, which is given the command line of its sandbox."""
        if not self._view.client.terminal:
            return await self._local.start(command)
        try:
            with ExitStack() as until_released:
                argv = self._argv(command, until_released.enter_context(confined(command, "editor")))
                if argv is None:
                    return await self._local.start(command)
                live = self._view.live
                terminal = await EditorTerminal.create(
                    self._view.peer, live.session.id, command, argv=argv, environ=live.settings.environ
                )
                terminal.on_release = until_released.pop_all().close
                return terminal
        except (ConnectionClosed, InvalidRequest, TimeoutError) as error:
            raise ToolError(
                f"The editor did not say which terminal it opened: {words(error)}. The command may be running; "
                "look before you run it again."
            ) from error
        except RpcError as error:
            if not is_unsupported(error):
                raise ToolError(
                    f"The editor could not open a terminal: {words(error)}. The command was not run."
                ) from error
            await self._do_without("terminal", "The editor has no terminals", "claw-acp runs commands itself")
            return await self._local.start(command)

    def _argv(self, command: Command, confinement: Confinement | None) -> tuple[str, ...] | None:
        """The arguments for the editor; None if there are none that it would pass on as they are."""
        argv = plain_argv(command.line)
        if confinement is not None:
            environment = command_environment(self._view.live.settings.environ, extra={})
            argv = confinement(Launch(argv=argv, env=environment, cwd=command.cwd)).argv
        if not self._quirks.joins_arguments:
            return argv
        return unquoted_argv(command.line if confinement is None else shlex.join(argv))

    def _is_editors(self, path: Path) -> bool:
        return not self._quirks.files_without_buffers and self._local.contains(path)

    async def _ask(self, method: str, path: Path, **more: JsonValue) -> JsonValue:
        params = {"sessionId": self._view.live.session.id, "path": str(path), **more}
        return await self._view.peer.request(method, params, within=CLIENT_TIMEOUT)

    async def _do_without(self, capability: str, title: str, instead: str) -> None:
        """Stop using a capability that the client advertised but lacks."""
        self._view.client = self._view.client._replace(**{capability: False})
        log.warning("an advertised capability is missing", extra={"session": self._view.live.session.id, "what": title})
        description = f"It advertised that it can. In this session {instead}."
        notice = Notice(item=new_id("ntc"), severity="warning", title=title, description=description)
        await self._view.live.session.broadcast(notice)
