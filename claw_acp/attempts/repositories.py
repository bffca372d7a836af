"""The git repositories of a project and their files, as a person sees them. Everything here blocks."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from claw_acp.core.child_environment import without_keys
from claw_acp.core.environment import current_environment
from claw_acp.core.errors import ToolError
from claw_acp.core.value import Value
from claw_acp.process.blocking import BlockingChild
from claw_acp.process.outer_path import system_program
from claw_acp.security.read_only.git_environment import git_environment

WITHIN: Final = 60.0  # seconds for one run of git
MOST_OUTPUT: Final = 64 * 1024 * 1024  # bytes of a listing
MOST_FILES: Final = 100_000
MOST_REPOSITORIES: Final = 64

_GITLINK: Final = "160000"


class Repository(Value):
    """A work tree of git.

    Attributes:
        top: Where it is.
        inside: Its path in the outermost repository; empty for that one.
        directory: Its own part of the repository: index and HEAD.
        common: The part that its worktrees share.
        head: Its commit; empty before the first one.
        files: The tracked and untracked files that it does not ignore, by their path in it; some may be missing.
    """

    top: Path
    inside: str
    directory: Path
    common: Path
    head: str
    files: tuple[str, ...]

    def paths(self) -> Iterator[str]:
        """The files by their path in the outermost repository."""
        return (f"{self.inside}/{name}" if self.inside else name for name in self.files)


def run_git(folder: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
    """The output of git in a folder. It runs no hook and no other program of the repository.

    Raises:
        ToolError: It failed; the text says why.
    """
    inherited = {
        name: value for name, value in without_keys(current_environment()).items() if not name.startswith("GIT_")
    }
    variables = {**inherited, **git_environment(inherited), "GIT_ALLOW_PROTOCOL": "none", "LC_ALL": "C"}
    variables |= environment or {}
    try:
        child = BlockingChild(
            [system_program("git") or "git", "-C", str(folder), *arguments], env=variables, output_limit=MOST_OUTPUT
        )
        ended = child.finish(within=WITHIN)
    except FileNotFoundError as error:
        raise ToolError("git is not installed") from error
    except (OSError, ValueError, TimeoutError) as error:
        raise ToolError(f"git {arguments[0]} failed: {error or 'it took too long'}") from error
    if ended.code:
        told = ended.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ToolError(f"git {arguments[0]} failed: {told[-1] if told else f'exit code {ended.code}'}")
    return os.fsdecode(ended.stdout)


def project_repositories(folder: Path, *, left_out: Path | None = None) -> Sequence[Repository]:
    """The repository around a folder, then those inside it: submodules, and others that it does not ignore.

    Args:
        folder: The folder.
        left_out: A folder whose files do not belong to the project, wherever it is.

    Raises:
        ToolError: The folder is in none, or there is too much to copy.
    """
    try:
        top = Path(run_git(folder, "rev-parse", "--show-toplevel").rstrip("\n"))
    except ToolError as error:
        reason = "" if "not a git repository" in str(error) else f" ({error})"
        raise ToolError(
            f"attempts need a git repository, and {folder} is in none{reason}; `git init` makes one"
        ) from error
    found: list[Repository] = []
    _collect(top, "", found, left_out)
    if sum(len(repository.files) for repository in found) > MOST_FILES:
        raise ToolError(f"the project has more than {MOST_FILES:,} files; attempts would copy each of them")
    if not folder.resolve().is_relative_to(top.resolve()):
        raise ToolError(f"git takes {top} for the work tree of {folder}")
    here = folder.resolve().relative_to(top.resolve())
    if here.parts and not any(Path(path).is_relative_to(here) for each in found for path in each.paths()):
        raise ToolError(f"git has no file in {folder}, or ignores it, so attempts would start from nothing")
    return found


def _collect(top: Path, inside: str, found: list[Repository], left_out: Path | None) -> None:
    if len(found) >= MOST_REPOSITORIES:
        raise ToolError(f"there are more than {MOST_REPOSITORIES} repositories inside one another")
    without = f"{left_out.relative_to(top)}/" if left_out is not None and left_out.is_relative_to(top) else "\0"
    files, nested = _files(top, without=without)
    directory = Path(run_git(top, "rev-parse", "--absolute-git-dir").rstrip("\n"))
    common = Path(top, run_git(top, "rev-parse", "--git-common-dir").rstrip("\n")).resolve()
    try:
        head = run_git(top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").strip()
    except ToolError:
        head = ""  # no commit yet
    found.append(Repository(top=top, inside=inside, directory=directory, common=common, head=head, files=files))
    for name in nested:
        _collect(top / name, f"{inside}/{name}" if inside else name, found, left_out)


def _files(top: Path, *, without: str) -> tuple[tuple[str, ...], Sequence[str]]:
    """The files of a repository, and the repositories right inside it."""
    files: dict[str, None] = {}
    nested: dict[str, None] = {}
    for row in _rows(run_git(top, "ls-files", "-z", "--stage")):
        facts, _, name = row.partition("\t")
        (nested if facts.startswith(_GITLINK) else files)[name] = None
    for name in _rows(run_git(top, "ls-files", "-z", "--others", "--exclude-standard")):
        (nested if name.endswith("/") else files)[name.rstrip("/")] = None
    inner = (name for name in nested if not f"{name}/".startswith(without))
    return (
        tuple(name for name in files if not name.startswith(without)),
        [name for name in inner if os.path.lexists(top / name / ".git")],
    )


def _rows(output: str) -> Iterator[str]:
    return (row for row in output.split("\0") if row)
