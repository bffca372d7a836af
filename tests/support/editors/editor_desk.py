"""The client side of an editor: files with unsaved buffers, terminals, answers to questions."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from anyio import to_thread

from tests.support.editors.exchange import Json, RpcFailure
from tests.support.program.process_mark import unmarked

Handler: TypeAlias = Callable[[Json], Any]
"""Takes the params and returns the result or an awaitable for it; raises RpcFailure for an error."""

SILENCE: Final = object()
"""Returned by a handler that never answers."""


@dataclass(frozen=True, slots=True)
class Question:
    """A received `session/request_permission`."""

    id: object
    params: Json

    @property
    def call_id(self) -> str:
        """The id of its tool call."""
        return self.params["toolCall"]["toolCallId"]

    @property
    def kinds(self) -> list[str]:
        """The kinds of its options."""
        return [option["kind"] for option in self.params["options"]]

    def outcome(self, answer: str) -> Json:
        """The result with this answer: `cancelled`, or the option of that kind."""
        if answer == "cancelled":
            return {"outcome": {"outcome": "cancelled"}}
        chosen = next((option["optionId"] for option in self.params["options"] if option["kind"] == answer), None)
        assert chosen is not None, f"{answer} is not on offer, only {self.kinds}"
        return {"outcome": {"outcome": "selected", "optionId": chosen}}


@dataclass(slots=True)
class Files:
    """The editor's side of `fs/*`: open buffers above the disk. With `saves` off, written texts stay there."""

    saves: bool = True
    buffers: dict[str, str] = field(default_factory=dict[str, str])
    reads: list[str] = field(default_factory=list[str])
    writes: list[str] = field(default_factory=list[str])

    def read(self, params: Json) -> Json:
        """`fs/read_text_file`."""
        path = params["path"]
        self.reads.append(path)
        try:
            text = self.buffers[path] if path in self.buffers else Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise RpcFailure(-32002, f"{path}: {error.strerror}") from error
        lines = text.splitlines(keepends=True)
        first = (params.get("line") or 1) - 1
        last = None if params.get("limit") is None else first + params["limit"]
        return {"content": "".join(lines[first:last])}

    def write(self, params: Json) -> Json:
        """`fs/write_text_file`: saved at once, or not at all."""
        path = Path(params["path"])
        self.writes.append(str(path))
        if self.saves:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(params["content"], encoding="utf-8")
        self.buffers[str(path)] = params["content"]
        return {}


@dataclass(slots=True)
class Terminal:
    """A program in one of the editor's terminals, with its output in a file."""

    process: "subprocess.Popen[bytes]"
    output: Path
    limit: int | None
    released: bool = False
    killed: bool = False

    def kill(self) -> None:
        """End the program and all of its group."""
        self.killed = True
        if self.process.poll() is None:
            with suppress(ProcessLookupError):  # it ended just now
                os.killpg(self.process.pid, signal.SIGKILL)

    def state(self) -> Json:
        """The answer of `terminal/output`."""
        data = self.output.read_bytes()
        truncated = self.limit is not None and len(data) > self.limit
        shown = data[-self.limit :] if truncated and self.limit else data
        code = self.process.poll()
        state: Json = {"output": shown.decode("utf-8", "ignore"), "truncated": truncated}
        return state if code is None else state | {"exitStatus": exit_status(code)}


def exit_status(code: int) -> Json:
    """A return code in ACP's form."""
    return {"exitCode": code} if code >= 0 else {"signal": signal.Signals(-code).name}


@dataclass(slots=True)
class Terminals:
    """The editor's side of `terminal/*`, with real processes."""

    all: dict[str, Terminal] = field(default_factory=dict[str, Terminal])

    def create(self, params: Json) -> Json:
        """`terminal/create`."""
        terminal_id = f"term-{len(self.all) + 1}"
        handle, name = tempfile.mkstemp(prefix="terminal-", dir=params.get("cwd"))
        try:
            process = subprocess.Popen(
                [params["command"], *params.get("args", ())],
                cwd=params.get("cwd"),
                env={**unmarked(), **{pair["name"]: pair["value"] for pair in params.get("env", ())}},
                stdin=subprocess.DEVNULL,
                stdout=handle,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        finally:
            os.close(handle)
        self.all[terminal_id] = Terminal(process, Path(name), params.get("outputByteLimit"))
        return {"terminalId": terminal_id}

    def output(self, params: Json) -> Json:
        """`terminal/output`."""
        return self._get(params).state()

    async def wait_for_exit(self, params: Json) -> Json:
        """`terminal/wait_for_exit`."""
        process = self._get(params).process
        return exit_status(await to_thread.run_sync(process.wait, abandon_on_cancel=True))

    def kill(self, params: Json) -> Json:
        """`terminal/kill`."""
        self._get(params).kill()
        return {}

    def release(self, params: Json) -> Json:
        """`terminal/release`."""
        terminal = self._get(params)
        terminal.kill()
        terminal.released = True
        return {}

    def unreleased(self) -> list[str]:
        """Terminals that the agent did not release."""
        return [name for name, terminal in self.all.items() if not terminal.released]

    def close(self) -> None:
        """End everything."""
        for terminal in self.all.values():
            terminal.kill()
            terminal.process.wait()
            terminal.output.unlink(missing_ok=True)

    def _get(self, params: Json) -> Terminal:
        terminal = self.all.get(params["terminalId"])
        if terminal is None or terminal.released:
            raise RpcFailure(-32002, f"no terminal {params['terminalId']}")
        return terminal
