"""The port through which tools ask language servers about code."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import Value


class CodeServer(Value):
    """A language server that can be asked about files of one kind.

    Attributes:
        name: Its program.
        root: The directory that it works in.
        suffixes: Those of the files that it knows.
        line: The command that starts it there.
        runs_code: Asking it would start it, and so run code of the project, which a person has not allowed yet.
        why: How it does, for people.
    """

    name: str
    root: Path
    suffixes: frozenset[str]
    line: str
    runs_code: bool = False
    why: str = ""


class CodeServers(ABC):
    """The language servers that a session can ask."""

    @abstractmethod
    def find(self, path: Path) -> CodeServer:
        """The server for a file.

        Raises:
            ToolError: The machine has none that can be used, or the file is none of the project's sources.
        """

    @abstractmethod
    async def ask(self, server: CodeServer, method: str, params: JsonObject, *, texts: Mapping[Path, str]) -> JsonValue:
        """The answer to a request of the Language Server Protocol, if these files held these texts.

        Raises:
            ToolError: It refused, failed, or did not answer in time; the text says which.
        """

    @abstractmethod
    async def problems(self, server: CodeServer, path: Path, text: str) -> str:
        """The problems in a file with this text, a line each; empty without any.

        Raises:
            ToolError: It failed, or did not answer in time.
        """
