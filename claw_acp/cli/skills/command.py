"""`claw-acp skills list|show|new|check`: the skills for work in a directory."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from claw_acp.cli.current_settings import locations_here
from claw_acp.cli.skills.found import skills_of
from claw_acp.cli.terminal.paint import columns
from claw_acp.core.errors import ConfigError
from claw_acp.core.nearest import nearest
from claw_acp.core.printable import plain_lines, printable
from claw_acp.core.quantity import quantity
from claw_acp.skills.catalog import Entry
from claw_acp.skills.folders import PROJECT_FOLDERS
from claw_acp.skills.skill import FILE, LONGEST_NAME, NAME_PATTERN
from claw_acp.workspace.paths import session_root

_FAULTY = 1
_DESCRIPTION = """\
Skills are instructions for kinds of work, each in a folder with a SKILL.md: those of a project (.claw/skills,
.claude/skills, .agents/skills), yours, and ours. Models are told their names and read one when it fits; you start one
with /NAME. Those of a project count once you trust them: `claw-acp trust`.
"""
_EPILOG = """\
examples:
  claw-acp skills list
  claw-acp skills show commit
  claw-acp skills new deploy --description "Use when it goes live"
  claw-acp skills check
"""
_TEMPLATE = """\
---
name: {name}
description: {description}
---
1. What to do first, and how to tell that it worked.
2. ...

Never: ...
"""


def main(argv: Sequence[str]) -> int:
    """List, show, create or check skills."""
    options = _parser().parse_args(argv)
    directory = session_root(str(Path(options.cwd).absolute()))
    match options.command:
        case "list":
            return _list(directory)
        case "show":
            return _show(directory, options.name)
        case "new":
            return _new(directory, options.name, description=options.description, own=options.user)
        case _:
            return _check(directory)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="claw-acp skills", description=_DESCRIPTION, epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--cwd", metavar="DIR", default=".", help="the directory to work in (default: here)")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("list", help="list the skills, and why some cannot be used")
    commands.add_parser("show", help="print a skill").add_argument("name", metavar="NAME")
    new = commands.add_parser("new", help="create a skill")
    new.add_argument("name", metavar="NAME")
    new.add_argument("--description", metavar="TEXT", default="Use when ...", help="when to use it")
    new.add_argument("--user", action="store_true", help="yours, for all projects")
    commands.add_parser("check", help="say what is wrong with skills of the project and yours")
    return parser


def _list(directory: Path) -> int:
    catalog = skills_of(directory)
    rows = [(each.skill.name, each.skill.scope, each.state, each.skill.description) for each in catalog.entries]
    print("\n".join(columns([("SKILL", "FROM", "STATE", "DESCRIPTION"), *rows])))
    for trouble in catalog.troubles:
        print(f"no skill: {trouble}", file=sys.stderr)
    return 0


def _show(directory: Path, name: str) -> int:
    catalog = skills_of(directory)
    entry = catalog.find(name)
    if entry is None:
        meant = nearest(name, [each.skill.name for each in catalog.counting])
        hint = f'did you mean "{meant}"?' if meant else "`claw-acp skills list` names all"
        raise ConfigError(f'there is no skill "{printable(name)}"; {hint}')
    state = f" ({entry.state})" if entry.state else ""
    print(f"{printable(str(entry.skill.folder / FILE))}{state}\n")
    print(plain_lines(entry.skill.body))
    return 0


def _new(directory: Path, name: str, *, description: str, own: bool) -> int:
    if not re.fullmatch(NAME_PATTERN, name) or len(name) > LONGEST_NAME:
        raise ConfigError(f'"{printable(name)}" cannot be a name: small letters, digits and single hyphens, at most 64')
    folder = (locations_here().config_dir / "skills" if own else directory / PROJECT_FOLDERS[0]) / name
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(_TEMPLATE.format(name=name, description=" ".join(description.split())))
    except FileExistsError as error:
        raise ConfigError(f"{path} is there already") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from error
    print(f"Write the steps into {path}, then run `claw-acp skills check`.")
    return 0


def _check(directory: Path) -> int:
    catalog = skills_of(directory)
    checked = [entry for entry in catalog.entries if entry.skill.scope != "built-in"]
    for trouble in catalog.troubles:
        print(f"error: {trouble}")
    for entry in checked:
        for note in _notes(entry):
            print(f"note: {printable(str(entry.skill.folder / FILE))}: {note}")
    print(f"{quantity(len(checked), 'skill')}, {quantity(len(catalog.troubles), 'error')}")
    return _FAULTY if catalog.troubles else 0


def _notes(entry: Entry) -> Sequence[str]:
    long = ["it is longer than 500 lines; move tables and examples into files beside it"]
    return [*entry.skill.warnings, *([entry.state] if entry.state else ()), *(long if entry.skill.is_long else ())]
