"""The requests that the offline assistant knows, as data."""

from typing import TypeAlias

from claw_acp.core.value import Value

TITLE_LIMIT = 60  # characters


class ListFiles(Value):
    """List a folder; None: the project's."""

    path: str | None = None


class FindFiles(Value):
    """Find files by a name pattern."""

    pattern: str


class ReadFile(Value):
    """Show or describe a file."""

    path: str
    explain: bool = False


class Search(Value):
    """Find text in files."""

    text: str
    path: str | None = None


class CreateFile(Value):
    """Create or replace a file."""

    path: str
    content: str


class Append(Value):
    """Add a text at the end of a file."""

    path: str
    content: str


class Replace(Value):
    """Replace every occurrence of a text in a file."""

    path: str
    old: str
    new: str


class Run(Value):
    """Run a command; None: the previous one, or the usual one for tests."""

    command: str | None = None


class Repair(Value):
    """Make a failing test pass; None: the previous command, or the usual one for tests."""

    command: str | None = None


class MakePlan(Value):
    """Publish a plan."""

    entries: tuple[str, ...]


class Summarize(Value):
    """Describe the project."""


class Help(Value):
    """Describe what the assistant can do."""


class Conditional(Value):
    """A wish to carry out only if the last command failed."""

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
    """The first line, cut to the length of a title."""
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
