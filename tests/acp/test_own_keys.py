"""The agent's own keys: neither its programs have them, nor does anybody see one that comes up."""

import json
from base64 import b64encode
from pathlib import Path

from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import shown_text
from tests.support.script_files import Script, call, say, turn

WORK, OTHER = "work-Zq81-secret-Xy72", "sk" + "-other-Mn34Op56Qr78St90"
CONFIG = f"""
mode = "auto"
[providers.work]
kind = "openai"
base_url = "http://127.0.0.1:9/v1"
api_key = "env:WORK_SECRET"
[providers.other]
kind = "openai"
base_url = "http://127.0.0.1:9/v1"
api_key = "{OTHER}"
"""
PRINTS = "import os; print(*map('='.join, os.environ.items()))"
SCRIPT = Script(
    turn(
        say("it is work-Zq", "81-secret-X", "y72 or ", OTHER[:9], OTHER[9:], ", is it?"),
        call("shell", command=f"python3 show.py; echo {b64encode(OTHER.encode()).decode()} # {WORK}"),
    ),
    turn(say("done")),
)


async def test_commands_do_not_have_them_and_text_arguments_frames_journal_and_trace_do_not_show_them(
    spawn: Spawn, project: Path, home: Path, tmp_path: Path
) -> None:
    (project / "show.py").write_text(PRINTS)
    token = "bedrock-7Gh2-token-9Kl4"
    trace = tmp_path / "trace"
    env = {"WORK_SECRET": WORK, "AWS_BEARER_TOKEN_BEDROCK": token, "CLAW_ACP_TRACE": str(trace)}
    async with spawn(script=SCRIPT, config=CONFIG, env=env) as editor:
        await editor.initialize()
        await editor.new_session()
        editor.will_answer("allow_once")
        outcome = await editor.prompt("show them")
        shown = json.dumps(outcome.updates)
    kept = _kept(home, trace)
    assert "it is work[redacted] or sk-o[redacted], is it?" in kept
    assert "HOME=" in shown
    assert "WORK_SECRET" not in shown
    for secret in (WORK[5:], OTHER[5:], b64encode(OTHER.encode()).decode()[6:-6], token[:12]):
        assert secret not in shown
        assert secret not in kept


async def test_a_key_that_the_person_passes_on_by_name_reaches_commands_and_is_masked(spawn: Spawn) -> None:
    command = 'test -n "$MINE_API_KEY" && echo there: $MINE_API_KEY'
    script = Script(turn(call("shell", command=command)), turn(say("x")))
    config = 'mode = "auto"\npass_variables = ["MINE_API_KEY"]\n'
    async with spawn(script=script, config=config, env={"MINE_API_KEY": WORK}) as editor:
        await editor.initialize()
        await editor.new_session()
        editor.will_answer("allow_once")
        outcome = await editor.prompt("go")
    assert "there: work[redacted]" in shown_text(outcome.calls[0])


def _kept(home: Path, trace: Path) -> str:
    """The journal and the trace."""
    return b"".join(file.read_bytes() for file in (*home.rglob("*.db*"), trace)).decode("utf-8", "replace")
