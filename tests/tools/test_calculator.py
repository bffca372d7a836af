"""Calculating expressions."""

import pytest

from claw_acp.core.errors import ToolError
from claw_acp.tools.data.calculator import Calculator
from tests.support.tool_bench import Bench

calculator = Calculator()


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("1.1 + 2.2", "3.3"),
        ("2 ^ 10 // 3 % 100", "41"),
        ("3 ** 40", "12157665459056928801"),
        ("1 / 3", "1/3 ≈ 0.3333333333333333"),
        ("-1 / 8", "-0.125"),
        ("sqrt(2)", "1.4142135623730951"),
        ("round(2.675, 2) + max(1, 2, floor(3.7))", "5.68"),
        ("log(8, 2)", "3.0"),
        ("7.0 // 2", "3"),
        ("0 ** 9 ** 5", "0"),
    ],
)
async def test_decimal_numbers_are_exact(bench: Bench, expression: str, shown: str) -> None:
    assert await bench.text(calculator, expression=expression) == shown


async def test_a_result_may_have_thousands_of_digits(bench: Bench) -> None:
    text = await bench.text(calculator, expression="factorial(1600) + 1")
    assert (len(text), text[-3:]) == (4434, "001")


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("9 ** 9 ** 9", "too large"),
        ("(0.1 ** 9999) ** 9999", "too large"),
        ("1e400", "too large"),
        ("exp(1000)", "no value"),
        ("factorial(10 ** 6)", "from 0 to 2,000"),
        ("factorial(sqrt(2))", "whole number"),
        ("(-8) ** 0.5", "not real"),
        ("0 ** -1", "divides by zero"),
        ("sqrt(-1)", "no value"),
        ("round(1, 10 ** 9)", "at most 300"),
        ("min()", "takes 1 to 100 numbers, not 0"),
        ("__import__('os')", "cannot be calculated"),
        ("(1).real", "cannot be calculated"),
        ("True + 1", "cannot be calculated"),
        ("[1][0]", "cannot be calculated"),
        ("'a' * 10 ** 9", "cannot be calculated"),
        ("1 +", "no expression"),
        ("(" * 900 + "1" + ")" * 900, "no expression"),
        ("-" * 500 + "1", "nested more than 100"),
    ],
)
async def test_what_cannot_be_calculated_is_refused_with_the_reason(bench: Bench, expression: str, reason: str) -> None:
    with pytest.raises(ToolError, match=reason):
        await bench.call(calculator, expression=expression)
