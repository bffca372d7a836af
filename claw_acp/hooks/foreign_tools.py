"""Names and arguments of tools as hooks know them: the published ones of other agents, for ours and back."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from claw_acp.core.json_value import JsonObject, JsonValue

NAMES: Final[Mapping[str, str]] = {
    "shell": "Bash", "shell_output": "BashOutput", "shell_kill": "KillShell", "edit_file": "Edit",
    "write_file": "Write", "read_file": "Read", "list_files": "LS", "glob": "Glob", "grep": "Grep",
    "fetch": "WebFetch", "web_search": "WebSearch", "plan": "TodoWrite", "ask_user": "AskUserQuestion",
    "delegate": "Task",
}  # fmt: skip
_SEVERAL: Final = "MultiEdit"
_GIT: Final = tuple(f"git_{word}" for word in ("status", "diff", "log", "blame", "commit", "branch", "worktree"))
_ALSO: Final[Mapping[str, frozenset[str]]] = {
    "edit_file": frozenset({_SEVERAL}), "delegate": frozenset({"Agent"}),
    "apply_patch": frozenset({"Edit", _SEVERAL, "Write"}), "delete_file": frozenset({"Write"}),
    "move_file": frozenset({"Write"}), **dict.fromkeys(_GIT, frozenset({"Bash"})),
}  # fmt: skip
"""Further published names that mean a tool, as those who wrote a rule would have had it: for what it does."""
_KEYS: Final[Mapping[str, Mapping[str, str]]] = {
    "shell": {"background": "run_in_background"},
    "shell_output": {"task": "bash_id"},
    "shell_kill": {"task": "shell_id"},
    "edit_file": {"path": "file_path"},
    "write_file": {"path": "file_path"},
    "delete_file": {"path": "file_path"},
    "move_file": {"path": "file_path"},
    "read_file": {"path": "file_path", "line": "offset"},
    "plan": {"entries": "todos"},
}
"""The published name of an argument, where it is another."""
_EDIT: Final[Mapping[str, str]] = {"old_text": "old_string", "new_text": "new_string", "all": "replace_all"}
_WITH_FILES: Final = frozenset({"edit_file", "write_file", "read_file", "delete_file", "move_file"})


def foreign_name(tool: str, arguments: JsonObject) -> str:
    """The published name of a tool of ours; tools of servers are `mcp__SERVER__TOOL`."""
    if tool == "edit_file" and len(_edits(arguments.get("edits"))) != 1:
        return _SEVERAL
    return NAMES.get(tool) or (f"mcp__{tool}" if "__" in tool else tool)


def all_names(tool: str) -> frozenset[str]:
    """The names by which a rule can mean a tool."""
    return frozenset({tool, foreign_name(tool, {"edits": [{}]}), *_ALSO.get(tool, ())})


def own_names(published: str) -> frozenset[str]:
    """The names of our tools that a published name, or one of ours, stands for."""
    own = frozenset(name for name in (*NAMES, *_ALSO) if published in all_names(name))
    together = frozenset({"shell", "shell_output", "shell_kill"}) if "shell" in own else own
    return together or frozenset({published.removeprefix("mcp__")})


def foreign_arguments(tool: str, arguments: JsonObject, *, cwd: Path) -> dict[str, JsonValue]:
    """The arguments of a call as hooks know them; paths of files are absolute."""
    keys = _KEYS.get(tool, {})
    told = {keys.get(key, key): value for key, value in arguments.items()}
    if tool in _WITH_FILES and isinstance(path := told.get("file_path"), str):
        told["file_path"] = str(cwd / path)
    if (command := git_command(tool, arguments)) is not None:
        told["command"] = command
    if tool == "shell":
        _scale(told, lambda seconds: seconds * 1000)
    edits = _edits(told.get("edits"))
    if tool == "edit_file" and edits:
        foreign = [{_EDIT.get(key, key): value for key, value in edit.items()} for edit in edits]
        del told["edits"]
        told |= foreign[0] if len(foreign) == 1 else {"edits": foreign}
    return told


def git_command(tool: str, arguments: JsonObject) -> str | None:
    """About the command that a tool of git stands for, for hooks that look at commands; None for other tools."""
    if tool not in _GIT:
        return None
    return shlex.join(["git", tool.removeprefix("git_"), *_words(list(arguments.values()))])


def own_arguments(tool: str, changed: JsonObject, *, before: JsonObject) -> dict[str, JsonValue]:
    """The arguments for our tool that a hook has made of those `before`; what it left out stays as it was."""
    back = {foreign: own for own, foreign in _KEYS.get(tool, {}).items()}
    own = {back.get(key, key): value for key, value in changed.items() if tool not in _GIT or key != "command"}
    if tool == "shell":
        _scale(own, lambda milliseconds: milliseconds / 1000)
    if tool == "edit_file":
        edit_back = {foreign: name for name, foreign in _EDIT.items()}
        single = {name: own.pop(foreign) for foreign, name in edit_back.items() if foreign in own}
        listed = [{edit_back.get(key, key): value for key, value in edit.items()} for edit in _edits(own.get("edits"))]
        earlier = _edits(before.get("edits"))
        if single:
            listed = [{**(earlier[0] if len(earlier) == 1 else {}), **single}]
        if listed:
            own["edits"] = listed
    return {**before, **own}


def _words(value: JsonValue) -> list[str]:
    """The texts in an argument, for hooks that look for words in a command."""
    if isinstance(value, str):
        return [value]
    return [word for item in value for word in _words(item)] if isinstance(value, Sequence) else []


def _scale(arguments: dict[str, JsonValue], by: Callable[[float], float]) -> None:
    timeout = arguments.get("timeout")
    if isinstance(timeout, int | float) and not isinstance(timeout, bool):
        arguments["timeout"] = by(timeout)


def _edits(value: JsonValue) -> Sequence[Mapping[str, JsonValue]]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    return [edit for edit in value if isinstance(edit, Mapping)]
