"""The programs that a repository's own files could make git run, found without running git."""

import os
import re
import struct
from pathlib import Path
from typing import Final

from claw_acp.config.safe_read import read_plain_file
from claw_acp.security.read_only.git_index import entries, submodules

LARGEST_CONFIG: Final = 256 * 1024  # bytes
MOST_REFS: Final = 5_000
MOST_REPOSITORIES: Final = 64  # with those inside it

_SECTION = re.compile(r'\s*\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\]|\\.)*)")?\][ \t]*')
_SETTING = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?")
_IGNORED = re.compile(r"\s*(?:[#;].*)?")
_HARMLESS = re.compile(
    r"""core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol
        |safecrlf|abbrev|quotepath|sharedrepository|compression|bigfilethreshold|untrackedcache|preloadindex|commitgraph
        |protecthfs|protectntfs|hookspath|hidedotfiles|longpaths|trustctime|checkstat|commentchar|sparsecheckout|sparsecheckoutcone)
    |remote\.[^\n]*\.(url|pushurl|fetch|push|mirror|tagopt|prune|prunetags|gh-resolved)|remote\.pushdefault
    |branch\.[^\n]*|user\.(name|email|signingkey|useconfigonly)|submodule\.[^\n]*\.(url|active|branch)|submodule\.active
    |(pull|push|fetch|rebase|init|color|advice|gc|pack|receive|feature|maintenance|index|lfs|http|url|credential|transfer
        |column|rerere|tag|author|committer|i18n|alias|vscode-merge-base|github|gitlab|gitea|gerrit)\.[^\n]*
    |merge\.(ff|conflictstyle|renamelimit|stat|log)|commit\.(gpgsign|verbose)|status\.(showuntrackedfiles|short|branch)
    |log\.(date|decorate|abbrevcommit|follow)
    |diff\.(renames|noprefix|mnemonicprefix|algorithm|colormoved|context|renamelimit|indentheuristic|wserrorhighlight)
    |extensions\.worktreeconfig""",
    re.VERBOSE,
)
_LFS: Final = {
    "filter.lfs.clean": "git-lfs clean -- %f",
    "filter.lfs.smudge": "git-lfs smudge -- %f",
    "filter.lfs.process": "git-lfs filter-process",
    "filter.lfs.required": "true",
}
_PLAIN_HEAD = re.compile(r"(?:ref: refs/[^\s]+|[0-9a-f]{40}|[0-9a-f]{64})\n?")
_LINK = re.compile(r"gitdir: ([^\n]+)\n?")
_WORKTREE = re.compile(r"^\s*worktree\s*=\s*([^\n\"\\#;]*)$", re.MULTILINE | re.IGNORECASE)
_PARTS: Final = ("HEAD", "config", "config.worktree", "objects", "refs", "index", "packed-refs", "logs", "info")


def repository_doubt(directory: Path) -> str | None:
    """Why git may run other programs when it reads the repository around `directory`, or None.

    Its configuration may name programs (a file system monitor, converters for differences, filters), and so may that of
    its submodules. The directory that git chooses depends on more than is known here, so every one on the way up has to
    be plain. A link to a repository elsewhere is a doubt too, unless that one points back.
    """
    seen: set[Path] = set()
    try:
        doubts = (place_doubt(place, seen=seen) for place in (directory, *directory.parents))
        return next((doubt for doubt in doubts if doubt), None)
    except (OSError, ValueError, RecursionError, struct.error) as error:
        return f"the repository's files cannot be read ({error})"


def tracked_files(directory: Path) -> tuple[Path, tuple[str, ...]] | None:
    """The work tree around `directory` and the names in git's index of it; None when they cannot be read."""
    try:
        place = next((p for p in (directory, *directory.parents) if os.path.lexists(p / ".git" / "HEAD")), None)
        index = None if place is None else place / ".git" / "index"
        if place is None or index is None:
            return None
        return place, tuple(name for _, name in entries(index)) if index.exists() else ()
    except (OSError, ValueError, struct.error):
        return None


def place_doubt(place: Path, *, seen: set[Path]) -> str | None:
    """The same for the repository of exactly this directory; `seen` are those that were looked at.

    Raises:
        OSError, ValueError, struct.error: Its files cannot be read.
    """
    link = place / ".git"
    if link.is_symlink():
        return f"{link} is a link"
    if link.is_file():
        return _doubt(linked_repository(link), work_tree=place, seen=seen)
    if link.is_dir() and os.path.lexists(link / "HEAD"):  # without one it is none to git
        return _doubt(link, work_tree=place, seen=seen)
    parts = [name for name in ("HEAD", "objects", "refs", "commondir") if os.path.lexists(place / name)]
    if "HEAD" in parts and len(parts) > 1:
        return f"{place} is a bare repository, which may lie there to make git run something"
    return None


def _text(file: Path) -> str:
    """A small file in git's reading: a carriage return counts only before a line feed.

    Raises:
        OSError: It cannot be read, or is no file.
        ValueError: It is too long, or has another carriage return.
    """
    data = read_plain_file(file, limit=LARGEST_CONFIG + 1)
    if len(data) > LARGEST_CONFIG:
        raise ValueError(f"{file} is too long")
    text = data.decode().replace("\r\n", "\n")
    if "\r" in text:
        raise ValueError(f"{file} has a carriage return inside a line")
    return text


def linked_repository(link: Path) -> Path:
    """The repository that the file `.git` of a worktree or submodule leads to, which must name that in turn.

    Raises:
        OSError: A file cannot be read.
        ValueError: It is not such a file, or the repository belongs to another.
    """
    found = _LINK.fullmatch(_text(link))
    if found is None:
        raise ValueError(f"{link} is not a plain link to a repository")
    git = link.parent / found[1]
    back = git / "gitdir"
    named = [] if back.is_file() else _WORKTREE.findall(_text(git / "config"))
    if back.is_file():
        points = Path(_text(back).rstrip("\n"))
    elif len(named) == 1:
        points = git / named[0] / ".git"
    else:
        raise ValueError(f"{link} leads to a repository that does not name its owner")
    if points.resolve() != link.resolve():
        raise ValueError(f"{link} leads to a repository that does not belong to it")
    return git


def shared_repository(link: Path) -> Path:
    """The repository of the linked worktree that the file `.git` is of, and that itself knows that worktree.

    What is beside the worktree's own entry in it counts, and no file that names another place: whoever can write the
    worktree could make that lead anywhere.

    Raises:
        OSError: A file cannot be read.
        ValueError: It is no worktree of that repository.
    """
    entry = linked_repository(link).resolve()
    if entry.parent.name != "worktrees" or _text(entry / "commondir") != "../..\n":
        raise ValueError(f"{link} is not that of a linked worktree")
    return entry.parent.parent


def _doubt(git: Path, *, work_tree: Path, seen: set[Path]) -> str | None:
    seen.add(git.resolve())
    if len(seen) > MOST_REPOSITORIES:
        return "there are too many repositories inside one another"
    if odd := next((name for name in _PARTS if (git / name).is_symlink()), None):
        return f"{git / odd} is a link"
    if not _PLAIN_HEAD.fullmatch(_text(git / "HEAD")):
        return f"{git / 'HEAD'} is not plain"
    shared = git
    if os.path.lexists(git / "commondir"):
        if _text(git / "commondir") != "../..\n" or not (git / "gitdir").is_file():
            return f"{git / 'commondir'} leads to another repository"
        shared = git.parent.parent
    if os.path.lexists(shared / "objects" / "info" / "alternates") or _holds_links(shared / "refs"):
        return f"{shared} takes something from another repository"
    submodule = (work_tree / ".git").is_file() and shared == git
    for file, named in ((shared / "config", submodule), (git / "config.worktree", False)):
        if file.exists() and (doubt := _config_doubt(file, names_worktree=named)):
            return doubt
    return _submodules_doubt(git, work_tree=work_tree, seen=seen)


def _submodules_doubt(git: Path, *, work_tree: Path, seen: set[Path]) -> str | None:
    for name in submodules(git):
        inner = work_tree / name
        if os.path.realpath(inner / ".git") not in map(str, seen) and (doubt := place_doubt(inner, seen=seen)):
            return doubt
    return None


def _holds_links(refs: Path) -> bool:
    """Return whether there is a link below `refs`, or too many files to check."""
    seen = 0
    for place, folders, files in os.walk(refs):
        seen += len(folders) + len(files)
        if seen > MOST_REFS or any(Path(place, name).is_symlink() for name in (*folders, *files)):
            return True
    return False


def _config_doubt(file: Path, *, names_worktree: bool) -> str | None:
    section = ""
    for line in _text(file).split("\n"):
        if _IGNORED.fullmatch(line):
            continue
        if head := _SECTION.fullmatch(line):
            section = head[1].casefold() + ("" if head[2] is None else f".{head[2]}")
            continue
        setting = _SETTING.fullmatch(line)
        if setting is None or line.endswith("\\"):
            return f"{file} has a line that is not plain"
        name, value = f"{section}.{setting[1].casefold()}", (setting[2] or "").strip()
        worktree = names_worktree and name == "core.worktree"  # git writes it for every submodule
        if not (_HARMLESS.fullmatch(name) or _LFS.get(name) == value or worktree):
            return f"{file} sets {name}, which may make git run a program"
    return None
