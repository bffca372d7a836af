"""The house rules that no other tool checks."""

import ast
import re
import tomllib
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import claw_acp
from claw_acp.acp.boot import COMMAND_LINE, GUIDE, SERVER
from claw_acp.acp.v1 import methods as v1
from claw_acp.acp.v2 import methods as v2
from claw_acp.registry.reference import Ref

PACKAGE = Path(claw_acp.__file__).parent
ROOT = PACKAGE.parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
LAYERS = next(
    contract["layers"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    if contract["type"] == "layers"
)
REFERENCE = re.compile(r"^claw_acp(\.\w+)+(:\w+)?$")
METHODS = (*v1.REQUESTS.values(), *v1.NOTIFICATIONS.values(), *v2.REQUESTS.values(), *v2.NOTIFICATIONS.values())
BOOT = PACKAGE / "acp" / "boot.py"  # the console script: it alone hands over to the command line, which is above it
KINDS = ("tools", "tools_on_demand", "commands", "providers")
EXTENSIONS = [point for kind in KINDS for point in entry_points(group=f"claw_acp.{kind}")]


def test_no_source_file_is_longer_than_400_lines() -> None:
    too_long = {str(path.relative_to(ROOT)): count for path in SOURCES if (count := len(_lines(path))) > 400}
    assert not too_long


def test_no_function_is_longer_than_40_lines() -> None:
    too_long: dict[str, int] = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                size = (node.end_lineno or 0) - node.lineno + 1 - _docstring_lines(node)
                if size > 40:
                    too_long[f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"] = size
    assert not too_long


def test_no_import_hides_in_a_function() -> None:
    hidden = [
        f"{path.relative_to(ROOT)}:{inner.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    ]
    assert not hidden


def test_string_references_load_and_point_down_only() -> None:
    references = [
        (path, node.value)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and REFERENCE.match(node.value)
    ]
    assert references
    for path, text in references:
        Ref[object](text).load() if ":" in text else import_module(text)
        if path != BOOT:
            assert _layer(text.split(".")[1]) >= _layer(path.relative_to(PACKAGE).parts[0]), f"{path}: {text}"


def test_every_method_and_door_has_a_handler() -> None:
    for text in (*METHODS, COMMAND_LINE, GUIDE, SERVER):
        assert callable(Ref[object](text).load())


@pytest.mark.parametrize("point", EXTENSIONS, ids=lambda point: f"{point.group}:{point.name}")
def test_every_entry_point_loads(point: "object") -> None:
    assert callable(point.load())  # type: ignore[attr-defined]


def test_only_the_process_room_starts_programs() -> None:
    starts = re.compile(
        r"\b(?:open_process|run_process|create_subprocess_\w+|Popen|(?:os|subprocess)\.(?:fork\w*|posix_spawn\w*|spawn\w+"
        r"|exec\w+|system|popen|run|call|check_call|check_output|getoutput))\("
        r"|from subprocess import .*\brun\b"
    )
    found = {str(path.relative_to(PACKAGE)) for path in SOURCES if starts.search(path.read_text(encoding="utf-8"))}
    own_programs = {  # these run in a process of their own, and import nothing of ours
        "workspace/run_encoded.py",
        "sandbox/container/keeper.py",
        "sandbox/landlock/launcher.py",
        "sandbox/network_stage.py",
    }
    rooms = {f"process/{name}.py" for name in ("blocking", "child_process", "own_program", "watchdog")}
    assert found == rooms | own_programs


def test_only_the_pipeline_prepares_tool_calls() -> None:
    callers = [
        str(path.relative_to(PACKAGE))
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "prepare"
    ]
    assert callers == [
        "agent/tool_runner.py",
        "runtime/deferred_tool.py",
    ]  # a tool, which passes on the pipeline's call


def test_nothing_names_a_place_of_one_machine() -> None:
    suspicious = re.compile(re.escape(str(ROOT)))
    tracked = [*SOURCES, *ROOT.glob("*.toml"), *ROOT.glob("*.md")]
    assert not [str(path) for path in tracked if suspicious.search(path.read_text(encoding="utf-8"))]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return (first.end_lineno or 0) - first.lineno + 1
    return 0


def _layer(package: str) -> int:
    return next(index for index, names in enumerate(LAYERS) if package in re.findall(r"\w+", names))
