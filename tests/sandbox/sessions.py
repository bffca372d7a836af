"""Sessions whose commands run in the sandbox of this machine."""

import json
import os
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from claw_acp.core.mode import Mode
from tests.support.editors.exchange import Json, tool_calls
from tests.support.editors.shared_house import Guest, GuestV2, SharedHouse
from tests.support.script_files import Script, Step, call, say, turn


def run(line: str, **arguments: object) -> Step:
    """A call of the shell tool."""
    return call("shell", command=line, **arguments)


class Session:
    """One session of an editor, with what came of its calls."""

    def __init__(self, editor: Guest | GuestV2) -> None:
        self.editor = editor

    @property
    def calls(self) -> Sequence[Json]:
        return list(tool_calls(self.editor.updates()).values())

    @property
    def reasons(self) -> list[str]:
        """Why a person was asked, question by question."""
        asked = [frame.message for frame in self.editor.transcript if frame.message.get("method", "").endswith(_ASKS)]
        return [json.dumps(question["params"], ensure_ascii=False) for question in asked]

    def shown(self, index: int) -> str:
        """What one call showed."""
        return json.dumps(self.calls[index].get("content"))


_ASKS = "request_permission"


@asynccontextmanager
async def session(
    place: Path, *steps: Step, mode: Mode = "auto", answer: str = "allow_once", protocol: int = 1, config: str = "",
    path: str = "/usr/bin:/bin", env: Mapping[str, str] | None = None, **capabilities: Any,
) -> AsyncGenerator[Session]:  # fmt: skip
    """A session in which the model makes these calls, one after the other."""
    script = Script(*(turn(step) for step in steps), turn(say("done")))
    programs = f"{path}:{Path(sys.executable).parent}"
    own = {"CLAW_ACP_SANDBOX": "on", "CLAW_ACP_MODE": mode, "PATH": programs, "FAKE_API_KEY": "planted", **(env or {})}
    opened = SharedHouse.opened(project=place / "project", home=place / "home", script=script, env=own, config=config)
    async with opened as house:
        editor = await (house.visit(**capabilities) if protocol == 1 else house.visit_2(**capabilities))
        await editor.new_session()
        editor.will_answer(answer)
        if isinstance(editor, GuestV2):
            await editor.insert("go")
            await editor.wait_for_state("idle")
        else:
            await editor.prompt("go")
        yield Session(editor)
        if protocol == 1:
            await editor.request("session/close", {"sessionId": editor.session})
        editor.terminals.close()


def tree(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything below a folder that a command could change."""
    found: dict[str, tuple[object, ...]] = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        facts = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        names = os.listxattr(path, follow_symlinks=False)
        found[str(path)] = (facts.st_mode, facts.st_mtime_ns, facts.st_nlink, content, tuple(names))
    return found


def entries(folder: Path) -> set[Path]:
    return set(folder.iterdir())


def repository(folder: Path) -> None:
    """A repository, without git."""
    git = folder / ".git"
    for name in ("hooks", "objects", "refs/heads"):
        (git / name).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
