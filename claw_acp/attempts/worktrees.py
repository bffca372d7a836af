"""Copies of a project as git worktrees: made, and removed without a trace. Everything here blocks."""

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Final

from claw_acp.attempts.halting import Halt
from claw_acp.attempts.repositories import Repository, run_git
from claw_acp.core.errors import ToolError

COPYING: Final = 300.0  # seconds for one copy of a project
ROOM: Final = 256 * 1024 * 1024  # bytes that must stay free

_IDENTITY: Final = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "claw-acp"), ("EMAIL", "claw-acp@localhost"))
}


def attempt_environment(marker: str) -> dict[str, str]:
    """The variables under which programs of an attempt run: by `marker` all that they tell git is known as theirs."""
    settings = (
        ("core.logAllRefUpdates", "always"),
        ("core.fsmonitor", "false"),
        ("gc.auto", "0"),
        ("maintenance.auto", "false"),
        ("commit.gpgSign", "false"),
    )
    inherited = os.environ.get("GIT_CONFIG_COUNT", "")
    first = int(inherited) if inherited.isascii() and inherited.isdecimal() and len(inherited) < 4 else 0
    named = {f"GIT_CONFIG_KEY_{number}": name for number, (name, _) in enumerate(settings, first)}
    values = {f"GIT_CONFIG_VALUE_{number}": value for number, (_, value) in enumerate(settings, first)}
    who = {"GIT_COMMITTER_NAME": "claw-acp attempt", "GIT_COMMITTER_EMAIL": marker}
    return {"GIT_CONFIG_COUNT": str(first + len(settings)), **named, **values, **who}


# ------------------------------------------------------------------ making


def copy_files(repositories: Sequence[Repository], base: Path, *, copies: int, halt: Halt) -> Sequence[str]:
    """Copy the files of a project to a new folder, for this many further copies; returns their paths.

    Raises:
        ToolError: A file cannot be read, or there is not enough room.
    """
    top = repositories[0].top
    paths = [path for repository in repositories for path in repository.paths()]
    size = sum(status.st_size for path in paths if (status := _status(top / path)) is not None)
    base.mkdir(parents=True, mode=0o700)
    free = shutil.disk_usage(base).free
    if size * (copies + 1) + ROOM > free:
        raise ToolError(f"{copies + 1} copies of the project take {size * (copies + 1):,} bytes; {free:,} are free")
    try:
        prepared = cache(partial(_prepared, top, base))
        return [path for path in paths if prepared(os.path.dirname(path)) and _copied(top, base, path, halt)]  # noqa: PTH120 - 10,000 of them
    except OSError as error:
        raise ToolError(f"{error.filename or 'the project'} cannot be copied: {error.strerror or error}") from error


def _prepared(top: Path, base: Path, directory: str) -> bool:
    """Make a directory of the copy; False when a link leads there: behind it are no files of the project."""
    above = [top / directory, *(top / directory).parents]
    if any(place.is_symlink() for place in above[: above.index(top)]):
        return False
    (base / directory).mkdir(parents=True, exist_ok=True)
    return True


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None


def _copied(top: Path, base: Path, path: str, halt: Halt) -> bool:
    """Copy a file or link; False when it is missing, or something else."""
    halt.check()
    source, target = f"{top}/{path}", f"{base}/{path}"
    try:
        status = os.lstat(source)
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
            return False
        shutil.copyfile(source, target, follow_symlinks=False)
    except FileNotFoundError:
        return False  # deleted, perhaps at this moment
    if stat.S_ISREG(status.st_mode):
        os.chmod(target, stat.S_IMODE(status.st_mode))  # noqa: PTH101
        os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    return True


def make_worktree(repositories: Sequence[Repository], target: Path, *, base: Path, halt: Halt) -> None:
    """Make a worktree of a project, and in it of its inner repositories, with the copied files.

    Each stands where its original stands, with the same index: what git says of the one it says of the other.

    Raises:
        ToolError: It cannot be made.
    """
    for repository in repositories:
        place = target / repository.inside
        commit = repository.head or _empty_commit(repository)
        run_git(repository.top, "worktree", "add", "--quiet", "--detach", "--no-checkout", str(place), commit)
        own = Path(run_git(place, "rev-parse", "--absolute-git-dir").rstrip("\n"))
        index = repository.directory / "index"
        if any(repository.directory.glob("sharedindex.*")):
            run_git(place, "read-tree", "HEAD")
        elif index.exists():
            shutil.copyfile(index, own / "index")
    ended = halt.run(["cp", "-a", f"{base}/.", str(target)], within=COPYING)
    if ended.code:
        raise ToolError(f"the project cannot be copied: {ended.stderr.decode('utf-8', 'replace').strip()[:300]}")


def _empty_commit(repository: Repository) -> str:
    tree = run_git(repository.top, "hash-object", "-w", "-t", "tree", os.devnull).strip()
    return run_git(repository.top, "commit-tree", tree, "-m", "empty", environment=_IDENTITY).strip()


# ------------------------------------------------------------------ removing


def forget_worktrees(common: Path, *, below: Path) -> None:
    """Remove what a repository knows of worktrees below a folder, whether or not they are there."""
    known = common / "worktrees"
    for entry in known.iterdir() if known.is_dir() else ():
        with suppress(OSError, UnicodeDecodeError):
            if Path((entry / "gitdir").read_text(encoding="utf-8").rstrip("\n")).is_relative_to(below):
                shutil.rmtree(entry)
    with suppress(OSError):
        known.rmdir()  # as git does with the last one


def take_back_refs(common: Path, *, marker: str) -> None:
    """Take back what programs of an attempt did to branches, tags and stashes that all worktrees share.

    Those that they made are removed, those that they moved return to where they were.

    Raises:
        ToolError: Git refuses.
    """
    mark = f" <{marker}> "
    logs = common / "logs" / "refs"
    for log in [path for path in logs.rglob("*") if path.is_file()] if logs.is_dir() else ():
        lines = log.read_text(encoding="utf-8", errors="surrogateescape").splitlines(keepends=True)
        others = [line for line in lines if mark not in line.partition("\t")[0]]
        if len(others) == len(lines):
            continue
        ref = str(log.relative_to(common / "logs"))
        if not others:
            run_git(common, "--git-dir=.", "update-ref", "-d", ref)
            with suppress(FileNotFoundError):
                log.unlink()
            continue
        if mark in lines[-1]:
            run_git(common, "--git-dir=.", "update-ref", ref, _before(lines, mark))
        _write(log, others)


def _before(lines: Sequence[str], mark: str) -> str:
    """The commit before the last run of marked lines."""
    first = len(lines)
    while first and mark in lines[first - 1]:
        first -= 1
    return lines[first].split(" ", 1)[0]


def _write(log: Path, lines: Sequence[str]) -> None:
    temporary = log.with_name(f"{log.name}.claw-acp")
    temporary.write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
    temporary.replace(log)


def stamps_of(folder: Path, paths: Sequence[str]) -> Mapping[str, tuple[int, ...]]:
    """The status of files, by path; one that is equal later stands for the same content."""
    return {path: stamp for path in paths if (stamp := stamp_of(folder / path)) is not None}


def stamp_of(path: Path) -> tuple[int, ...] | None:
    """The status of one file; None when it is missing."""
    status = _status(path)
    if status is None:
        return None
    return status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
