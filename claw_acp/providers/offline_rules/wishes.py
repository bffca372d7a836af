"""What people can ask the offline assistant, as data."""

from dataclasses import dataclass
from typing import TypeAlias

TITLE_LIMIT = 60  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFiles:
    """Show what is in a folder; None: the project's."""

    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FindFiles:
    """Find files by a name pattern."""

    pattern: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """Show a file, or say what is in it."""

    path: str
    explain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Find text in files."""

    text: str
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateFile:
    """Write a new file, or a file anew."""

    path: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """Put a text at the end of a file."""

    path: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Replace:
    """Replace a text wherever it is in a file."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Run a command; None: the one before, or the usual one for tests."""

    command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """Make a failing test pass; None: the command before, or the usual one."""

    command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MakePlan:
    """Publish a list of things to do."""

    entries: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarize:
    """Say what the project is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Help:
    """Say what the assistant can do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditional:
    """Something to do only if the last command failed."""

    wish: "Wish"


Wish: TypeAlias = (
    ListFiles
    | FindFiles
    | ReadFile
    | Search
    | CreateFile
    | Append
    | Replace
    | Run
    | Repair
    | MakePlan
    | Summarize
    | Help
    | Conditional
)


def describe(wish: Wish) -> str:
    """A wish as one step of a plan."""
    match wish:
        case ListFiles(path=path):
            return f"List the files in {path}" if path else "List the files"
        case FindFiles(pattern=pattern):
            return f"Find files named {pattern}"
        case ReadFile(path=path, explain=explain):
            return f"Explain {path}" if explain else f"Read {path}"
        case Search(text=text):
            return f"Search for “{shortened(text)}”"
        case CreateFile(path=path):
            return f"Create {path}"
        case Append(path=path):
            return f"Append to {path}"
        case Replace(path=path, old=old, new=new):
            return f"Replace “{shortened(old)}” by “{shortened(new)}” in {path}"
        case _:
            return _describe_other(wish)


def shortened(text: str) -> str:
    """The first line, or as much of it as fits in a title."""
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= TITLE_LIMIT else f"{line[: TITLE_LIMIT - 1]}…"


def _describe_other(wish: Run | Repair | MakePlan | Summarize | Help | Conditional) -> str:
    match wish:
        case Run(command=command):
            return f"Run {shortened(command)}" if command else "Run the command again"
        case Repair():
            return "Repair what the test found"
        case MakePlan():
            return "Make the plan"
        case Summarize():
            return "Summarize the project"
        case Help():
            return "Say what I can do"
        case Conditional(wish=then):
            return f"{describe(then)}, if that failed"
