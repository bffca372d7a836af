"""Requests that the offline assistant understands, as data."""

from typing import TypeAlias

from claw_acp.core.value import Value

TITLE_LIMIT = 60  # characters


class ListFiles(Value):
    """Show what is in a folder; None: the project's."""

    path: str | None = None


class FindFiles(Value):
    """Find files by a name pattern."""

    pattern: str


class ReadFile(Value):
    """Show a file, or say what is in it."""

    path: str
    explain: bool = False


class Search(Value):
    """Find text in files."""

    text: str
    path: str | None = None


class CreateFile(Value):
    """Write a new file, or a file anew."""

    path: str
    content: str


class Append(Value):
    """Put a text at the end of a file."""

    path: str
    content: str


class Replace(Value):
    """Replace a text wherever it is in a file."""

    path: str
    old: str
    new: str


class Run(Value):
    """Run a command; None: the one before, or the usual one for tests."""

    command: str | None = None


class Repair(Value):
    """Make a failing test pass; None: the command before, or the usual one."""

    command: str | None = None


class MakePlan(Value):
    """Publish a list of things to do."""

    entries: tuple[str, ...]


class Summarize(Value):
    """Say what the project is."""


class Help(Value):
    """Say what the assistant can do."""


class Conditional(Value):
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
