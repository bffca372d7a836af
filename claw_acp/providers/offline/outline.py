"""Descriptions of a text file by its lines."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from pathlib import PurePosixPath

from claw_acp.core.quantity import quantity
from claw_acp.core.value import Value

_NUMBERED = re.compile(r"^ *\d+→")
_MORE = re.compile(r"^\[\S+ more line", re.MULTILINE)
_DEFINITION = re.compile(
    r"^(?P<indent>\s*)(?:export\s+|default\s+|pub(?:\([^)]*\))?\s+|public\s+|private\s+|static\s+|async\s+|abstract\s+)*"
    r"(?P<kind>class|def|function|func|fn|struct|enum|trait|interface|impl|type|module)\s+(?P<name>[\w.]+)"
)
_IMPORT = re.compile(r"^\s*(?:import|from|use|require|#include|package)\b")
_HEADING = re.compile(r"^#{1,3}\s+(?P<title>.+)$")
_LANGUAGES = {
    ".py": "Python", ".js": "JavaScript", ".ts": "TypeScript", ".rs": "Rust", ".go": "Go", ".c": "C", ".cpp": "C++",
    ".java": "Java", ".md": "Markdown", ".toml": "TOML", ".json": "JSON", ".yaml": "YAML", ".yml": "YAML",
    ".sh": "shell", ".html": "HTML", ".css": "CSS", ".txt": "text", ".lua": "Lua", ".rb": "Ruby",
}  # fmt: skip
NAMES_SHOWN = 12


class Outline(Value):
    """The parts of a text that characterize it."""

    lines: int
    imports: int
    definitions: tuple[str, ...]
    headings: tuple[str, ...]
    first_words: str


def language_of(path: str) -> str:
    """The language suggested by a file name, or an empty string."""
    return _LANGUAGES.get(PurePosixPath(path).suffix.lower(), "")


class FileText(Value):
    """A file as returned by the read tool, without line numbers; `whole` if nothing is missing."""

    text: str
    whole: bool


def file_text(result: str) -> FileText:
    """Remove the line numbers and notes from the read tool's output (`   12→text`, then notes in brackets)."""
    lines = result.split("\n")
    numbered = list(takewhile(_NUMBERED.match, lines))
    if not numbered:
        return FileText(text="", whole=True)
    notes = "\n".join(lines[len(numbered) :])
    text = "\n".join(_NUMBERED.sub("", line, count=1) for line in numbered)
    return FileText(text=text, whole=not _MORE.search(notes))


def outline(text: str) -> Outline:
    """The outline of `text`."""
    lines = text.strip("\n").split("\n")
    found = [match for line in lines if (match := _DEFINITION.match(line))]
    return Outline(
        lines=len(lines),
        imports=sum(1 for line in lines if _IMPORT.match(line)),
        definitions=tuple(f"{'  ' if match['indent'] else ''}{match['kind']} {match['name']}" for match in found),
        headings=tuple(match["title"] for line in lines if (match := _HEADING.match(line))),
        first_words=_first_words(lines),
    )


def explanation(path: str, text: str) -> str:
    """A description of a file in Markdown."""
    seen = outline(text)
    language = language_of(path)
    parts = [f"`{path}` is {f'a {language} file' if language else 'a file'} of {quantity(seen.lines, 'line')}."]
    if seen.first_words:
        parts.append(f"It begins by saying: “{seen.first_words}”")
    if language == "Markdown" and seen.headings:
        parts.append("Its headings: " + ", ".join(seen.headings[:NAMES_SHOWN]) + ".")
    if seen.imports:
        parts.append(f"It imports from {quantity(seen.imports, 'place')}.")
    if seen.definitions:
        names = [
            f"{'  ' if name.startswith('  ') else ''}- `{name.strip()}`" for name in seen.definitions[:NAMES_SHOWN]
        ]
        if len(seen.definitions) > NAMES_SHOWN:
            names.append(f"- … {len(seen.definitions) - NAMES_SHOWN} more")
        parts.append("\n".join(["It defines:", "", *names]))
    return "\n\n".join(parts)


def kinds_of_files(paths: Sequence[str]) -> str:
    """The number of files of each kind, most frequent first: `3 Python, 1 Markdown`."""
    counts = Counter(language_of(path) or "other" for path in paths)
    return ", ".join(f"{count} {kind}" for kind, count in counts.most_common())


def _first_words(lines: Sequence[str]) -> str:
    """The first sentence of a docstring, comment or paragraph."""
    for line in lines[:20]:
        if line.startswith("#!") or _HEADING.match(line):
            continue
        words = re.sub(r'^\s*(?:"""|\'\'\'|/\*\*?|\*|//+|#+)\s*', "", line).strip(" \"'*/")
        if words and words != line.strip():
            return words
        if words:
            return words if words[0].isupper() and " " in words and words[-1] in ".:" else ""
    return ""
