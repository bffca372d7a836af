"""Exact arithmetic on a written expression, within bounds that no expression escapes."""

import ast
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final, TypeAlias

from claw_acp.core.errors import ToolError

MAX_BITS: Final = 20_000
"""Bits of the numerator or denominator of any result on the way: about 6,000 digits."""

MAX_DEPTH: Final = 100
MAX_FACTORIAL: Final = 2_000

Number: TypeAlias = Fraction | float


def calculate(expression: str) -> Number:
    """The value of an expression: exact for whole numbers and decimal fractions, a float behind roots and the like.

    Raises:
        ToolError: It is no such expression, has no value, or its value is too large.
    """
    try:
        tree = ast.parse(expression.strip().replace("^", "**"), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = (
            error.msg if isinstance(error, SyntaxError) else "it is nested too deeply, or holds a strange character"
        )
        raise ToolError(
            f"This is no expression: {reason}. Write numbers, + - * / // % **, brackets, functions."
        ) from error
    try:
        return _value(tree.body, depth=0)
    except ZeroDivisionError as error:
        raise ToolError("The expression divides by zero.") from error
    except (OverflowError, ValueError) as error:
        raise ToolError(f"The expression has no value: {error}.") from error


def _value(node: ast.expr, *, depth: int) -> Number:
    if depth > MAX_DEPTH:
        raise ToolError(f"The expression is nested more than {MAX_DEPTH} deep.")
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _bounded(_exact(number))
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner, depth=depth + 1)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _value(inner, depth=depth + 1)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            first, second = _value(left, depth=depth + 1), _value(right, depth=depth + 1)
            return _bounded(_OPERATORS[type(operator)](first, second))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _bounded(_applied(name, [_value(each, depth=depth + 1) for each in arguments]))
        case _:
            known = ", ".join([*_CONSTANTS, *_FUNCTIONS])
            raise ToolError(
                f"`{ast.unparse(node)[:80]}` cannot be calculated. There are numbers, + - * / // % **, and {known}."
            )


def _exact(number: float) -> Fraction:
    if isinstance(number, float) and not math.isfinite(number):
        raise ToolError("A number in the expression is too large.")
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def _bounded(value: Number) -> Number:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ToolError("The result is too large for a number with a decimal point.")
        return value
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise ToolError(f"A number on the way has more than {MAX_BITS * 3 // 10:,} digits, which is too large.")
    return value


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, float) or isinstance(exponent, float) or exponent.denominator != 1:
        return _real(float(base) ** float(exponent))
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(base) not in {0, 1} and (bits - 1 or 1) * abs(exponent.numerator) > MAX_BITS:
        raise ToolError(f"The power has more than {MAX_BITS * 3 // 10:,} digits, which is too large.")
    return Fraction(base**exponent.numerator)


def _real(value: object) -> float:
    if not isinstance(value, float):
        raise ToolError("The power of a negative number is not real here.")
    return value


def _applied(name: str, arguments: list[Number]) -> Number:
    least, most, function = _FUNCTIONS[name]
    if not least <= len(arguments) <= most:
        takes = str(least) if least == most else f"{least} to {most}"
        raise ToolError(f"`{name}` takes {takes} numbers, not {len(arguments)}.")
    return function(*arguments)


def _factorial(number: Number) -> Number:
    if number != int(number) or not 0 <= number <= MAX_FACTORIAL:
        raise ToolError(f"`factorial` takes a whole number from 0 to {MAX_FACTORIAL:,}.")
    return Fraction(math.factorial(int(number)))


def _rounded(number: Number, digits: Number = Fraction(0)) -> Number:
    if not -300 <= digits <= 300:
        raise ToolError("`round` takes at most 300 digits.")
    return Fraction(round(Fraction(number), int(digits)))


def _absolute(number: Number) -> Number:
    return abs(number)


def _floor(number: Number) -> Number:
    return Fraction(math.floor(number))


def _ceiling(number: Number) -> Number:
    return Fraction(math.ceil(number))


def _float(function: Callable[..., float]) -> Callable[..., float]:
    return lambda *numbers: function(*map(float, numbers))


_CONSTANTS: Final[Mapping[str, float]] = {"pi": math.pi, "e": math.e, "tau": math.tau}
_OPERATORS: Final[Mapping[type[ast.operator], Callable[[Number, Number], Number]]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: Fraction(a // b) if not isinstance(a // b, float) else a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: _power,
}
_FUNCTIONS: Final[Mapping[str, tuple[int, int, Callable[..., Number]]]] = {
    "abs": (1, 1, _absolute),
    "round": (1, 2, _rounded),
    "floor": (1, 1, _floor),
    "ceil": (1, 1, _ceiling),
    "min": (1, 100, min),
    "max": (1, 100, max),
    "factorial": (1, 1, _factorial),
    **{name: (1, 1, _float(getattr(math, name))) for name in ("sqrt", "exp", "log10", "log2", "sin", "cos", "tan")},
    **{name: (1, 1, _float(getattr(math, name))) for name in ("asin", "acos", "atan", "degrees", "radians")},
    "log": (1, 2, _float(math.log)),
}
