"""From a TOML document to the typed model: valid parts apply, invalid parts become diagnostics."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from claw_acp.config.diagnostic import Diagnostic, did_you_mean
from claw_acp.config.entries import tables
from claw_acp.config.fields import Decisive, Section, hints_of, marker
from claw_acp.config.layer import Checked
from claw_acp.config.model import ConfigFile
from claw_acp.config.positions import KeyPath, entry
from claw_acp.config.provider_section import ProviderSection
from claw_acp.config.toml_file import TomlDocument
from claw_acp.core.quantity import quantity
from claw_acp.core.value import replace

_Table = TypeVar("_Table", bound=Section)

LAST_LINE = 1_000_000  # more than a file may have
DIAGNOSTICS_SHOWN = 50  # a file; the rest is summed up in one line

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


def check(document: TomlDocument) -> Checked:
    """The valid parts of `document`, and a diagnostic for each other part.

    Wrong values are removed and the rest is validated again, until nothing is wrong: each round removes at least one
    key, so it ends.
    """
    content = document.content
    diagnostics: list[Diagnostic] = []
    invalid: dict[str, Diagnostic] = {}
    rules = content.get("rules")
    rows = [*cast("list[object]", rules)] if isinstance(rules, list) else []
    while True:
        try:
            config = cast("ConfigFile", _adapter(ConfigFile).validate_python(content))
        except ValidationError as error:
            problems = error.errors(include_url=False)
        else:
            config, lost = _rules_with_routes(config, content=content, rows=rows, document=document)
            diagnostics += lost
            diagnostics.sort(key=lambda diagnostic: diagnostic.line or LAST_LINE)
            return Checked(config=config, diagnostics=diagnostics, invalid=invalid)
        diagnostics += _explain(problems, document=document, room=DIAGNOSTICS_SHOWN - len(diagnostics))
        for problem in problems:
            if name := _invalidated(problem):
                invalid.setdefault(name, _diagnostic(problem, document=document))
        wrong = dict.fromkeys(_removable(problem["loc"]) for problem in problems)
        for location in reversed(wrong):  # backwards, so that the numbers of list entries stay right
            _remove(content, location)


def validated(kind: type[_Table], table: Mapping[str, object]) -> _Table:
    """A table with the content that a file would have; see `Section.validated`."""
    try:
        return cast("_Table", _adapter(kind).validate_python(table))
    except ValidationError as error:
        location = error.errors(include_url=False, include_input=False)[0]["loc"]
        raise ValueError(f"{location[0] if location else 'the table'} has a wrong value") from error


@cache
def _adapter(kind: type[Section]) -> TypeAdapter[Section]:
    return TypeAdapter(kind)


def _invalidated(problem: ErrorDetails) -> str | None:
    """The provider that would run or call something else without this value; None: the value may be left out.

    A misspelt key counts if it is close to a decisive one.
    """
    location = problem["loc"]
    if location[0] != "providers" or len(location) < 2 or (location[-1] == "[key]" and len(location) == 3):
        return None
    name, key = str(location[1]), str(location[2]) if len(location) > 2 else ""
    decisives = {field for field, hint in hints_of(ProviderSection).items() if marker(hint, Decisive)}
    if problem["type"] == "extra_forbidden" and len(location) == 3:
        near = did_you_mean(key, ProviderSection.key_names()) or ""
        return name if any(f'"{decisive}"' in near for decisive in decisives) else None
    return name if not key or key in decisives else None


def _rules_with_routes(
    config: ConfigFile, *, content: Mapping[str, object], rows: list[object], document: TomlDocument
) -> tuple[ConfigFile, list[Diagnostic]]:
    """The configuration without rules that lead to no route, and a diagnostic for each of those."""
    left = content.get("rules")
    kept = cast("list[object]", left) if isinstance(left, list) else []
    numbers = [number for number, row in enumerate(rows) if any(row is other for other in kept)]
    diagnostics: list[Diagnostic] = []
    for number, rule in zip(numbers, config.rules, strict=True):
        if rule.route not in config.routes:
            near = did_you_mean(rule.route, config.routes)
            diagnostics.append(
                Diagnostic(
                    severity="error",
                    file=document.file,
                    line=document.positions.line_of(("rules", entry(number), "route")),
                    key="rules.route",
                    message=f'there is no route "{rule.route}", so the rule is left out',
                    suggestion=near or f'write {rule.route} = "provider/model" under [routes]',
                )
            )
    rules = tuple(rule for rule in config.rules if rule.route in config.routes)
    return replace(config, rules=rules) if diagnostics else config, diagnostics


def _explain(problems: list[ErrorDetails], *, document: TomlDocument, room: int) -> list[Diagnostic]:
    shown = [_diagnostic(problem, document=document) for problem in problems[: max(0, room)]]
    if room > 0 and (hidden := len(problems) - len(shown)):
        message = f"{quantity(hidden, 'more problem')} not shown"
        shown.append(Diagnostic(severity="warning", file=document.file, line=None, key="", message=message))
    return shown


def _diagnostic(problem: ErrorDetails, *, document: TomlDocument) -> Diagnostic:
    path = _key_path(problem["loc"])
    place = tuple(entry(part) if isinstance(part, int) else part for part in problem["loc"] if part != "[key]")
    unknown = problem["type"] == "extra_forbidden"
    message, suggestion = ("unknown key", _nearest_key(path)) if unknown else _reason(problem)
    return Diagnostic(
        severity="warning" if unknown else "error",
        file=document.file,
        line=document.positions.line_of(place),
        key=".".join(path),
        message=message,
        suggestion=suggestion,
    )


def _reason(problem: ErrorDetails) -> tuple[str, str | None]:
    """The description of a wrong value and the suggestion, which quote no value but a mistyped word of a fixed list."""
    context = problem.get("ctx", {})
    if problem["type"] == "literal_error":
        expected = str(context["expected"]).replace("'", "").replace(" or ", ", ")
        value: object = problem["input"]
        suggestion = did_you_mean(value, expected.split(", ")) if isinstance(value, str) else None
        return f"must be one of {expected}", suggestion
    if problem["type"] == "value_error":
        return str(context["error"]), None
    if problem["type"] == "string_pattern_mismatch":
        whose = {"mcp": "an MCP server's", "endpoints": "a program's"}.get(str(problem["loc"][0]), "a provider's")
        return f"{whose} name is made of letters, digits, dots, dashes and underscores", None
    return error_text(problem), None


def _key_path(location: Iterable[int | str]) -> KeyPath:
    return tuple(part for part in location if isinstance(part, str) and part != "[key]")


def _nearest_key(path: KeyPath) -> str | None:
    *parents, wrong = path
    known = tables()
    named = (*parents[:1], "*") in known
    table = tuple("*" if index == 1 and named else name for index, name in enumerate(parents))
    section = known.get(table, ConfigFile)
    if suggestion := did_you_mean(wrong, section.key_names()):
        return suggestion
    homes = [home for home, other in known.items() if home and wrong in other.key_names()]
    return f"it belongs in [{'.'.join(homes[0]).replace('*', 'NAME')}]" if homes else None


def _removable(location: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The part to remove with a wrong value: itself; of a rule all, as with fewer conditions it would match more."""
    return location[:2] if location[0] == "rules" else location


def _remove(content: dict[str, object], location: tuple[int | str, ...]) -> None:
    """Remove the deepest part of `location` that exists."""
    here: object = content
    take: Callable[[], object] | None = None
    for part in location:
        if isinstance(here, dict) and part in here:
            table = cast("dict[int | str, object]", here)
            take, here = partial(table.pop, part), table[part]
        elif isinstance(here, list) and isinstance(part, int):
            entries = cast("list[object]", here)
            take, here = partial(entries.pop, part), entries[part]
        else:
            break
    if take is not None:
        take()


def error_text(problem: ErrorDetails) -> str:
    """The problem described for people, since pydantic's texts are for programmers; it quotes nothing of the value."""
    kind = problem["type"]
    if kind == "tuple_type" and problem["loc"] == ("rules",):
        return "must be tables, each begun by a line [[rules]]"
    if kind in _BOUNDS:
        words, bound = _BOUNDS[kind]
        limit: float = problem.get("ctx", {})[bound]
        return f"{words} {limit:,g}" if abs(limit) < 1e6 else f"{words} {limit:,.0f}"
    return _WORDS.get(kind) or problem["msg"].replace("Input should", "must").replace("Keys should", "keys must")
