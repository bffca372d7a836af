"""Answers a query about data that comes on its input. Runs in a process of its own.

A short query or a small YAML document may stand for more than the memory holds.
"""

import json
import sys
import tomllib
from collections.abc import Callable, Iterable
from typing import BinaryIO, Final, cast

from claw_acp.core.json_value import JsonValue
from claw_acp.registry.reference import Ref
from claw_acp.tools.worker_limits import limit_this_process

MAX_RESULT: Final = 400_000  # characters
MOST_NAMES: Final = 20
MEMORY: Final = 512 << 20  # bytes; the largest file takes half of it

_SEARCH: Final[Ref[Callable[[str, object], object]]] = Ref("jmespath:search")
_YAML: Final[Ref[Callable[..., Iterable[object]]]] = Ref("yaml:load_all")
_LOADER: Final[Ref[type]] = Ref("yaml:SafeLoader")


class _Fault(Exception):
    """Data or a query that cannot be used; the text is for the model."""


def main(source: BinaryIO, output: BinaryIO) -> int:
    """Read a line with format and query, then the data; print the answer as JSON. Returns the exit code."""
    limit_this_process(memory=MEMORY)
    request = json.loads(source.readline())
    try:
        data = _parsed(source.read().decode(), kind=request["format"])
        answer = (
            _pointed(data, request["query"]) if request["query"].startswith("/") else _found(data, request["query"])
        )
    except _Fault as fault:
        sys.stderr.write(f"{fault}\n")
        return 1
    room = MAX_RESULT
    for piece in json.JSONEncoder(indent=1, ensure_ascii=False, default=str).iterencode(answer):
        output.write(piece[:room].encode("utf-8", "replace"))
        room -= len(piece)
        if room < 0:
            output.write(b"\n[The result is longer; ask for less of it.]")
            break
    return 0


def _parsed(text: str, *, kind: str) -> object:
    try:
        match kind:
            case "json":
                return json.loads(text)
            case "jsonl":
                return [json.loads(line) for line in text.split("\n") if line.strip()]
            case "toml":
                return tomllib.loads(text)
            case _:
                documents = list(_YAML.load()(text, Loader=_LOADER.load()))
                return documents[0] if len(documents) == 1 else documents
    except RecursionError:
        raise _Fault("the data is nested too deeply") from None
    except ValueError as error:
        raise _Fault(f"the data is not {kind.upper()}: {error}") from error
    except Exception as error:
        if not type(error).__module__.startswith("yaml"):
            raise
        raise _Fault(f"the data is not YAML: {' '.join(str(error).split())}") from error


def _found(data: object, query: str) -> object:
    try:
        return _SEARCH.load()(query, data)
    except RecursionError:
        raise _Fault("the query or the data is nested too deeply") from None
    except ValueError as error:  # of which all errors of JMESPath are
        raise _Fault(f"the query cannot be answered: {' '.join(str(error).split())}") from error


def _pointed(data: object, pointer: str) -> object:
    """The value at a JSON Pointer."""
    value = cast("JsonValue", data)
    for step in pointer[1:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            raise _Fault(f"there is no {name!r} at this place of {pointer!r}; it holds {_shape(value)}")
    return value


def _shape(value: JsonValue) -> str:
    if isinstance(value, dict):
        more = " and more" if len(value) > MOST_NAMES else ""
        return f"an object with {', '.join(str(name) for name in list(value)[:MOST_NAMES]) or 'nothing'}{more}"
    return f"a list of {len(value)}" if isinstance(value, list) else "a single value"


if __name__ == "__main__":
    sys.exit(main(sys.stdin.buffer, sys.stdout.buffer))
