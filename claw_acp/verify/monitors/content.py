"""Shapes and values: everything an agent sends conforms to the protocol."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import PureWindowsPath

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.schema.base import Wire
from claw_acp.schema.errors import Error
from claw_acp.schema.methods import AGENT_METHODS, CLIENT_METHODS, SHARED_METHODS, resolve
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.frames import Frame, as_list, as_object, text_of
from claw_acp.verify.monitors.observation import Observation, broken, kept, observed
from claw_acp.verify.rule import advice, must, should
from claw_acp.verify.shape import problems, unknown_keys

# fmt: off
SHAPE = must("schema.valid", source="protocol schema; TCK ACP-SCHEMA-001", cases=(49,),
    text="Every result, every notification and every request of the agent has the shape that the protocol gives it.")
KEYS = advice("schema.no-keys-of-its-own", source="extensibility; TCK ACP-SCHEMA-002", cases=(43,),
    text="What the protocol does not define goes into _meta, not beside the fields it defines.")
METHODS = must("schema.known-methods", source="extensibility",
    text="The agent calls only methods of the protocol, or its own, which begin with an underscore.")
MODES = must("modes.current-is-one", source="session-modes; TCK ACP-MODES-001",
    text="The current mode is one of the modes that are named, and each has an id of its own.")
OPTIONS = must("config.current-is-one", source="session-config-options; TCK ACP-CONFIG-001, 201, 204",
    text="Every option has an id of its own, and a current value that is one of its values.")
IN_STEP = should("config.mode-in-step", source="session-config-options", cases=(33,),
    text="An option of the category mode and the older modes say the same.")
PATHS = must("tools.absolute-paths", source="tool-calls",
    text="Paths in tool calls are absolute, and lines are counted from 1.")
COMMANDS = should("commands.plain-names", source="slash-commands",
    text="The names of commands have no slash before them and no spaces in them, and each is there once.")
DATES = should("list.dates", source="session-list",
    text="updatedAt is a time of ISO 8601.")
# fmt: on
RULES = (SHAPE, KEYS, METHODS, MODES, OPTIONS, IN_STEP, PATHS, COMMANDS, DATES)

_NAME = re.compile(r"[^\s/]+")


def watch(agents: Sequence[AgentConnection]) -> Iterator[Observation]:
    """Judge all frames of protocol 1."""
    for agent in agents:
        if agent.protocol != 1:
            continue
        for frame in agent.frames:
            if frame.way == "<-" and not frame.fault:
                yield from _shape(frame)
                yield from _state(frame.result, frame)
                yield from _state(frame.update, frame)
                yield from _update(frame.update, frame)
                for session in map(as_object, as_list(frame.result.get("sessions"))):
                    yield from _date(session, frame)


# ------------------------------------------------------------------ shapes


def _shape(frame: Frame) -> Iterator[Observation]:
    if frame.method:
        table = CLIENT_METHODS.get(frame.method) or SHARED_METHODS.get(frame.method)
        if table is None:
            own = frame.method.startswith("_")
            yield kept(METHODS) if own else broken(METHODS, f"{frame.method} is no method of a client", frame)
            return
        yield kept(METHODS)
        yield from fits(resolve(table.params), frame.object.get("params"), frame, what=frame.method)
    elif frame.error is not None:
        yield from fits(Error, frame.object.get("error"), frame, what="error")
    elif frame.call is not None and (served := AGENT_METHODS.get(frame.call.method)) and served.result:
        result = frame.object.get("result")
        if result is None and frame.call.method != "initialize":
            return  # older agents answered null where nothing is to be said
        yield from fits(resolve(served.result), result, frame, what=f"result of {frame.call.method}")


def fits(model: type[Wire], value: JsonValue, frame: Frame, *, what: str) -> Iterator[Observation]:
    """Yield observations on whether a value has the shape of its model, and no keys beside."""
    reason = problems(model, value, what=what)
    yield broken(SHAPE, reason, frame) if reason else kept(SHAPE)
    if not reason:
        strange = unknown_keys(model, value)
        yield broken(KEYS, f"{what} has {', '.join(strange)}", frame) if strange else kept(KEYS)


# ------------------------------------------------------------------ values


def _state(holder: JsonObject, frame: Frame) -> Iterator[Observation]:
    """The modes and options in a result or an update."""
    modes = as_object(holder.get("modes"))
    if modes:
        names = [text_of(as_object(mode), "id") for mode in as_list(modes.get("availableModes"))]
        current = text_of(modes, "currentModeId")
        fine = current in names and len(set(names)) == len(names)
        yield kept(MODES) if fine else broken(MODES, f"the mode is {current!r}, the modes are {names}", frame)
    options = [as_object(option) for option in as_list(holder.get("configOptions"))]
    if options:
        yield from judged_options(options, frame)
        chosen = [text_of(option, "currentValue") for option in options if option.get("category") == "mode"]
        if modes and chosen:
            reason = f"the option says {chosen[0]!r}, the mode {text_of(modes, 'currentModeId')!r}"
            yield kept(IN_STEP) if chosen[0] == modes.get("currentModeId") else broken(IN_STEP, reason, frame)


def judged_options(options: Sequence[JsonObject], frame: Frame) -> Iterator[Observation]:
    """Observations on whether each option is unique and has a valid value."""
    names = [text_of(option, "id") for option in options]
    if len(set(names)) < len(names):
        yield broken(OPTIONS, f"two options have the same id: {names}", frame)
    for option in options:
        if option.get("type") == "select":
            values = [value for item in as_list(option.get("options")) for value in _values(as_object(item))]
            current, name = option.get("currentValue"), text_of(option, "id")
            yield observed(
                OPTIONS, f"{name} is {current!r}, which is none of its values", frame, fine=current in values
            )


def _values(item: JsonObject) -> list[JsonValue]:
    """The value of a choice, or those of a group of choices."""
    if "value" in item:
        return [item["value"]]
    return [as_object(inner).get("value") for inner in as_list(item.get("options"))]


def _update(update: JsonObject, frame: Frame) -> Iterator[Observation]:
    if "toolCallId" in update:
        yield from _paths(update, frame)
    yield from judged_commands(update, frame)
    yield from _date(update, frame)


def judged_commands(holder: JsonObject, frame: Frame) -> Iterator[Observation]:
    """Observations on whether the commands in an update or a result have plain names."""
    commands = [as_object(command) for command in as_list(holder.get("availableCommands"))]
    names = [text_of(command, "name") for command in commands]
    odd = [name for name in names if not _NAME.fullmatch(name)]
    if odd or len(set(names)) < len(names):
        yield broken(COMMANDS, f"{odd[0]!r} is no plain name" if odd else f"a name is there twice: {names}", frame)
    elif names:
        yield kept(COMMANDS)


def _paths(update: JsonObject, frame: Frame) -> Iterator[Observation]:
    places = [as_object(place) for place in as_list(update.get("locations"))]
    diffs = [as_object(part) for part in as_list(update.get("content")) if as_object(part).get("type") == "diff"]
    for path in [text_of(holder, "path") for holder in (*places, *diffs)]:
        absolute = path.startswith("/") or PureWindowsPath(path).is_absolute()
        yield kept(PATHS) if absolute else broken(PATHS, f"{path!r} is not absolute", frame)
    for place in places:
        if place.get("line") == 0:
            yield broken(PATHS, "lines are counted from 1, not from 0", frame)


def _date(holder: JsonObject, frame: Frame) -> Iterator[Observation]:
    moment = text_of(holder, "updatedAt")
    if moment:
        try:
            datetime.fromisoformat(moment)
        except ValueError:
            yield broken(DATES, f"{moment!r} is no such time", frame)
        else:
            yield kept(DATES)
