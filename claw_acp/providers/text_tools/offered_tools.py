"""The tools on offer, as the calls in a text name them.

A name stands for a tool if it is its name; or its name but for a prefix that models are trained with, upper case, `-`
and `_`; or a row of `OTHER_NAMES`. Whatever it is written as, the call is one of that tool, with its arguments and its
permissions. A name that could be two tools is none.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from claw_acp.contracts.provider import ToolSpec
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import ToolCall
from claw_acp.providers.text_tools.calls import dumped
from claw_acp.providers.text_tools.found_call import Argument, FoundCall, RawText, usable_name
from claw_acp.providers.text_tools.schema_fit import fits, properties, typed

OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "shell": ("bash", "sh", "exec", "execute", "executecommand", "runcommand", "runshellcommand", "runterminalcmd"),
    "read_file": ("read", "fileread", "viewfile"),
    "write_file": ("write", "filewrite", "createfile", "writetofile"),
    "list_files": ("ls", "listdir", "listdirectory"),
    "grep": ("grepsearch", "contentsearch"),
    "glob": ("globsearch", "findfiles"),
    "fetch": ("webfetch", "fetchurl"),
}
"""Names that models learnt for a tool that does the same; without case, `-` and `_`."""

OTHER_ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "path": ("filepath", "filename", "file", "absolutepath", "targetfile", "dirpath", "directory"),
    "command": ("cmd", "commandline"),
    "content": ("contents", "filetext", "text"),
    "pattern": ("query", "regex", "globpattern"),
    "url": ("uri",),
}
"""Other names of arguments that mean the same; without case, `-` and `_`."""

_PREFIX = re.compile(r"(?:functions?|tools?|default_api)[.:/]")
_COUNTER = re.compile(r":\d{1,6}$")
_FOLDED = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "-_")  # ASCII: no look-alikes


class OfferedTools:
    """The tools of one request."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._folded: dict[str, list[str]] = {}
        for name in self._tools:
            self._folded.setdefault(name.translate(_FOLDED), []).append(name)

    def get_tool(self, name: str) -> ToolSpec | None:
        """The tool that a name stands for."""
        plain = _COUNTER.sub("", _PREFIX.sub("", name.strip(), count=1))
        for exact in (name.strip(), plain):
            if exact in self._tools:
                return self._tools[exact]
        folded = plain.translate(_FOLDED)
        same = self._folded.get(folded) or [
            tool for tool, names in OTHER_NAMES.items() if folded in names and tool in self._tools
        ]
        return self._tools[same[0]] if len(same) == 1 else None

    def takes(self, name: str, argument: str) -> bool:
        """True if the tool of that name has that argument, or is not on offer."""
        tool = self.get_tool(name)
        return tool is None or _argument_name(argument, tool) in properties(tool.parameters)

    def tool_call(self, found: FoundCall, *, strictly: bool, new_id: Callable[[], str]) -> ToolCall | None:
        """The call of a tool; None when it stays text.

        Args:
            found: The call as it was written.
            strictly: Only a call of a tool on offer, with arguments that fit it, is one. Otherwise what is wrong with
                it becomes its result.
            new_id: Returns its id.
        """
        tool = self.get_tool(found.name)
        name = usable_name(found.name) if tool is None else tool.name
        if strictly and (tool is None or (found.broken and not found.cut)):
            return None
        if found.broken:
            return ToolCall(id=new_id(), name=name, arguments=_no_object(found.text), problem=found.problem)
        if tool is None:
            untyped = {key: _text(value) for key, value in found.arguments.items()}
            return ToolCall(id=new_id(), name=name, arguments=dumped(untyped))
        arguments, problem = _arguments(found.arguments, tool)
        if strictly and (problem or not fits(arguments, tool.parameters, root=tool.parameters)):
            return None
        return ToolCall(id=new_id(), name=name, arguments=dumped(arguments), problem=problem)


def _arguments(given: Mapping[str, Argument], tool: ToolSpec) -> tuple[dict[str, JsonValue], str]:
    """The arguments by the names and types of the tool's schema, and what is wrong with them."""
    known = properties(tool.parameters)
    arguments: dict[str, JsonValue] = {}
    problem = ""
    for key, value in given.items():
        name = key if key in known or _argument_name(key, tool) in given else _argument_name(key, tool)
        if name in arguments:
            problem = f"{tool.name} cannot be called like this: `{name}` is there twice."
        elif isinstance(value, RawText):
            if known and name not in known:
                problem = f"{tool.name} cannot be called like this: `{key}` is not an argument of it."
            arguments[name] = typed(value.text, known.get(name), root=tool.parameters)
        else:
            arguments[name] = value
    return arguments, problem


def _argument_name(name: str, tool: ToolSpec) -> str:
    known = properties(tool.parameters)
    if name in known:
        return name
    folded = name.translate(_FOLDED)
    same = [key for key in known if key.translate(_FOLDED) == folded] or [
        key for key, names in OTHER_ARGUMENTS.items() if key in known and folded in names
    ]
    return same[0] if len(same) == 1 else name


def _text(value: Argument) -> JsonValue:
    return value.text if isinstance(value, RawText) else value


def _no_object(text: str) -> str:
    """The text of a call that cannot be read, as arguments that no tool takes."""
    try:
        return dumped(text) if isinstance(json.loads(text), dict) else text
    except (ValueError, RecursionError):
        return text
