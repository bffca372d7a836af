"""Modes and configuration options."""

from collections.abc import Iterator

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.message import INVALID_PARAMS
from claw_acp.verify.agent_pool import AgentPool
from claw_acp.verify.answers import exchange, must_fail, must_succeed
from claw_acp.verify.check import ONLY_1, checks_in, must, should
from claw_acp.verify.check_run import CheckRun
from claw_acp.verify.frames import Frame, as_list, as_object, text_of
from claw_acp.verify.needs import session, slow
from claw_acp.verify.rule import Failed, NotJudged, Skipped

_MODES = "session-modes"
_OPTIONS = "session-config-options"
_METHOD = "session/set_config_option"


def _has_modes(pool: AgentPool) -> NotJudged | None:
    return session(pool) or (None if pool.facts.modes else Skipped("session/new gives no modes"))


def _has_options(pool: AgentPool) -> NotJudged | None:
    return session(pool) or (None if pool.facts.options else Skipped("session/new gives no configOptions"))


def _has_select(pool: AgentPool) -> NotJudged | None:
    usable = any(_values(option) for option in pool.facts.options)
    return _has_options(pool) or (None if usable else Skipped("no option is a choice among values"))


def _name(option: JsonObject) -> str:
    """The id of an option, which protocol 2 calls `configId`."""
    return text_of(option, "id") or text_of(option, "configId")


def _values(option: JsonObject) -> list[str]:
    """The values of a choice, grouped or not; none for a switch."""
    return list(_values_in(as_list(option.get("options")))) if option.get("type") == "select" else []


def _values_in(options: list[JsonValue]) -> Iterator[str]:
    for option in map(as_object, options):
        if "value" in option:
            yield text_of(option, "value")
        else:
            yield from _values_in(as_list(option.get("options")))


def _changes(options: list[JsonObject]) -> Iterator[tuple[str, str]]:
    """For each choice except the model a value other than the current one: another model may need credentials."""
    for option in options:
        if option.get("category") != "model":
            other = [value for value in _values(option) if value != option.get("currentValue")]
            if other:
                yield _name(option), other[0]


# ------------------------------------------------------------------ modes


@must("modes.switches", _has_modes, source=f"{_MODES}; TCK ACP-MODES-002", versions=ONLY_1)
async def switches(attempt: CheckRun) -> None:
    """session/set_mode takes each mode that was named."""
    async with attempt.in_session() as (agent, opened):
        for mode in attempt.facts.modes:
            must_succeed(await agent.ask("session/set_mode", {"sessionId": opened, "modeId": mode}), f"mode {mode}")


@should("modes.unknown-refused", _has_modes, source=f"{_MODES}; errors", versions=ONLY_1)
async def unknown_mode(attempt: CheckRun) -> None:
    """A mode that does not exist is refused with error -32602."""
    async with attempt.in_session() as (agent, opened):
        answer = await agent.ask("session/set_mode", {"sessionId": opened, "modeId": "verify-no-such-mode"})
        must_fail(answer, "an unknown mode", [INVALID_PARAMS])


@must("modes.during-a-turn", slow, _has_modes, source=_MODES, cases=(33,), versions=ONLY_1)
async def during_a_turn(attempt: CheckRun) -> None:
    """The mode can be switched while a turn runs, and the turn goes on."""
    async with attempt.in_session() as (agent, opened):
        call = await attempt.slow_turn(agent, opened)
        answer = await agent.ask("session/set_mode", {"sessionId": opened, "modeId": attempt.facts.modes[-1]})
        must_succeed(answer, "session/set_mode while a turn runs")
        if end := attempt.dialect.end(agent, call):
            raise Failed("the turn ended", exchange(end))
        await attempt.over(agent, opened, call)


# ------------------------------------------------------------------ options


async def _set(attempt: CheckRun, changes: JsonObject) -> Frame:
    async with attempt.in_session() as (agent, opened):
        return await agent.ask(_METHOD, {"sessionId": opened, **changes})


@must("config.set-gives-all-options", _has_select, source=f"{_OPTIONS}; TCK ACP-CONFIG-002, 202", cases=(35,))
async def gives_all(attempt: CheckRun) -> None:
    """Setting an option is answered with all options, the one that was set with its new value."""
    known = {_name(option) for option in attempt.facts.options}
    for name, value in _changes(attempt.facts.options):
        answer = await _set(attempt, attempt.dialect.setting(name, value))
        must_succeed(answer, f"setting {name} to {value}")
        options = {_name(option): option for option in map(as_object, as_list(answer.result.get("configOptions")))}
        if missing := known - set(options):
            raise Failed(f"the answer lacks the options {', '.join(sorted(missing))}", exchange(answer))
        if options[name].get("currentValue") != value:
            raise Failed(f"{name} is {options[name].get('currentValue')!r}, not {value!r}", exchange(answer))


@should("config.unknown-option", _has_options, source=f"{_OPTIONS}; errors")
async def unknown_option(attempt: CheckRun) -> None:
    """An option that does not exist is refused with error -32602."""
    answer = await _set(attempt, attempt.dialect.setting("verify-no-such-option", "x"))
    must_fail(answer, "an unknown option", [INVALID_PARAMS])


@should("config.unknown-value", _has_select, source=f"{_OPTIONS}; errors")
async def unknown_value(attempt: CheckRun) -> None:
    """A value that was not offered is refused with error -32602."""
    name = next(_name(option) for option in attempt.facts.options if _values(option))
    answer = await _set(attempt, attempt.dialect.setting(name, "verify-no-such-value"))
    must_fail(answer, f"an unknown value of {name}", [INVALID_PARAMS])


@should("config.switch-for-a-choice", _has_select, source=f"{_OPTIONS}; errors", cases=(34,))
async def switch_for_choice(attempt: CheckRun) -> None:
    """True or false for an option that is a choice among values is refused with error -32602."""
    name = next(_name(option) for option in attempt.facts.options if _values(option))
    answer = await _set(attempt, {"configId": name, "type": "boolean", "value": True})
    must_fail(answer, f"true for {name}", [INVALID_PARAMS])


@must("config.switches", session, source=f"{_OPTIONS}; TCK ACP-CONFIG-003", cases=(34,), versions=ONLY_1)
async def switches_on_and_off(attempt: CheckRun) -> None:
    """An option that is a switch can be set, by a client that says that it knows switches."""
    async with attempt.fresh(capabilities={"session": {"configOptions": {"boolean": {}}}}) as agent:
        answer = await attempt.lead_up(agent, "session/new", attempt.opening())
        options = map(as_object, as_list(answer.result.get("configOptions")))
        switch = next((option for option in options if option.get("type") == "boolean"), None)
        if switch is None:
            raise Skipped("no option is a switch")
        name, wanted = _name(switch), switch.get("currentValue") is not True
        params: JsonObject = {"configId": name, "type": "boolean", "value": wanted}
        answer = await agent.ask(_METHOD, {"sessionId": text_of(answer.result, "sessionId"), **params})
        must_succeed(answer, f"setting {name} to {wanted}")
        now = {_name(option): option for option in map(as_object, as_list(answer.result.get("configOptions")))}
        if as_object(now.get(name)).get("currentValue") is not wanted:
            raise Failed(f"{name} is still not {wanted}", exchange(answer))


CHECKS = checks_in(globals())
