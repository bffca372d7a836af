"""Our own agent with a model that plays a script, so that every check has material."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from claw_acp.core.private_directory import make_private

PROMPT = "verify: say hello"
SLOW = "verify: take your time"
TOOL = "verify: write a file"
AUTH_METHOD = "api-key"
NO_KEYRING = "keyring.backends.null.Keyring"  # logging out must not empty the keyring of whoever checks
COMMAND = (sys.executable, "-m", "claw_acp")

_SCRIPT: Mapping[str, object] = {
    "turns": [
        {"when": SLOW, "steps": [{"text": "Thinking"}, {"wait_for": "never"}]},
        {"when": TOOL, "steps": [
            {"text": "I will write one."},
            {"call": {"name": "read_file", "arguments": {"path": "a.txt"}}},
            {"call": {"name": "shell", "arguments": {"command": "date > verify.txt"}}},
        ]},
        {"when": TOOL, "steps": [{"text": "Done."}]},
        {"steps": [{"thought": "A greeting."}, {"text": ["Hello", ", ", "world."]}]},
    ],
    "loop": True,
}  # fmt: skip


def set_up(home: Path) -> Mapping[str, str]:
    """Write script and configuration to `home`; returns the environment for the agent."""
    make_private(home)
    script = home / "script.json"
    script.write_text(json.dumps(_SCRIPT), encoding="utf-8")
    lines = [
        'model = "scripted/play"',
        "[providers.scripted]",
        'kind = "scripted"',
        f"script = {json.dumps(str(script))}",
    ]
    (home / "config.toml").write_text("\n".join(lines), encoding="utf-8")
    return {"CLAW_ACP_HOME": str(home), "PYTHON_KEYRING_BACKEND": NO_KEYRING}
