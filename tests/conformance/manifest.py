"""The rules of `rules/*.md`, and which tests say that they prove them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parent.parent
RULES = Path(__file__).parent / "rules"


class Rule(NamedTuple):
    """One row; `deviation` is the reason why it is not kept, or empty."""

    id: str
    level: str
    source: str
    text: str
    deviation: str
    file: str


class Proof(NamedTuple):
    """A test and the rules it names."""

    test: str
    rules: tuple[str, ...]


def rules() -> list[Rule]:
    """Every row of every table, in order."""
    found: list[Rule] = []
    for path in sorted(RULES.glob("*.md")):
        for line in path.read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
            if len(cells) == 5 and cells[0] not in {"id", "---"}:
                found.append(Rule(*cells, file=path.name))
    return found


@cache
def proofs() -> tuple[Proof, ...]:
    """Every test function that names a rule, and those of this folder that do not."""
    return tuple(_proofs())


def _proofs() -> Iterator[Proof]:
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if ".rule(" not in text and ".case(" not in text and path.parent.name != "conformance":
            continue
        tree = ast.parse(text)
        whole = tuple(rule for node in tree.body if _is_pytestmark(node) for rule in _named(node))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                own = tuple(rule for decorator in node.decorator_list for rule in _named(decorator))
                yield Proof(f"{path.relative_to(TESTS)}::{node.name}", (*whole, *own))


def _is_pytestmark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets
    )


def _named(node: ast.AST) -> Iterator[str]:
    """The rules that `pytest.mark.rule("...")` and `pytest.mark.case(1)` name anywhere inside."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            for argument in call.args:
                if call.func.attr == "rule" and isinstance(argument, ast.Constant):
                    yield str(argument.value)
                elif call.func.attr == "case" and isinstance(argument, ast.Constant):
                    yield f"case.{argument.value}"
