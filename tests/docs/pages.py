"""The pages people read, taken apart: fenced blocks, headings, links."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
EDITORS = ("zed", "vscode", "neovim", "jetbrains", "emacs")
SETTINGS = tuple(ROOT / "editor-clients" / name / "README.md" for name in EDITORS)
PAGES = (
    README,
    ROOT / "CHANGELOG.md",
    ROOT / "editor-clients" / "README.md",
    *SETTINGS,
    ROOT / "protocol-schemas" / "README.md",
    *sorted((ROOT / ".github" / "decisions").glob("*.md")),
)

_FENCED = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^(?P<level>#+) (?P<text>.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: where it stands, what it is, what is in it."""

    page: Path
    language: str
    body: str

    def __str__(self) -> str:
        first = self.body.strip().partition("\n")[0]
        return f"{self.page.relative_to(ROOT)}: {first}"


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(language: str, *pages: Path) -> list[Block]:
    return [
        Block(page, language, found["body"])
        for page in pages or PAGES
        for found in _FENCED.finditer(text_of(page))
        if found["language"] == language
    ]


def prose_of(page: Path) -> str:
    """The page without its fenced blocks."""
    return _FENCED.sub("", text_of(page))


def links(page: Path) -> Iterator[str]:
    return (found["target"] for found in _LINK.finditer(prose_of(page)))


def anchors(page: Path) -> set[str]:
    """The anchors GitHub gives to the headings of a page."""
    names = (found["text"].lower() for found in _HEADING.finditer(prose_of(page)))
    return {re.sub(r"[^\w\- ]", "", name).replace(" ", "-") for name in names}


def section(page: Path, heading: str) -> str:
    """What stands below a heading of level 2, blocks included."""
    _, _, rest = text_of(page).partition(f"\n## {heading}\n")
    assert rest, f"{page.name} has no section {heading!r}"
    return rest.partition("\n## ")[0]


def first_cells(table_in: str) -> list[str]:
    """The code at the beginning of each row of the tables in a text."""
    return re.findall(r"^\| `([^`]+)`", table_in, re.MULTILINE)


def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
