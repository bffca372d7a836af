"""Events as JSON: a kind, and a body with only the fields that differ from their defaults.

Reading is tolerant, since a store outlives programs: unknown fields are ignored, missing ones take their defaults, and
an event that cannot be understood is left out with a log line. Lone surrogates survive as JSON escapes.
"""

import json
import logging
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast, get_args

from claw_acp.core.events import (
    Attempt,
    AttemptsChanged,
    AttemptStatus,
    CommandContent,
    CommandsChanged,
    CompactionChanged,
    CompactionStatus,
    DiffContent,
    Event,
    FilesChanged,
    FilesRestored,
    Location,
    MessageStarted,
    Notice,
    NoticeTopic,
    PartContent,
    PathChange,
    PathKind,
    PathState,
    PlanChanged,
    PlanEntry,
    PlanPriority,
    PlanStatus,
    SessionChanged,
    Severity,
    StateChanged,
    StopReason,
    TerminalChanged,
    TerminalContent,
    TextDelta,
    ThoughtDelta,
    ToolCallChanged,
    ToolKind,
    ToolStatus,
    TurnRewound,
    UsageChanged,
)
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import AudioPart, ImagePart, LinkPart, ResourcePart, TextPart, Usage
from claw_acp.core.value import REQUIRED, Value, field_default, field_names

log = logging.getLogger(__name__)

_T = TypeVar("_T")
_Load: TypeAlias = Callable[[Any], Any]  # what json.loads made -> a value; raises TypeError, KeyError
_Dump: TypeAlias = Callable[[Any], Any]

_read_json: Final = json.JSONDecoder().raw_decode  # json.loads looks for blanks that are not there
_ENVELOPE: Final = frozenset({"session", "seq", "item"})  # columns of their own
_NOTHING: Final = object()


class _Codec:
    """Reader and writer of one type of value. `empty` stands in for a missing field without a default."""

    def __init__(self, load: _Load, dump: _Dump | None = None, empty: object = _NOTHING) -> None:
        self.load, self.dump, self.empty = load, dump, empty


class _Shape:
    """A value as a JSON object; every field needs a codec.

    `stored` names the fields that are stored by another name.
    """

    def __init__(self, make: type[Value], *, stored: Mapping[str, str] | None = None, **codecs: _Codec) -> None:
        names = {field: (stored or {}).get(field, field) for field in field_names(make) if field not in _ENVELOPE}
        self.make: Callable[..., Any] = make
        self._loads = {name: (field, codecs[field].load) for field, name in names.items()}
        self._dumps = [(name, field, codecs[field].dump, field_default(make, field)) for field, name in names.items()]
        self._empty = [
            (field, codecs[field].empty)
            for _, field, _, default in self._dumps
            if default is REQUIRED and codecs[field].empty is not _NOTHING
        ]

    def dump(self, value: object) -> dict[str, Any]:
        body: dict[str, Any] = {}
        for name, field, dump, default in self._dumps:
            held = getattr(value, field)
            if held != default:
                body[name] = held if dump is None else dump(held)
        return body

    def load(self, body: Mapping[str, Any], given: dict[str, object] | None = None) -> Any:  # noqa: ANN401 - a `make`
        """The value that `body` describes; `given` holds fields that are already known."""
        known = {} if given is None else given
        for name, held in body.items():
            found = self._loads.get(name)
            if found is not None and held is not None:
                field, load = found
                known[field] = load(held)
        for field, empty in self._empty:
            known.setdefault(field, empty)
        return self.make(**known)


# ------------------------------------------------------------------ plain values


def _exactly(wanted: type[_T]) -> Callable[[Any], _T]:
    def load(value: Any) -> _T:  # noqa: ANN401 - checked here
        if type(value) is not wanted:
            raise TypeError(f"expected {wanted.__name__}, found {type(value).__name__}")
        return value

    return load


def _amount(value: Any) -> float:  # noqa: ANN401 - checked here
    amount = float(value)
    if not isfinite(amount):
        raise ValueError("expected an amount")
    return amount


def _as_is(value: object) -> object:
    return value


def _choice(literal: object) -> _Codec:
    return _Codec({value: value for value in get_args(literal)}.__getitem__)


def _object(shape: _Shape, *, empty: object = _NOTHING) -> _Codec:
    return _Codec(shape.load, shape.dump, empty)


def _many(one: _Codec) -> _Codec:
    """The codec of a tuple of `one`, which must have a `dump`."""
    load, dump = one.load, one.dump or _as_is
    return _Codec(lambda held: tuple([load(each) for each in held]), lambda held: [dump(each) for each in held], ())


def _union(**shapes: _Shape) -> _Codec:
    """The codec of a union of objects, told apart by their "type"."""
    names: dict[object, str] = {shape.make: name for name, shape in shapes.items()}

    def dump(value: object) -> dict[str, Any]:
        name = names[type(value)]
        return {"type": name} | shapes[name].dump(value)

    return _Codec(lambda held: shapes[held["type"]].load(held), dump)


_TEXT: Final = _Codec(_exactly(str), empty="")
_TEXT_OR_NONE: Final = _Codec(_exactly(str), empty=None)
_COUNT: Final = _Codec(_exactly(int), empty=0)
_FLAG: Final = _Codec(_exactly(bool))
_AMOUNT: Final = _Codec(_amount)
_BYTES: Final = _Codec(lambda held: b64decode(held, validate=True), lambda held: b64encode(held).decode("ascii"))
_JSON: Final = _Codec(_as_is)

# ------------------------------------------------------------------ the vocabulary

_PART: Final = _union(
    text=_Shape(TextPart, text=_TEXT),
    image=_Shape(ImagePart, data=_TEXT, mime_type=_TEXT, uri=_TEXT),
    audio=_Shape(AudioPart, data=_TEXT, mime_type=_TEXT),
    resource=_Shape(ResourcePart, uri=_TEXT, mime_type=_TEXT, text=_TEXT, blob=_TEXT),
    link=_Shape(LinkPart, uri=_TEXT, name=_TEXT, mime_type=_TEXT, title=_TEXT, description=_TEXT, size=_COUNT),
)
_COMMAND: Final = _Shape(
    CommandContent,
    terminal_id=_TEXT,
    line=_TEXT,
    cwd=_TEXT,
    text=_TEXT,
    raw=_BYTES,
    printed=_COUNT,
    running=_FLAG,
    code=_COUNT,
    signal=_TEXT,
)
_CONTENT: Final = _union(
    part=_Shape(PartContent, part=_PART),
    diff=_Shape(DiffContent, path=_TEXT, old_text=_TEXT_OR_NONE, new_text=_TEXT_OR_NONE),
    terminal=_Shape(TerminalContent, terminal_id=_TEXT),
    command=_COMMAND,
)
_PLAN_ENTRY: Final = _Shape(PlanEntry, content=_TEXT, priority=_choice(PlanPriority), status=_choice(PlanStatus))
_USAGE: Final = _Shape(
    Usage,
    input_tokens=_COUNT,
    output_tokens=_COUNT,
    cached_read_tokens=_COUNT,
    cached_write_tokens=_COUNT,
    thought_tokens=_COUNT,
)

_PATH_STATE: Final = _Shape(
    PathState, kind=_choice(PathKind), mode=_COUNT, size=_COUNT, digest=_TEXT, kept=_FLAG, unsaved=_TEXT
)
_PATH_CHANGES: Final = _many(
    _object(_Shape(PathChange, path=_TEXT, before=_object(_PATH_STATE, empty=PathState()), after=_object(_PATH_STATE)))
)

_ATTEMPT: Final = _Shape(
    Attempt,
    number=_COUNT,
    model=_TEXT,
    status=_choice(AttemptStatus),
    words=_TEXT,
    changes=_PATH_CHANGES,
    added=_COUNT,
    removed=_COUNT,
    passed=_COUNT,
    failed=_COUNT,
    cost=_AMOUNT,
    sources=_many(_TEXT),
)

_EVENTS: Final[Mapping[str, _Shape]] = {
    "message": _Shape(
        MessageStarted,
        stored={"model_parts": "told", "local_only": "aside"},
        role=_choice(Literal["user", "assistant"]),
        parts=_many(_PART),
        model_parts=_many(_PART),
        facts=_TEXT,
        local_only=_FLAG,
        sources=_many(_TEXT),
    ),
    "text": _Shape(TextDelta, text=_TEXT),
    "thought": _Shape(ThoughtDelta, text=_TEXT, signature=_TEXT, redacted=_TEXT, origin=_TEXT),
    "tool_call": _Shape(
        ToolCallChanged,
        message=_TEXT,
        name=_TEXT,
        title=_TEXT,
        kind=_choice(ToolKind),
        status=_choice(ToolStatus),
        arguments=_TEXT,
        locations=_many(_object(_Shape(Location, path=_TEXT, line=_COUNT))),
        content=_many(_CONTENT),
        raw_input=_JSON,
        raw_output=_JSON,
        output=_many(_PART),
        extra=_JSON,
        refusal=_TEXT,
        sources=_many(_TEXT),
        accepted=_many(_TEXT),
    ),
    "terminal": _Shape(TerminalChanged, command=_object(_COMMAND)),
    "plan": _Shape(PlanChanged, entries=_many(_object(_PLAN_ENTRY))),
    "usage": _Shape(
        UsageChanged,
        used=_COUNT,
        size=_COUNT,
        request=_object(_USAGE, empty=Usage()),
        model=_TEXT,
        cost=_AMOUNT,
        total=_AMOUNT,
    ),
    "notice": _Shape(Notice, severity=_choice(Severity), title=_TEXT, description=_TEXT, topic=_choice(NoticeTopic)),
    "compaction": _Shape(
        CompactionChanged,
        status=_choice(CompactionStatus),
        summary=_TEXT,
        delta=_TEXT,
        error=_TEXT,
        kept_from=_TEXT,
        shortened=_many(_TEXT),
        model=_TEXT,
    ),
    "state": _Shape(
        StateChanged,
        state=_choice(Literal["running", "idle"]),
        stop=_choice(StopReason),
        error=_TEXT,
        code=_COUNT,
        usage=_object(_USAGE),
    ),
    "rewind": _Shape(TurnRewound, undone=_FLAG),
    "files": _Shape(FilesChanged, changes=_PATH_CHANGES, command=_TEXT, survey=_TEXT),
    "restore": _Shape(
        FilesRestored,
        status=_choice(Literal["in_progress", "completed"]),
        turn=_TEXT,
        redoes=_TEXT,
        conversation=_FLAG,
        changes=_PATH_CHANGES,
        takes=_COUNT,
    ),
    "attempts": _Shape(AttemptsChanged, prompt=_many(_PART), attempts=_many(_object(_ATTEMPT))),
    "session": _Shape(SessionChanged, title=_TEXT, mode=_TEXT, model=_TEXT, options=_JSON, sandbox=_TEXT),
    "commands": _Shape(CommandsChanged),
}
_KINDS: Final[Mapping[object, str]] = {shape.make: kind for kind, shape in _EVENTS.items()}


def as_json(event: Event) -> tuple[str, dict[str, JsonValue]]:
    """The kind of `event`, and its body as JSON values (without session, seq and item)."""
    kind = _KINDS[type(event)]
    return kind, _EVENTS[kind].dump(event)


def encode(event: Event) -> tuple[str, str]:
    """The kind of `event`, and its body as JSON text that UTF-8 can hold.

    Raises:
        ValueError: A raw input or output is not JSON (circular, too deep, foreign objects).
    """
    kind, body = as_json(event)
    try:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=_plain)
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError:  # a lone surrogate: escapes carry it
        text = json.dumps(body, separators=(",", ":"), default=_plain)
    except (TypeError, RecursionError) as error:
        raise ValueError(f"an event of kind {kind} cannot be written as JSON: {error}") from error
    return kind, text


def decode(kind: str, body: str, *, session: str, seq: int, item: str) -> Event | None:
    """The event that was written as `kind` and `body`; None, with a log line, when it cannot be understood."""
    shape = _EVENTS.get(kind)
    if shape is None:
        log.warning("event of unknown kind skipped", extra={"session": session, "seq": seq, "kind": kind})
        return None
    try:
        event: Event = shape.load(_read_json(body)[0], {"session": session, "seq": seq, "item": item})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        log.warning(
            "damaged event skipped",
            extra={"session": session, "seq": seq, "kind": kind, "error": type(error).__name__},
        )
        return None
    return event


def _plain(value: object) -> object:
    """Convert mappings and sequences that `json` does not know to dictionaries and lists."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return list(cast("Sequence[object]", value))
    raise TypeError(f"{type(value).__name__} is not JSON")
