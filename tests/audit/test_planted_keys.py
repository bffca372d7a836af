"""Keys planted wherever an agent meets them appear in nothing that the program writes, shows or keeps."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio import to_thread

from claw_acp.cli.sessions import command as sessions
from tests.core.redaction.made_up import fill
from tests.core.redaction.secrets import VENDORS
from tests.mcp.in_editor import ServerInEditor
from tests.mcp.support import ready
from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, call, fail, say, think, turn

PLACES = (
    "environment", "own_variable", "config", "prompt", "file", "file_name", "directory", "command", "git_remote", "url",
    "header", "answer", "thought", "arguments", "tool_error", "mcp_result", "provider_error", "commit",
)  # fmt: skip
KINDS = list(VENDORS.items())
KEPT = {
    "frames": {"answer", "thought", "arguments", "tool_error"},  # the model's words; the diff and the path as they are
    "claw/claw.db": {"answer", "thought", "prompt", "command", "header", "url", "arguments", "tool_error"},
}
"""What stays as it is: the conversation itself, and the arguments that the model must find again as it wrote them."""


UNUSED = ["own_variable", "config"]
"""Commands do not even have the first; nothing repeats the second."""


def planted() -> dict[str, str]:
    """A key of a vendor of its own for each place."""
    usable = [fill(pattern, seed=kind) for kind, pattern in KINDS]
    simple = [key for key in usable if key.replace("-", "").replace("_", "").isalnum() and 24 < len(key) < 120]
    return dict(zip(PLACES, simple, strict=False))


KEYS = planted()
ENV = {
    "DEPLOY_URL": f"postgres://ada:{KEYS['environment']}@db/x",
    "WORK_SECRET": KEYS["own_variable"],
    "CLAW_ACP_MODE": "auto",
}
CONFIG = f"""
[providers.work]
kind = "openai"
base_url = "http://127.0.0.1:9/v1"
api_key = "{KEYS["config"]}"
[providers.other]
kind = "openai"
base_url = "http://127.0.0.1:9/v1"
api_key = "env:WORK_SECRET"
"""


def script() -> Script:
    header = f"curl -s -H 'Authorization: Bearer {KEYS['header']}' http://127.0.0.1:9/"
    return Script(
        turn(
            think("or ", KEYS["thought"]),
            say(f"the key is {KEYS['answer']}."),
            call("read_file", path="settings.env"),
            call("glob", pattern="*"),
            call("grep", pattern="="),
            call("list_files"),
            call("shell", command=f"env; git remote -v; git log -1; echo {KEYS['command']}; cat settings.env"),
            call("shell", command=header),
            call("fetch", url=f"http://127.0.0.1:9/?key={KEYS['url']}"),
            call("read_file", path=f"{KEYS['tool_error']}.txt"),
            call("write_file", path="out.txt", content=f"token = {KEYS['arguments']}\n"),
            call("inside__echo", text="x"),
            call("no_such_tool", text=KEYS["arguments"]),
        ),
        turn(fail("RequestRejected", message=f"the key {KEYS['provider_error']} is not valid")),
    )


def plant(project: Path) -> None:
    (project / "settings.env").write_text(f"A=1\nSERVICE={KEYS['file']}\n")
    (project / f"{KEYS['file_name']}.txt").write_text("x\n")
    (project / KEYS["directory"]).mkdir()
    (project / KEYS["directory"] / "y.txt").write_text("a=b\n")
    remote = f"https://ada:{KEYS['git_remote']}@example.org/x.git"
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for line in (["init", "-q"], ["remote", "add", "origin", remote], ["add", "settings.env"],
                 [*who, "commit", "-qm", f"use {KEYS['commit']}"]):  # fmt: skip
        subprocess.run(["git", *line], cwd=project, check=True)


def leaks(text: str) -> Iterator[str]:
    """The places whose key is in a text: more than its beginning."""
    return (place for place, key in KEYS.items() if key[8:] in text)


def files_below(home: Path) -> dict[str, str]:
    """What the program keeps; the configuration and the script are the test's own."""
    found = (path for path in home.rglob("*") if path.is_file() and path.name not in {"config.toml", "script.json"})
    return {str(path.relative_to(home)): path.read_bytes().decode("utf-8", "replace") for path in found}


async def test_no_planted_key_appears_anywhere(
    spawn: Spawn,
    project: Path,
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(project)
    trace = tmp_path / "trace.jsonl"
    env = {**ENV, "CLAW_ACP_TRACE": str(trace), "CLAW_ACP_LOG": "debug"}
    async with spawn(script=script(), config=CONFIG, env=env) as editor:
        await editor.initialize()
        server = ServerInEditor(editor)
        await editor.new_session(mcpServers=[server.declared])
        await ready(editor, "inside")
        echoed = {"content": [{"type": "text", "text": f"it is {KEYS['mcp_result']}"}]}
        server.answers["tools/call"] = {"result": {**echoed, "resultType": "complete"}}
        editor.will_answer("allow_once")
        failure = await (await editor.start_prompt(f"deploy with {KEYS['prompt']}")).failure()
        questions = editor.received("session/request_permission")  # which mask nothing: people see what they agree to
        frames = [json.dumps(frame) for frame in editor.received() if frame not in questions]
        monkeypatch.setenv("CLAW_ACP_HOME", str(home / "claw"))
        for more in ([], ["--json"]):
            await to_thread.run_sync(sessions.main, ["export", *more, editor.session])
    written = {"export": capsys.readouterr().out, "frames": "\n".join(frames), "error": failure.message}
    written |= {"trace": trace.read_text("utf-8")}
    written |= files_below(home)
    found = {(where, place) for where, text in written.items() for place in leaks(text)}
    assert sorted(found - {(where, place) for where, places in KEPT.items() for place in places}) == []
    met = "".join(written.values())  # each was met, or this proves nothing
    assert [place for place, key in KEYS.items() if f"{key[:4]}[redacted]" not in met] == UNUSED
