"""The files in which a name stands.

A language server is shown them, since some know only the files that they have open, and others answer before they have
found all files of the project.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from claw_acp.contracts.code_servers import CodeServer
from claw_acp.contracts.tool import ToolContext
from claw_acp.core.errors import ToolError
from claw_acp.core.value import Value
from claw_acp.tools.search.disk_work import on_disk
from claw_acp.tools.search.ignore_rules import IgnoreRules
from claw_acp.tools.search.walk import Pulse, WalkStopped, walk

MOST_FILES: Final = 200
LARGEST: Final = 1_000_000  # bytes of a file


class Candidates(Value):
    """The files with a name, each with its present text.

    `complete`: these are all of them.
    """

    texts: Mapping[Path, str]
    complete: bool


async def files_with(name: str, *, server: CodeServer, context: ToolContext) -> Candidates:
    """The files of a server's kind in which a name stands, as far as they may be read."""

    def find(pulse: Pulse) -> tuple[list[Path], bool]:
        found: list[Path] = []
        rules = IgnoreRules.at(server.root, roots=context.workspace.roots)
        try:
            for entry in walk(str(server.root), rules=rules, pulse=pulse):
                path = Path(entry.path)
                if entry.kind == "file" and path.suffix in server.suffixes and _holds(path, name.encode()):
                    if len(found) == MOST_FILES:
                        return found, False
                    found.append(path)
        except WalkStopped:
            return found, False
        return found, True

    paths, complete = await on_disk(find, clock=context.clock)
    texts: dict[Path, str] = {}
    for path in paths:
        try:
            if context.may_read(path):
                texts[path] = await context.workspace.read_text(path)
        except ToolError:
            complete = False
    return Candidates(texts=texts, complete=complete)


def _holds(path: Path, name: bytes) -> bool:
    try:
        return path.stat().st_size <= LARGEST and name in path.read_bytes()
    except OSError:
        return False
