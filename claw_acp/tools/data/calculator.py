"""Calculating an expression exactly."""

from fractions import Fraction
from typing import Final

from anyio import to_thread

from claw_acp.contracts.tool import CallView, Invocation, ToolContext, ToolResult
from claw_acp.core.messages import TextPart
from claw_acp.tools.data.arithmetic import Number, calculate
from claw_acp.tools.display import shortened
from claw_acp.tools.parameters import Parameters, TypedTool, argument

_MAX_FRACTION: Final = 40  # characters of a fraction that is shown as such


class CalculatorParameters(Parameters):
    """An expression."""

    expression: str = argument(
        min_length=1,
        max_length=2_000,
        description="Such as `(1.1 + 2.2) * 3 ** 40`: numbers, + - * / // % **, brackets, pi, e, tau, abs, round, "
        "floor, ceil, min, max, factorial, sqrt, exp, log, log2, log10, sin, cos, tan, asin, acos, atan.",
    )


class Calculator(TypedTool[CalculatorParameters]):
    """Calculates."""

    name = "calculator"
    description = "Calculate an expression. Whole numbers and decimal fractions are exact, however long."
    parameters = CalculatorParameters
    parallel = True
    on_demand = True

    def bind(self, parameters: CalculatorParameters, context: ToolContext) -> Invocation:  # noqa: ARG002 - needs nothing
        """The invocation of one calculation."""
        return _Calculating(parameters.expression)


class _Calculating(Invocation):
    def __init__(self, expression: str) -> None:
        self._expression = expression
        self.view = CallView(title=f"Calculate {shortened(expression)}", kind="other")

    async def run(self) -> ToolResult:
        shown = await to_thread.run_sync(lambda: _shown(calculate(self._expression)))
        return ToolResult(parts=(TextPart(text=shown),), raw={"result": shown})


def _shown(value: Number) -> str:
    """`3.3`, `1/3 ≈ 0.3333333333333333`, `1.4142135623730951`."""
    if isinstance(value, float):
        return repr(value)
    if value.denominator == 1:
        return _digits(value.numerator)
    if (decimal := _decimal(value)) is not None:
        return decimal
    near = repr(value.numerator / value.denominator)
    fraction = str(value) if value.denominator.bit_length() < _MAX_FRACTION * 2 else ""
    return f"{fraction} ≈ {near}" if 0 < len(fraction) <= _MAX_FRACTION else f"≈ {near}"


def _decimal(value: Fraction) -> str | None:
    """A decimal fraction that ends within 40 digits; None for another."""
    scaled = value * 10**_MAX_FRACTION
    if scaled.denominator != 1:
        return None
    digits = _digits(abs(scaled.numerator)).rjust(_MAX_FRACTION + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-_MAX_FRACTION]}.{digits[-_MAX_FRACTION:].rstrip('0')}"


def _digits(number: int) -> str:
    """The digits, also of numbers that Python does not write by itself."""
    if abs(number) < 10**4000:
        return str(number)
    head, tail = divmod(abs(number), 10**4000)
    return f"{'-' if number < 0 else ''}{_digits(head)}{tail:04000d}"
