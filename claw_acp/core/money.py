"""Amounts of money: whole picodollars (1e-12 US dollars), so that sums never drift.

Prices are dollars for a million tokens. One with six decimals is a whole number of picodollars for a token, and no
vendor has finer ones; 64 bits, which is what the store has, hold nine million dollars.
"""

from typing import Final

DOLLAR: Final = 10**12
"""One dollar in picodollars."""

_MILLION: Final = 10**6
_SMALLEST_SHOWN: Final = DOLLAR // 10_000


def from_dollars(dollars: float) -> int:
    """Convert dollars; exact up to two thousand dollars, and to a billionth beyond."""
    return round(dollars * DOLLAR)


def to_dollars(amount: int) -> float:
    """Convert to dollars."""
    return amount / DOLLAR


def per_token(price: float) -> int:
    """Return the cost of one token, at `price` dollars for a million."""
    return round(price * (DOLLAR // _MILLION))


def shown(amount: int) -> str:
    """An amount for people: `$12.40`, `$0.0042`; of very small ones the first two digits, `$0.000012`."""
    if amount >= DOLLAR:
        cents = (amount * 100 + DOLLAR // 2) // DOLLAR
        return f"${cents // 100:,}.{cents % 100:02}"
    if not amount:
        return "$0.00"
    if amount < _SMALLEST_SHOWN:
        return f"${_two_digits(amount)}"
    rounded = (amount + _SMALLEST_SHOWN // 2) // _SMALLEST_SHOWN
    return f"${rounded // 10_000}.{rounded % 10_000:04}"


def _two_digits(amount: int) -> str:
    unit = 10 ** max(0, len(str(amount)) - 2)
    rounded = (amount + unit // 2) // unit * unit
    return f"0.{rounded:012}".rstrip("0")
