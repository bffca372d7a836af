"""The command lines of git that tools stand for.

A call is the line, for the policy, the sandbox, rules and checkpoints: `git_log` may do what `git log` may do, and a
person is asked about `git_commit` where `git commit` is asked about.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path

from claw_acp.contracts.tool import CallView, Invocation, ToolContext
from claw_acp.core.errors import InvalidArguments
from claw_acp.core.events import Location, ToolKind
from claw_acp.tools.display import shortened
from claw_acp.tools.shell.shell import CommandRun, ShellParameters

_MAX_TITLE = 120  # characters


def git_line(subcommand: str, *words: str, paths: Sequence[str] = ()) -> str:
    """A line for the shell: `git log -n 20 -- src`. Paths mean the files of that name, not patterns."""
    line = ["git", *(["--literal-pathspecs"] if paths else []), *subcommand.split(), *words]
    return shlex.join([*line, *(["--", *paths] if paths else [])])


def revision(text: str, *, name: str) -> str:
    """A name of a commit, or of a range, as an argument of git.

    Raises:
        InvalidArguments: It would be an option, or is no name.
    """
    if text.startswith("-") or not text.strip() or any(character.isspace() for character in text):
        raise InvalidArguments(f"`{name}` must be a commit, branch, tag or range such as main..HEAD, not {text!r}.")
    return text


def git_run(
    line: str, *, context: ToolContext, title: str = "", kind: ToolKind = "read", paths: Sequence[str] = ()
) -> Invocation:
    """The invocation of a line; `paths` are the files that it is about."""
    located = (context.workspace.locate(path) for path in paths if path)
    view = CallView(
        title=shortened(title or line, most=_MAX_TITLE),
        kind=kind,
        locations=tuple(Location(path=str(path)) for path in located if path != Path()),
    )
    return CommandRun(ShellParameters(command=line), context=context, view=view)
