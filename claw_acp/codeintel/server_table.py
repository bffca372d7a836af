"""The language servers that are used where a machine has them, and where they are found.

A server reads the configuration of a project, and some run code that it names. Those are started only where the policy
would let a command of the project run: see `runs_project_code`.
"""

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

from claw_acp.codeintel.problem import Severity
from claw_acp.config.safe_read import read_plain_file
from claw_acp.core.environment import current_environment
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import Value
from claw_acp.process.outer_path import outer_program

Request: TypeAlias = Literal["pull", "tsserver"]


def _anywhere(root: Path) -> bool:  # noqa: ARG001 - the same for all
    return True


def _no_settings(root: Path) -> JsonObject:  # noqa: ARG001 - the same for all
    return {}


class ServerKind(Value):
    """A kind of language server.

    Attributes:
        name: The program.
        arguments: Its arguments.
        languages: The language ids of the Language Server Protocol, by the suffix of a file.
        group: Of the kinds with the same name here, the first that a machine has is used.
        runs_project_code: It runs code that the project names.
        why: How it does, for people.
        least: The least severe problems that count.
        navigates: It answers questions about the code: definitions, references, names.
        tells_what_it_read: It publishes the problems of each file that it is shown, also without any, when it has read
            it.
        request: How it is asked for problems; without an answer, what it publishes is waited for.
        wanted: Returns whether a project uses it.
        settings: The settings it may ask for, by section.
    """

    name: str
    arguments: tuple[str, ...] = ()
    languages: Mapping[str, str]
    group: str
    runs_project_code: bool = False
    why: str = ""
    least: Severity = "error"
    navigates: bool = True
    tells_what_it_read: bool = False
    request: Request = "pull"
    wanted: Callable[[Path], bool] = _anywhere
    settings: Callable[[Path], JsonObject] = _no_settings


class FoundServer(Value):
    """A language server on this machine.

    Attributes:
        kind: Its kind.
        program: The program.
        line: The command that starts it in the root, for people and rules.
        runs_project_code: Using it runs code of the project.
    """

    kind: ServerKind
    program: Path
    line: str
    runs_project_code: bool


def uses_ruff(root: Path) -> bool:
    """Return whether a project has settings for ruff."""
    try:
        if any((root / name).is_file() for name in ("ruff.toml", ".ruff.toml")):
            return True
        return b"[tool.ruff" in read_plain_file(root / "pyproject.toml", limit=_LARGEST)
    except OSError:
        return False


def _python_settings(root: Path) -> JsonObject:
    """The packages of the project's own environment, as paths: its interpreter is not to be run."""
    packages = sorted(
        str(path) for name in (".venv", "venv") for path in root.glob(f"{name}/lib/python*/site-packages")
    )
    analysis: JsonObject = {"extraPaths": packages, "diagnosticMode": "openFilesOnly"}
    return {"python": {"analysis": analysis}, "python.analysis": analysis, "basedpyright.analysis": analysis}


_LARGEST: Final = 1024 * 1024  # bytes of a file of settings
_PYTHON: Final = {".py": "python", ".pyi": "python"}
C_FAMILY: Final = {
    ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".m": "objective-c",
}  # fmt: skip
TYPESCRIPT: Final = {
    ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact",
    ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact",
}  # fmt: skip

OWN_PROGRAMS: Final = (".venv/bin", "venv/bin", "node_modules/.bin")
"""Where a project has programs of its own."""

KINDS: Final[Sequence[ServerKind]] = (
    ServerKind(
        name="basedpyright-langserver", arguments=("--stdio",), languages=_PYTHON, group="Python types",
        settings=_python_settings,
    ),
    ServerKind(
        name="pyright-langserver", arguments=("--stdio",), languages=_PYTHON, group="Python types",
        settings=_python_settings,
    ),
    ServerKind(
        name="ruff", arguments=("server",), languages=_PYTHON, group="Python rules", least="warning", wanted=uses_ruff,
        navigates=False,
    ),
    ServerKind(
        name="typescript-language-server", arguments=("--stdio",), languages=TYPESCRIPT, group="TypeScript",
        runs_project_code=True, why="it loads TypeScript, and plugins that tsconfig.json names, from the project",
        request="tsserver",
    ),
    ServerKind(
        name="clangd", arguments=("--background-index=false",), languages=C_FAMILY, group="C", least="warning",
        tells_what_it_read=True,
    ),
    ServerKind(
        name="gopls", languages={".go": "go"}, group="Go", runs_project_code=True,
        why="it runs `go list`, which may fetch modules and start a C compiler",
    ),
    ServerKind(
        name="rust-analyzer", languages={".rs": "rust"}, group="Rust", runs_project_code=True,
        why="it runs the build scripts and macros of the project",
    ),
)  # fmt: skip
"""Pyright asks the `python3` of the PATH for its packages, with the current directory removed from its search path, and
runs no interpreter of the project. Clangd starts no compiler, loads no plugin, and obeys no remote index of a project.
Ruff reads settings only."""


def found_servers(suffix: str, *, root: Path, roots: Sequence[Path]) -> Iterator[FoundServer]:
    """The servers on this machine for files of a suffix below `root`, at most one of each group."""
    groups = set[str]()
    for kind in KINDS:
        if suffix in kind.languages and kind.group not in groups and kind.wanted(root):
            found = _found(kind, root=root, roots=roots)
            if found is not None:
                groups.add(kind.group)
                yield found


def _found(kind: ServerKind, *, root: Path, roots: Sequence[Path]) -> FoundServer | None:
    name = outer_program(kind.name, roots=roots)
    if name is not None and not _is_missing_component(Path(name)):
        line = shlex.join([kind.name, *kind.arguments])
        return FoundServer(kind=kind, program=Path(name), line=line, runs_project_code=kind.runs_project_code)
    for place in OWN_PROGRAMS:
        own = root / place / kind.name
        if os.access(own, os.X_OK):
            line = shlex.join([f"{place}/{kind.name}", *kind.arguments])
            return FoundServer(kind=kind, program=own, line=line, runs_project_code=True)
    return None


def _is_missing_component(program: Path) -> bool:
    """Return whether a program of rustup stands for one that was never installed."""
    try:
        if not program.samefile(program.with_name("rustup")):
            return False
    except OSError:
        return False
    home = Path(current_environment().get("RUSTUP_HOME") or Path.home() / ".rustup")
    return next(home.glob(f"toolchains/*/bin/{program.name}"), None) is None
