"""`claw-acp memory`: shows and changes what agents remember."""

import argparse
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import anyio

from claw_acp.cli.current_settings import locations_here, settings_here
from claw_acp.contracts.memory import EVERYTHING, Memory, MemoryEntry, MemoryFilter
from claw_acp.core.clock import SYSTEM_CLOCK, local_day
from claw_acp.core.errors import ConfigError
from claw_acp.core.printable import plain_lines, printable
from claw_acp.core.value import replace
from claw_acp.memory.import_export import export_to, import_from
from claw_acp.memory.namespaces import USER, project_namespace, visible
from claw_acp.memory.opening import opened_memory
from claw_acp.memory.switch import MemorySwitch

_ALL: Final = 1_000_000
_SHOWN: Final = 100  # characters of a text in a list

Action: TypeAlias = Callable[[argparse.Namespace, Memory], Awaitable[int]]


def main(argv: Sequence[str]) -> int:
    """Run one of the subcommands."""
    options = _parser().parse_args(argv)
    if options.command in {"off", "on"}:
        return _switch(options)
    try:
        return anyio.run(partial(_run, ACTIONS[options.command], options))
    except OSError as error:
        raise ConfigError(f"{error.filename or 'the file'}: {error.strerror or error}") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="claw-acp memory",
        description="What agents remember: about you, in every project (user), and about each project, in it alone.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("list", help="what holds here: of this project, and of you")
    show.add_argument("--all", action="store_true", help="of all projects")
    show.add_argument("--superseded", action="store_true", help="also what was replaced")
    commands.add_parser("show", help="one memory whole").add_argument("memory", metavar="ID|KEY")
    edit = commands.add_parser("edit", help="give a memory another text")
    edit.add_argument("memory", metavar="ID|KEY")
    edit.add_argument("text", metavar="TEXT", help="the new text; - reads it from the input")
    commands.add_parser("forget", help="remove a memory for good").add_argument("memory", metavar="ID|KEY")
    export = commands.add_parser("export", help="write all into MEMORY.md and HISTORY.md")
    export.add_argument("directory", type=Path, metavar="DIRECTORY")
    commands.add_parser("import", help="take memories from such files; edited ones are changed").add_argument(
        "path", type=Path, metavar="DIRECTORY|FILE"
    )
    commands.add_parser("off", help="remember and recall nothing in this project")
    commands.add_parser("on", help="remember and recall again in this project")
    return parser


async def _run(action: Action, options: argparse.Namespace) -> int:
    async with opened_memory(settings_here(), locations_here(), clock=SYSTEM_CLOCK) as memory:
        return await action(options, memory)


def _switch(options: argparse.Namespace) -> int:
    namespace = project_namespace(Path.cwd())
    MemorySwitch(locations_here().memory_off_file).set_off(namespace, off=options.command == "off")
    state = "off: nothing is remembered or recalled here" if options.command == "off" else "on"
    print(f"Memory is {state} ({printable(namespace)}).")
    return 0


async def _list(options: argparse.Namespace, memory: Memory) -> int:
    here = project_namespace(Path.cwd())
    chosen = MemoryFilter(namespaces=() if options.all else visible((here, USER)), superseded=options.superseded)
    found = await memory.list(chosen, limit=_ALL)
    for entry in sorted(found, key=lambda entry: (entry.namespace, -entry.timestamp, entry.id)):
        print(_line(entry))
    if MemorySwitch(locations_here().memory_off_file).is_off(here):
        print("Memory is off in this project; `claw-acp memory on` switches it on.")
    print(f"{len(found)} in all." if found else "No memories here yet: agents keep them when you tell them something.")
    return 0


async def _show(options: argparse.Namespace, memory: Memory) -> int:
    entry = await _named(options.memory, memory)
    print(f"{entry.id}  {local_day(entry.timestamp)}  {entry.category}  by {entry.source}")
    print(f"{printable(entry.namespace)}: {printable(entry.key)}")
    if entry.superseded_by:
        print(f"superseded by {entry.superseded_by}")
    print(f"\n{plain_lines(entry.content)}")
    return 0


async def _edit(options: argparse.Namespace, memory: Memory) -> int:
    entry = await _named(options.memory, memory)
    text: str = sys.stdin.read() if options.text == "-" else options.text
    await memory.restore([replace(entry, content=text, source="person")])
    print(f"Changed {entry.id}.")
    return 0


async def _forget(options: argparse.Namespace, memory: Memory) -> int:
    entry = await _named(options.memory, memory)
    await memory.forget(entry.id)
    print(f"Forgot {printable(entry.key)} ({entry.id}).")
    return 0


async def _export(options: argparse.Namespace, memory: Memory) -> int:
    count = await export_to(options.directory, memory)
    print(f"{count} in all, in MEMORY.md and HISTORY.md of {options.directory}.")
    return 0


async def _import(options: argparse.Namespace, memory: Memory) -> int:
    outcome = await import_from(options.path, memory)
    print(f"{outcome.new} new, {outcome.changed} changed, {outcome.same} as they were.")
    return 0


async def _named(name: str, memory: Memory) -> MemoryEntry:
    """The memory with this id, or the one that has this key here.

    Raises:
        ConfigError: There is none, or more than one.
    """
    if found := await memory.get(name):
        return found
    namespaces = (USER, project_namespace(Path.cwd()))
    alike = await memory.list(MemoryFilter(namespaces=namespaces, key=name), limit=2)
    if len(alike) == 1:
        return alike[0]
    if alike:
        raise ConfigError(printable(f"more than one memory has the key {name}; give its id"))
    everything = await memory.list(replace(EVERYTHING, key=name), limit=1)
    where = "list --all` shows those of other projects" if everything else "list` shows those of this project and yours"
    raise ConfigError(f"there is no memory {printable(name)} here; `claw-acp memory {where}")


def _line(entry: MemoryEntry) -> str:
    text = printable(f"{entry.key}: {' '.join(entry.content.split())}")
    cut = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    marks = "".join(
        [" (replaced)" if entry.superseded_by else "", " (a stranger's text)" * (entry.source == "stranger")]
    )
    where = USER if entry.namespace == USER else printable(entry.namespace.removeprefix("project:"))
    return f"{entry.id}  {local_day(entry.timestamp)}  {where}  {cut}{marks}"


ACTIONS: Final[Mapping[str, Action]] = {
    "list": _list,
    "show": _show,
    "edit": _edit,
    "forget": _forget,
    "export": _export,
    "import": _import,
}
