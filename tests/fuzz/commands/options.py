"""Which programs are installed, and what they offer, by their own help and manual."""

import gzip
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin")
BUILTINS = """
    . : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo
    enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf
    pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit
    umask unalias unset wait"""
HELP_SECONDS = 2

_OPTION = re.compile(r"(?<![\w-])(--[a-zA-Z][\w-]*|-[a-zA-Z0-9](?![\w])|-[a-z]{2,}[a-z0-9]*)(\[?=|[ ]<|[ ][A-Z]{2,})?")
_SUBCOMMAND = re.compile(r"^ {1,3}([a-z][\w-]+)(?: {2,}|$)", re.MULTILINE)


@cache
def programs() -> tuple[str, ...]:
    """Every program of this machine, and what bash has of its own."""
    found = {path.name for folder in map(Path, FOLDERS) if folder.is_dir() for path in folder.iterdir()}
    return tuple(sorted({*found, *BUILTINS.split()}))


@cache
def options(program: str, *, user: int) -> tuple[str, ...]:
    """The options of a program, those that take a value with a `=` behind; `program` may be `git log`."""
    found: dict[str, None] = {}
    for match in _OPTION.finditer(_help(program, user=user) + _manual(program)):
        found[match[1] + ("=" if match[2] else "")] = None
    return tuple(sorted(found))


@cache
def subcommands(program: str, *, user: int) -> tuple[str, ...]:
    """What may stand first behind a program such as git."""
    text = _said(["git", "help", "-a"], user=user) if program == "git" else _help(program, user=user)
    return tuple(sorted(set(_SUBCOMMAND.findall(text))))


def _help(program: str, *, user: int) -> str:
    words = program.split()
    if words[0] in BUILTINS.split():
        return _said(["bash", "-c", f"help -- '{words[0]}'"], user=user)
    return _said([*words, "-h" if words[0] == "git" else "--help"], user=user)


def _said(argv: Sequence[str], *, user: int) -> str:
    """What a program prints when it is asked as somebody without rights."""
    try:
        asked = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=HELP_SECONDS, cwd="/", check=False,
            env={"PATH": ":".join(FOLDERS), "HOME": "/", "COLUMNS": "200"}, user=user, group=user, extra_groups=[],
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (asked.stdout + asked.stderr)[:200_000].decode("utf-8", "replace")


def _manual(program: str) -> str:
    page = Path(f"/usr/share/man/man1/{program.replace(' ', '-')}.1.gz")
    try:
        return gzip.decompress(page.read_bytes()).decode("utf-8", "replace").replace("\\-", "-").replace("\\f", " ")
    except OSError:
        return ""
