"""MCP servers as an editor names them, and ways to wait for them."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.mcp.http_server import SDK_SERVER
from tests.support.editors.editor import Editor
from tests.support.editors.exchange import Json
from tests.support.program.forked_process import forked_python
from tests.support.program.process_mark import MARK

RAW_SERVER = Path(__file__).with_name("raw_server.py")
NOTICES: Json = {"session": {"notices": {}}}
AUTO = 'mode = "auto"'


def raw(editor: Editor, name: str = "raw", /, **habits: Any) -> Json:
    """A raw server, in the words of `mcpServers`."""
    log = str(log_file(editor, name))
    return _program(editor, name, sys.executable, RAW_SERVER, json.dumps({"log": log, **habits}))


def official(editor: Editor) -> Json:
    """A server of the official SDK, in those words."""
    return _program(editor, "official", forked_python(), SDK_SERVER, "stdio")


def _program(editor: Editor, name: str, command: str, *args: Path | str) -> Json:
    """A program as a server. It carries the mark by which orphans are found."""
    mark = {"name": MARK, "value": editor.process.mark}
    return {"name": name, "command": command, "args": [*map(str, args)], "env": [mark]}


def configured(name: str = "raw", /, *, more: str = "", **habits: Any) -> str:
    """A raw server as a table of `config.toml`, after whatever stands at the top."""
    args = json.dumps([str(RAW_SERVER), json.dumps(habits)])
    env = f'{{ {MARK} = "env:{MARK}" }}'
    return f'\n[mcp.{name}]\ncommand = "{sys.executable}"\nargs = {args}\nenv = {env}\n{more}\n'


def log_file(editor: Editor, name: str = "raw") -> Path:
    """Where a raw server writes what it hears."""
    return editor.project.parent / f"{name}.jsonl"


def heard(editor: Editor, name: str = "raw") -> list[Json]:
    """What a raw server has heard so far."""
    file = log_file(editor, name)
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def methods(editor: Editor, name: str = "raw") -> list[str]:
    """The methods among it."""
    return [entry["method"] for entry in heard(editor, name) if "method" in entry]


def commands(editor: Editor, session: str | None = None) -> list[str]:
    """The slash commands that the editor would offer now."""
    updates = editor.updates("available_commands_update", session=session or editor.session)
    return [command["name"] for command in updates[-1]["availableCommands"]] if updates else []


async def ready(editor: Editor, *names: str, session: str | None = None) -> None:
    """Wait until these servers are up; then so are their tools."""
    wanted = {f"{name}:ready" for name in names or ("raw",)}
    await editor.wait_for(lambda: wanted <= set(commands(editor, session)), f"commands {wanted}")


def notices(editor: Editor) -> list[Json]:
    """The notices so far, but for the one that untrusted text came in."""
    return [told for told in editor.updates("notice") if not told["title"].startswith("Text from ")]


async def notice(editor: Editor) -> Json:
    """Wait for a notice; it must be the only one."""
    await editor.wait_for(lambda: notices(editor), "a notice")
    [only] = notices(editor)
    return only


def log_lines(home: Path, event: str) -> list[Json]:
    """Lines of the program's log about something."""
    file = home / "claw" / "log" / "claw-acp.log"
    lines: Sequence[str] = file.read_text().splitlines() if file.exists() else []
    return [entry for entry in map(json.loads, lines) if entry["event"] == event]
