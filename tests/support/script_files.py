"""Scripts for the played model, written as they are read: `Script(turn(say("a"), call("shell", command="ls")))`.

`hold("name")` makes the model wait in the middle of its answer until the test makes the file of that name beside the
script (`Script.let_go`), so that a turn can be caught at an exact point without any clock.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

Step: TypeAlias = Mapping[str, Any]
Turn: TypeAlias = Mapping[str, Any]


def say(*chunks: str) -> Step:
    """Streamed text, one chunk each."""
    return {"text": list(chunks)}


def think(*chunks: str) -> Step:
    """Streamed thinking, one chunk each."""
    return {"thought": list(chunks)}


def call(name: str, /, **arguments: object) -> Step:
    """A tool call; several in one turn are parallel."""
    return {"call": {"name": name, "arguments": arguments}}


def raw_call(name: str, arguments: str) -> Step:
    """A tool call whose arguments are sent unchanged."""
    return {"call": {"name": name, "arguments": arguments}}


def written_call(name: str, *, gate: str, **arguments: object) -> Step:
    """A tool call whose arguments are streamed; before their last character the model waits as at `hold(gate)`."""
    return {"call": {"name": name, "arguments": arguments, "wait_for": gate}}


def hold(name: str) -> Step:
    """Wait here until the test continues."""
    return {"wait_for": name}


def fail(kind: str, **details: object) -> Step:
    """Fail the request here with this kind of provider error."""
    return {"error": {"kind": kind, **details}}


def expect(text: str) -> Step:
    """Fail unless the last user or tool message contains this text."""
    return {"expect": {"contains": text}}


def stop(reason: str) -> Step:
    """End the answer for this reason."""
    return {"stop": reason}


def usage(**counts: int) -> Step:
    """Report token counts."""
    return {"usage": counts}


def turn(*steps: Step, when: str | None = None) -> Turn:
    """The model's part in one request; with `when`, only after a user message that matches it."""
    return {"steps": list(steps)} | ({} if when is None else {"when": when})


class Script:
    """A whole script, and the file it becomes."""

    def __init__(self, *turns: Turn, loop: bool = False, **capabilities: object) -> None:
        self.content = {"turns": list(turns), "loop": loop, "capabilities": capabilities}
        self._folder: Path | None = None

    def write(self, folder: Path) -> Path:
        """Write the file to `folder`, where holds are looked for too."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        path = folder / "script.json"
        path.write_text(json.dumps(self.content), encoding="utf-8")
        return path

    def let_go(self, name: str) -> None:
        """End a hold."""
        assert self._folder is not None, "the script was not written yet"
        (self._folder / name).touch()


def configure(home: Path, script: Script | None, *, more: str = "") -> None:
    """Write a configuration with the scripted model; `more` is TOML for its top. With neither, write nothing."""
    if script is None and not more:
        return  # as on a machine where nothing was ever set up
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = [more]
    if script is not None:
        path = json.dumps(str(script.write(home / "script")))
        lines = ['model = "scripted/play"', more, "[providers.scripted]", 'kind = "scripted"', f"script = {path}"]
    (home / "config.toml").write_text("\n".join(lines), encoding="utf-8")
