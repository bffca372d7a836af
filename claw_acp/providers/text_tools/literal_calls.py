"""Calls in notations of their own: `[f(a=1)]`, `call:f{k:v}`, `{tool => "f", args => {--k "v"}}`, `f/k>v`.

Nothing is evaluated: Python's grammar is parsed and only literals are taken from it.
"""

import ast
import json
import re
from typing import Final, cast

from claw_acp.core.json_value import JsonValue
from claw_acp.core.value import replace
from claw_acp.providers.text_tools.found_call import (
    LONGEST_WRITTEN,
    Argument,
    FoundCall,
    RawText,
    Section,
    cut_off,
    unreadable,
)
from claw_acp.providers.text_tools.json_calls import call_of, decoded, skip_blank
from claw_acp.providers.text_tools.tagged_calls import N

LONGEST_LITERAL: Final = 1_000_000  # characters; Python's parser needs a hundred times that

_BRACKET = re.compile(r"""[\[\](){}]|"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|["']""", re.DOTALL)
_CURLY = re.compile(r'[{}]|<\|"\|>.*?<\|"\|>|"(?:[^"\\]|\\.)*+"|<\|"\|>|"', re.DOTALL)
_GEMMA_WORD = re.compile(r'<\|"\|>(.*?)<\|"\|>|"(?:[^"\\]|\\.)*+"|([A-Za-z_][\w.-]*)(?=\s*:)', re.DOTALL)
_PYTHON_NAME = re.compile(r"[\[\s]*(?P<name>[\w.]{1,128})\(")
_GEMMA_HEAD = re.compile(r"\s*call:(?P<name>[\w.:-]{1,128})\s*")
_PERL_NAME = re.compile(r'\s*tool\s*=>\s*"(?P<name>[^"\\]{1,128})"\s*,?')
_PERL_ARGS = re.compile(r"\s*args\s*=>\s*\{")
_PERL_KEY = re.compile(r"[\s,]*--(?P<key>[\w.-]{1,128})(?:\s+|\s*=>?\s*)")
_LINE = re.compile(r"[ \t]*(?P<key>[\w.-]{1,128})>(?P<value>.*)")
_LINES_HEAD: Final = re.compile(rf"\s*(?P<name>{N})\s*<code>")


def read_python(text: str, at: int, *, closers: tuple[str, ...]) -> Section:
    """The calls of a Python list of calls, or of one call."""
    start = skip_blank(text, at)
    end = _balanced(text, text.find("[", start) if text[start] == "[" else text.find("(", start), _BRACKET)
    if end is None:
        return _cut(text, at, _PYTHON_NAME.match(text, start))
    try:
        calls = _python_calls(text[start:end])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        calls = (_refused(None, text[start:end], "keyword arguments with literal values are needed"),)
    return _ended(text, end, calls, closers, start=start)


def read_gemma(text: str, at: int, *, closers: tuple[str, ...]) -> Section:
    """The calls of a section whose strings stand between `<|"|>`."""
    found: list[FoundCall] = []
    position = at
    while (head := _GEMMA_HEAD.match(text, position)) is not None:
        end = _balanced(text, head.end(), _CURLY)
        if end is None:
            return _cut(text, at, head, *found)
        written = _GEMMA_WORD.sub(_as_json, text[head.end() : end])
        try:
            value, _ = decoded(written, 0)
            found.append(call_of({"name": head["name"], "arguments": value}))
        except (ValueError, RecursionError) as error:
            found.append(_refused(head["name"], written, str(error)))
        position = end
    return _ended(text, position, tuple(found), closers, start=at)


def read_perl(text: str, at: int, *, closers: tuple[str, ...]) -> Section:
    """The call of a hash in the manner of Perl."""
    start = skip_blank(text, at)
    end = _balanced(text, start, _CURLY)
    name = _PERL_NAME.match(text, start + 1)
    if end is None or name is None:
        return _cut(text, at, name)
    try:
        call = FoundCall(name=name["name"], arguments=_perl_arguments(text, name.end(), end))
    except (ValueError, RecursionError) as error:
        call = _refused(name["name"], text[start:end], str(error))
    return _ended(text, end, (call,), closers, start=start)


def _perl_arguments(text: str, at: int, end: int) -> dict[str, Argument]:
    arguments: dict[str, Argument] = {}
    args = _PERL_ARGS.match(text, at)
    position = args.end() if args else at
    while args and (key := _PERL_KEY.match(text, position)) is not None:
        if key["key"] in arguments:
            raise ValueError(f"`{key['key']}` is there twice")
        arguments[key["key"]], position = decoded(text, key.end())
    if text[position:end].strip(" \t\r\n,}"):
        raise ValueError("something else stands among the arguments")
    return arguments


def read_code(text: str, at: int, *, closers: tuple[str, ...]) -> Section:
    """The call of a name and lines `argument>value` between `<code>` tags."""
    head = _LINES_HEAD.match(text, at)
    stop = text.find("</code>", at)
    if head is None or stop < 0:
        return _cut(text, at, head)
    section = _ended(
        text, stop + len("</code>"), (_of_lines(head["name"], text[head.end() : stop], begins=head[0]),), closers
    )
    return replace(section, raw=True, closers=("</code>", *closers))


def read_lines(text: str, at: int, *, closers: tuple[str, ...]) -> Section:
    """The call of a name, a slash and lines `argument>value`."""
    stops = [stop for closer in closers if (stop := text.find(closer, at)) >= 0]
    stop = min(stops, default=len(text))
    name, _, lines = text[at:stop].strip().partition("/")
    if not stops:
        return Section(end=stop, calls=(cut_off(name, text[at:]),))
    return replace(_ended(text, stop, (_of_lines(name, lines, begins=f"{name}/"),), closers), raw=True, closers=closers)


def _of_lines(name: str, text: str, *, begins: str) -> FoundCall:
    arguments: dict[str, Argument] = {}
    for row in text.strip().splitlines():
        line = _LINE.fullmatch(row)
        if line is None or line["key"] in arguments:
            return _refused(name, text, "each line must be one argument, `name>value`")
        arguments[line["key"]] = RawText(text=line["value"])
    written = begins + text.strip()[:LONGEST_WRITTEN]
    return FoundCall(name=name.strip(), arguments=arguments, written=written, opening=begins)


def literal(text: str) -> JsonValue:
    """The value of a Python literal, as far as JSON has it.

    Raises:
        ValueError: It is no literal, or JSON has no such value.
    """
    if len(text) > LONGEST_LITERAL:
        raise ValueError("too long")
    try:
        return _plain(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _python_calls(text: str) -> tuple[FoundCall, ...]:
    if len(text) > LONGEST_LITERAL:
        raise ValueError("too long")
    tree = ast.parse(text, mode="eval").body
    nodes = tree.elts if isinstance(tree, ast.List) else [tree]
    return tuple(_python_call(node) for node in nodes)


def _python_call(node: ast.expr) -> FoundCall:
    if not isinstance(node, ast.Call) or node.args:
        raise ValueError("not a call with keywords")
    arguments: dict[str, Argument] = {}
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg in arguments:
            raise ValueError("not a keyword of its own")
        arguments[keyword.arg] = _plain(keyword.value)
    return FoundCall(name=ast.unparse(node.func), arguments=arguments)


def _plain(node: ast.expr) -> JsonValue:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return cast("JsonValue", value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.List(elts=entries) | ast.Tuple(elts=entries):
            return [_plain(entry) for entry in entries]
        case ast.Dict(keys=keys, values=values):
            return {_key(key): _plain(value) for key, value in zip(keys, values, strict=True)}
        case ast.Name(id="true" | "false" as word):
            return word == "true"
        case ast.Name(id="null"):
            return None
        case _:
            raise ValueError("not a literal")


def _key(node: ast.expr | None) -> str:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        raise ValueError("a key is no text")  # noqa: TRY004 - the text is wrong, not our types
    return node.value


def _as_json(word: "re.Match[str]") -> str:
    if word[1] is not None:
        return json.dumps(word[1])
    return f'"{word[2]}"' if word[2] is not None else word[0]


def _balanced(text: str, at: int, brackets: "re.Pattern[str]") -> int | None:
    """The position after the bracket that closes the one at `at`; None when there is none."""
    depth = 0
    for token in brackets.finditer(text, at):
        if token[0] in "[({":
            depth += 1
        elif token[0] in "])}":
            depth -= 1
            if depth == 0:
                return token.end()
        elif len(token[0]) == 1 or token[0] == '<|"|>':
            return None  # a string without an end
    return None


def _cut(text: str, at: int, head: "re.Match[str] | None", *before: FoundCall) -> Section:
    name = None if head is None else head.groupdict().get("name") or head[0]
    return Section(end=len(text), calls=(*before, cut_off(name, text[at:])))


def _ended(
    text: str, at: int, calls: tuple[FoundCall, ...], closers: tuple[str, ...], *, start: int | None = None
) -> Section:
    if start is not None:
        written = text[start : min(at, start + LONGEST_WRITTEN)]
        calls = tuple(replace(call, written=written) for call in calls)
    behind = skip_blank(text, at)
    closing = next((closer for closer in closers if text.startswith(closer, behind)), None)
    return Section(end=at if closing is None else behind + len(closing), calls=calls)


def _refused(name: str | None, text: str, reason: str) -> FoundCall:
    told = f"This call cannot be read ({reason}), so nothing was done. Send it again."
    return unreadable(name, text, problem=told)
