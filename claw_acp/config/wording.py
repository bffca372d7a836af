"""What is wrong with a value, in words for people: those of the checker are for programmers."""

from collections.abc import Mapping

from pydantic_core import ErrorDetails

_WORDS: Mapping[str, str] = {
    "string_type": 'must be text in quotes, as in "text"',
    "string_too_short": "must not be empty",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "tuple_type": 'must be a list of texts, as in ["-f", "x"]',
    "dict_type": "must be a table of keys and values",
    "model_type": "must be a table of keys and values",
    "model_attributes_type": "must be a table of keys and values",
    "missing": "is missing",
}
_BOUNDS: Mapping[str, tuple[str, str]] = {
    "greater_than_equal": ("must be at least", "ge"),
    "greater_than": ("must be more than", "gt"),
    "less_than_equal": ("must be at most", "le"),
    "less_than": ("must be less than", "lt"),
}


def human(problem: ErrorDetails) -> str:
    """The sentence for a problem; it quotes nothing of the value."""
    kind = problem["type"]
    if kind == "tuple_type" and problem["loc"] == ("rules",):
        return "must be tables, each begun by a line [[rules]]"
    if kind in _BOUNDS:
        words, bound = _BOUNDS[kind]
        limit: float = problem.get("ctx", {})[bound]
        return f"{words} {limit:,g}" if abs(limit) < 1e6 else f"{words} {limit:,.0f}"
    return _WORDS.get(kind) or problem["msg"].replace("Input should", "must").replace("Keys should", "keys must")
