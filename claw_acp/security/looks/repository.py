"""What a repository's own files could make git run, read without running git."""

import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

LARGEST_CONFIG: Final = 256 * 1024  # bytes
LARGEST_INDEX: Final = 4 * 1024 * 1024  # bytes
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
    |extensions\.(objectformat|worktreeconfig|refstorage)""",
    re.VERBOSE,
)
_LFS: Final = {
    "filter.lfs.clean": "git-lfs clean -- %f",
    "filter.lfs.smudge": "git-lfs smudge -- %f",
    "filter.lfs.process": "git-lfs filter-process",
    "filter.lfs.required": "true",
}
_PLAIN_HEAD = re.compile(r"(?:ref: refs/[^\s]+|[0-9a-f]{40}|[0-9a-f]{64})\n?")
_PLAIN_NAME = re.compile(r"([\w./-]+)\n?", re.ASCII)
_LINK = re.compile(r"gitdir: ([^\n]+)\n?")
_WORKTREE = re.compile(r"^\s*worktree = ([^\n\"\\#;]+)$", re.MULTILINE)
_GITLINK: Final = 0o160000


def repository_doubt(directory: Path) -> str | None:
    """Why git may run other programs when it looks at the repository around `directory`, or None.

    Its configuration may name programs (a file system monitor, converters for differences, filters, hooks), and so may
    that of the repositories that lie in it as submodules. A link to a repository elsewhere is a doubt too, unless that
    one points back.
    """
    try:
        found = _git_directory(directory)
        if isinstance(found, str):
            return found
        return None if found is None else _doubt(found[0], work_tree=found[1], seen=set())
    except (OSError, ValueError, struct.error) as error:
        return f"the repository's files cannot be read ({error})"


def tracked_files(directory: Path) -> tuple[Path, tuple[str, ...]] | None:
    """The work tree around `directory` and the names in git's index of it; None when they cannot be read."""
    try:
        found = _git_directory(directory)
        if found is None or isinstance(found, str):
            return None
        index = found[0] / "index"
        return found[1], tuple(name for _, name in _entries(index)) if index.exists() else ()
    except (OSError, ValueError, struct.error):
        return None


def _git_directory(directory: Path) -> tuple[Path, Path] | str | None:
    """Git's directory and the work tree around `directory`; a text where git would take something unusual for one."""
    for place in (directory, *directory.parents):
        link = place / ".git"
        if link.is_symlink():
            return f"{link} is a link"
        if link.is_dir() and os.path.lexists(link / "HEAD"):  # without one git looks further up
            whole = _PLAIN_HEAD.fullmatch(_text(link / "HEAD")) and all(
                (link / n).is_dir() for n in ("objects", "refs")
            )
            return (link, place) if whole else f"{link} is not a plain repository"
        if link.is_file():
            return _linked(link), place
        if (place / "HEAD").exists() and (place / "objects").exists() and (place / "refs").exists():
            return f"{place} is a bare repository, which may lie there to make git run something"
    return None


def _text(file: Path) -> str:
    """A small file as git reads it: a carriage return counts only before a line feed.

    Raises:
        ValueError: It is too long, or has another carriage return.
    """
    if file.stat().st_size > LARGEST_CONFIG:
        raise ValueError(f"{file} is too long")
    text = file.read_bytes().decode().replace("\r\n", "\n")
    if "\r" in text:
        raise ValueError(f"{file} has a carriage return inside a line")
    return text


def _linked(link: Path) -> Path:
    found = _LINK.fullmatch(_text(link))
    if found is None:
        raise ValueError(f"{link} is not a plain link to a repository")
    git = link.parent / found[1]
    back = git / "gitdir"
    worktree = _WORKTREE.search(_text(git / "config")) if not back.is_file() else None
    points = Path(_text(back).rstrip("\n")) if back.is_file() else worktree and git / worktree[1] / ".git"
    if not points or points.resolve() != link.resolve():
        raise ValueError(f"{link} leads to a repository that does not belong to it")
    return git


def _doubt(git: Path, *, work_tree: Path, seen: set[Path]) -> str | None:
    nested, shared = bool(seen), git
    seen.add(git.resolve())
    if len(seen) > MOST_REPOSITORIES:
        return "there are too many repositories inside one another"
    if (git / "commondir").is_file():
        found = _PLAIN_NAME.fullmatch(_text(git / "commondir"))
        if found is None:
            return f"{git / 'commondir'} is not plain"
        shared = git / found[1]
    for file in (shared / "config", git / "config.worktree"):
        if file.exists() and (doubt := _config_doubt(file, linked=nested or work_tree / ".git" != git)):
            return doubt
    for name in _submodules(git):
        inner = _git_directory(work_tree / name) if (work_tree / name / ".git").exists() else None
        if isinstance(inner, str):
            return inner
        if inner is None or inner[0].resolve() in seen:
            continue
        if doubt := _doubt(inner[0], work_tree=inner[1], seen=seen):
            return doubt
    return None


def _config_doubt(file: Path, *, linked: bool) -> str | None:
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
        worktree = linked and name == "core.worktree"  # git writes it for every submodule
        if not (_HARMLESS.fullmatch(name) or _LFS.get(name) == value or worktree):
            return f"{file} sets {name}, which may make git run a program"
    return None


def _submodules(git: Path) -> Iterator[str]:
    """Directories that the index names as repositories of their own.

    Raises:
        ValueError: The index cannot be read as far as is needed.
    """
    index = git / "index"
    if not index.exists():
        return
    if any(git.glob("sharedindex.*")):
        raise ValueError("a split index")
    data = _index_bytes(index)
    if struct.pack(">I", _GITLINK) in data:  # else it names none, and need not be read
        yield from (name for mode, name in _entries(index) if mode == _GITLINK)


def _index_bytes(index: Path) -> bytes:
    if index.stat().st_size > LARGEST_INDEX:
        raise ValueError("an index that is too large")
    return index.read_bytes()


def _entries(index: Path) -> Iterator[tuple[int, str]]:
    """Mode and name of every entry of an index of version 2 or 3 (git's `index-format`)."""
    data = _index_bytes(index)
    signature, version, count = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version not in {2, 3}:
        raise ValueError("an index of another version")
    width = 32 if _uses_sha256(index.parent) else 20
    position = 12
    for _ in range(count):
        (mode,) = struct.unpack_from(">I", data, position + 24)
        (flags,) = struct.unpack_from(">H", data, position + 40 + width)
        start = position + 42 + width + (2 if flags & 0x4000 else 0)
        end = data.index(b"\0", start)
        yield mode, data[start:end].decode("utf-8", "surrogateescape")
        position += (end - position + 8) // 8 * 8


def _uses_sha256(git: Path) -> bool:
    config = git / "config"
    return config.exists() and "sha256" in _text(config).casefold()
