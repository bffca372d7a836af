"""`claw-acp trust`: shows the files of a project that have a say of their own, and trusts them as they stand."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from claw_acp.cli.current_settings import audit_here, locations_here
from claw_acp.cli.terminal.paint import Paint, columns
from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.core.clock import SYSTEM_CLOCK, iso_time
from claw_acp.core.errors import ConfigError
from claw_acp.core.printable import printable
from claw_acp.core.quantity import quantity
from claw_acp.registry.reference import Ref
from claw_acp.security.trust_question import trust_lines
from claw_acp.security.trust_store import TrustStore
from claw_acp.workspace.paths import session_root

Finder: TypeAlias = Callable[[Path], tuple[Sequence[ProjectFile], Sequence[str]]]
FINDERS: Final[Sequence[Ref[Finder]]] = (
    Ref("claw_acp.commands.prompt_folders:project_files"),
    Ref("claw_acp.skills.folders:project_files"),
    Ref("claw_acp.subagents.agent_folders:project_files"),
    Ref("claw_acp.hooks.files:project_files"),
)
"""For each kind of files: those of a project that need trust, and the problems of files that are none."""
_UNTRUSTED: Final = 3
"""The exit code where something is not trusted."""
_DESCRIPTION: Final = """\
The files of a project that have a say of their own: its prompt files, which speak to the model in your name. Each does
nothing until you trust its text; when that changes, you are asked again. What a project's .claw/config.toml says needs
no trust: it can only be stricter than your own settings. Its AGENTS.md is read as the project's words."""
_EPILOG: Final = """\
exit code: 0 all is trusted, 3 something is not

examples:
  claw-acp trust             show what is new or changed in this directory, and ask
  claw-acp trust --show      only show it
  claw-acp trust --yes       trust it without a question, as for a build server
"""


def main(argv: Sequence[str]) -> int:
    """Show, trust, list or revoke."""
    options = _parser().parse_args(argv)
    store = TrustStore(locations_here().trust_file)
    if options.list:
        return _list(store)
    if options.revoke:
        return _revoke(store, str(Path(options.path).resolve()))
    project = session_root(str(Path(options.path).absolute()))
    files: list[ProjectFile] = []
    for finder in FINDERS:
        found, troubles = finder.load()(project)
        files += found
        for trouble in troubles:
            print(f"left out: {trouble}", file=sys.stderr)
    unknown = [file for file in files if not store.trusts(file)]
    for file in files if options.show else unknown:
        print("\n".join([*trust_lines(file, store.known(file)), ""]))
    if options.show or not unknown:
        print(_summary(project, files, unknown))
        return _UNTRUSTED if unknown else 0
    if not options.yes and not _agreed(unknown):
        print("Nothing was trusted.")
        return _UNTRUSTED
    for file in unknown:
        facts = {"change": "trusted", "project": str(project), "file": file.path, "sha256": file.digest}
        audit_here().record("trust", facts)
    store.add(unknown, at=iso_time(SYSTEM_CLOCK.now()))
    print(f"You trust {quantity(len(unknown), 'file')} of {printable(str(project))} as shown.")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="claw-acp trust", description=_DESCRIPTION, epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("path", nargs="?", default=".", metavar="DIRECTORY", help="the project (default: this one)")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--show", action="store_true", help="print every such file, trusted or not")
    how.add_argument("--yes", action="store_true", help="trust without a question")
    how.add_argument("--list", action="store_true", help="the projects of which something is trusted")
    how.add_argument("--revoke", action="store_true", help="trust nothing of the project any more")
    return parser


def _summary(project: Path, files: Sequence[ProjectFile], unknown: Sequence[ProjectFile]) -> str:
    where = printable(str(project))
    if not files:
        return f"{where} has nothing that needs trust."
    return f"{quantity(len(files), 'file')} of {where}: {len(files) - len(unknown)} trusted, {len(unknown)} not."


def _agreed(unknown: Sequence[ProjectFile]) -> bool:
    """Ask on the terminal.

    Raises:
        ConfigError: There is none.
    """
    if not sys.stdin.isatty():
        raise ConfigError("there is no terminal to ask on; --yes trusts what was shown, --show only shows it")
    answer = input(f"Trust {quantity(len(unknown), 'file')} as shown? [y/N] ")
    return answer.strip().lower() in {"y", "yes"}


def _list(store: TrustStore) -> int:
    rows = [
        (printable(project), quantity(len(files), "file"), max(entry.at for entry in files.values())[:10])
        for project, files in store.projects().items()
        if files
    ]
    print("\n".join(columns([("PROJECT", "TRUSTED", "LAST"), *rows])) if rows else "You trust nothing of any project.")
    return 0


def _revoke(store: TrustStore, project: str) -> int:
    if project not in store.projects():
        raise ConfigError(f"you trust nothing of {printable(project)}; `claw-acp trust --list` shows what you trust")
    audit_here().record("trust", {"change": "revoked", "project": project})
    store.remove(project)
    print(f"You trust nothing of {Paint()(printable(project), 'bold')} any more.")
    return 0
