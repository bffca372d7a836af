"""The quick checks that a project has of its own: how they are recognized, run and read."""

import os
import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from claw_acp.codeintel.changed_files import ChangedFile, Changes, DeletedFile
from claw_acp.codeintel.check_output import (
    CARGO,
    GO,
    GO_TEST,
    MYPY,
    PYRIGHT,
    PYTEST,
    RUFF,
    TSC,
    eslint_problems,
    pattern,
)
from claw_acp.codeintel.problem import Problem
from claw_acp.codeintel.server_table import C_FAMILY, OWN_PROGRAMS, TYPESCRIPT, uses_ruff
from claw_acp.config.safe_read import read_plain_file
from claw_acp.core.value import Value
from claw_acp.process.outer_path import outer_program

Reader: TypeAlias = Callable[[str, Path], list[Problem]]
Targets: TypeAlias = Callable[[Path, Sequence[Path]], Sequence[str]]

_LARGEST: Final = 1024 * 1024  # bytes of a file of settings
_MOST_LOOKED_AT: Final = 20_000  # directory entries, when tests are looked for


class CheckKind(Value):
    """A kind of check.

    Attributes:
        name: The program.
        arguments: Its first arguments.
        suffixes: The files whose change calls for it.
        wanted: Returns whether a project uses it.
        targets: Returns its last arguments for changed files; None: it checks the whole project.
        read: Reads its output.
    """

    name: str
    arguments: tuple[str, ...]
    suffixes: frozenset[str]
    wanted: Callable[[Path], bool]
    targets: Targets | None = None
    read: Reader


class Check(Value):
    """A check of what a turn has changed below a root; `line` is for a shell, and `line_before` for the old files."""

    kind: CheckKind
    root: Path
    line: str
    line_before: str

    @property
    def name(self) -> str:
        """The program and its first argument, such as `ruff check`."""
        return " ".join([self.kind.name, *self.kind.arguments[:1]])


def _has(*names: str, table: str = "", within: str = "pyproject.toml") -> Callable[[Path], bool]:
    """A test for a file with one of these names, or for a table in a file."""

    def found(root: Path) -> bool:
        try:
            if any(next(root.glob(name), None) is not None for name in names):
                return True
            return bool(table) and table.encode() in read_plain_file(root / within, limit=_LARGEST)
        except OSError:
            return False

    return found


def _files(root: Path, paths: Iterable[Path]) -> Sequence[str]:
    """The paths as arguments, of which none can pass for an option."""
    return sorted({f"./{path.relative_to(root)}" for path in paths})


def _tests_beside(root: Path, paths: Sequence[Path]) -> Sequence[str]:
    """The test files among these, and those that are named after the others."""
    names = {f"test_{path.stem}.py" for path in paths} | {f"{path.stem}_test.py" for path in paths}
    found = {path for path in paths if path.stem.startswith("test_") or path.stem.endswith("_test")}
    looked_at = 0
    for above, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in {"node_modules", "venv"}]
        looked_at += len(files)
        found |= {Path(above, name) for name in names.intersection(files)}
        if looked_at > _MOST_LOOKED_AT:
            break
    return _files(root, found)


def _go_tests(root: Path, paths: Sequence[Path]) -> Sequence[str]:
    """The packages of changed files that have tests."""
    folders = {path.parent for path in paths if next(path.parent.glob("*_test.go"), None) is not None}
    return _files(root, folders)


_PYTHON: Final = frozenset({".py", ".pyi"})
_SCRIPTS: Final = frozenset(TYPESCRIPT)

CHECKS: Final[Sequence[CheckKind]] = (
    CheckKind(
        name="ruff", arguments=("check", "--no-fix", "--output-format=concise"), suffixes=_PYTHON, wanted=uses_ruff,
        targets=_files, read=pattern("ruff", RUFF),
    ),
    CheckKind(
        name="basedpyright", arguments=(), suffixes=_PYTHON, wanted=_has(table="[tool.basedpyright"),
        read=pattern("basedpyright", PYRIGHT),
    ),
    CheckKind(
        name="pyright", arguments=(), suffixes=_PYTHON, wanted=_has("pyrightconfig.json", table="[tool.pyright"),
        read=pattern("pyright", PYRIGHT),
    ),
    CheckKind(
        name="mypy", arguments=("--no-error-summary", "--show-column-numbers", "--no-pretty", "--hide-error-context"),
        suffixes=_PYTHON, wanted=_has("mypy.ini", ".mypy.ini", table="[tool.mypy"), targets=_files,
        read=pattern("mypy", MYPY),
    ),
    CheckKind(
        name="pytest", arguments=("-q", "--no-header", "--tb=line", "-rfE", "-p", "no:cacheprovider"),
        suffixes=frozenset({".py"}), wanted=_has("pytest.ini", "conftest.py", "tests", table="[tool.pytest"),
        targets=_tests_beside, read=pattern("pytest", PYTEST),
    ),
    CheckKind(
        name="tsc", arguments=("--noEmit", "--pretty", "false"), suffixes=_SCRIPTS, wanted=_has("tsconfig.json"),
        read=pattern("tsc", TSC),
    ),
    CheckKind(
        name="eslint", arguments=("--format", "json"), suffixes=_SCRIPTS, wanted=_has("eslint.config.*", ".eslintrc*"),
        targets=_files, read=eslint_problems,
    ),
    CheckKind(
        name="cargo", arguments=("check", "--quiet", "--message-format=short"), suffixes=frozenset({".rs"}),
        wanted=_has("Cargo.toml"), read=pattern("cargo", CARGO),
    ),
    CheckKind(
        name="go", arguments=("vet", "./..."), suffixes=frozenset({".go"}), wanted=_has("go.mod"),
        read=pattern("go vet", GO),
    ),
    CheckKind(
        name="go", arguments=("test",), suffixes=frozenset({".go"}), wanted=_has("go.mod"), targets=_go_tests,
        read=pattern("go test", GO_TEST),
    ),
)  # fmt: skip
SUFFIXES: Final = frozenset(suffix for kind in CHECKS for suffix in kind.suffixes) | frozenset(C_FAMILY)


def checks_for(changes: Changes, *, roots: Sequence[Path]) -> Sequence[Check]:
    """The checks that a project has for its changed files, where their programs are found."""
    files = (*changes.files, *changes.deleted)
    checks: list[Check] = []
    for root in dict.fromkeys(file.root for file in files):
        for kind in CHECKS:
            concerned = [file for file in files if file.root == root and file.path.suffix in kind.suffixes]
            if concerned and kind.wanted(root) and (program := _program(kind.name, root=root, roots=roots)):
                check = _check(kind, root, program, concerned)
                checks += [] if check is None else [check]
    return checks


def _check(kind: CheckKind, root: Path, program: str, files: Sequence[ChangedFile | DeletedFile]) -> Check | None:
    words = [program, *kind.arguments]
    if kind.targets is None:
        return Check(kind=kind, root=root, line=shlex.join(words), line_before=shlex.join(words))
    now = kind.targets(root, [file.path for file in files if isinstance(file, ChangedFile)])
    old = kind.targets(root, [_old_path(file) for file in files if file.before is not None])
    before = shlex.join([*words, *old]) if old else ""
    return Check(kind=kind, root=root, line=shlex.join([*words, *now]), line_before=before) if now else None


def _old_path(file: ChangedFile | DeletedFile) -> Path:
    return file.origin or file.path if isinstance(file, ChangedFile) else file.path


def _program(name: str, *, root: Path, roots: Sequence[Path]) -> str:
    """The program as a command names it: that of the project, or one on the PATH; empty where there is none."""
    for place in OWN_PROGRAMS:
        if os.access(root / place / name, os.X_OK):
            return f"{place}/{name}"
    return name if outer_program(name, roots=roots) else ""
