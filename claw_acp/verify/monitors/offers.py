"""The rules on features that an agent may use only with a client that offered them."""

from collections.abc import Iterator, Mapping, Sequence

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.schema.errors import AUTHENTICATION_REQUIRED
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.frames import Frame, as_list, as_object, text_of
from claw_acp.verify.monitors.observation import Observation, broken, kept, observed
from claw_acp.verify.rule import Rule, must, should

# fmt: off
FILES = must("client.files-only-if-offered", source="file-system; TCK ACP-CLIENTCAP-001", cases=(36,),
    text="fs/* is called only where the client offers it.")
TERMINALS = must("client.terminals-only-if-offered", source="terminals; TCK ACP-CLIENTCAP-002", cases=(36,),
    text="terminal/* is called only where the client offers it.")
ELICITATION = must("client.questions-only-if-offered", source="elicitation; TCK ACP-CLIENTCAP-003, 201", cases=(36,),
    text="elicitation/create is called only in a mode that the client offers.")
NOTICES = must("client.notices-only-if-offered", source="protocol schema: ClientSessionCapabilities",
    text="Notices and compaction updates are sent only to clients that take them.")
SWITCHES = must("config.switches-only-if-offered", source="session-config-options; TCK ACP-CONFIG-003", cases=(34,),
    text="Options that are switches are shown only to clients that know them.")
TERMINAL_LOGIN = must("auth.terminal-only-if-offered", source="authentication; TCK ACP-AUTH-002, 202", cases=(42,),
    text="A way to log in of type terminal is offered only to clients with auth.terminal.")
HAS_METHODS = should("auth.required-has-a-way", source="authentication; TCK ACP-AUTH-005, 205", cases=(42,),
    text="An agent that answers -32000, authentication required, offers a way to authenticate.")
# fmt: on
RULES = (FILES, TERMINALS, ELICITATION, NOTICES, SWITCHES, TERMINAL_LOGIN, HAS_METHODS)

METHODS: Mapping[str, tuple[Rule, str]] = {
    "fs/read_text_file": (FILES, "fs.readTextFile"),
    "fs/write_text_file": (FILES, "fs.writeTextFile"),
    "terminal/create": (TERMINALS, "terminal"),
    "terminal/output": (TERMINALS, "terminal"),
    "terminal/wait_for_exit": (TERMINALS, "terminal"),
    "terminal/kill": (TERMINALS, "terminal"),
    "terminal/release": (TERMINALS, "terminal"),
}
UPDATES = {
    "notice": "session.notices",
    "compaction_update": "session.compaction",
    "compaction_summary_chunk": "session.compaction",
}


def watch(agents: Sequence[AgentConnection]) -> Iterator[Observation]:
    """Compare the features used with those offered."""
    for agent in agents:
        if agent.protocol != 1:
            continue
        offered = agent.offered or {}
        seen = False
        for frame in agent.frames:
            if frame.way == "<-" and not frame.fault:
                seen = seen or frame.method == "session/update"
                yield from _called(frame, offered) if frame.method else _answered(frame, agent)
        if seen and not offered:
            yield from (kept(rule) for rule in (FILES, TERMINALS, ELICITATION, NOTICES))


def offers(offered: JsonObject, path: str) -> bool:
    """Return whether the client has a capability: `true` if it is a flag, an object if it is a marker."""
    value: JsonValue = offered
    for part in path.split("."):
        value = as_object(value).get(part)
    return value is True or isinstance(value, dict)


def _called(frame: Frame, offered: JsonObject) -> Iterator[Observation]:
    if frame.method in METHODS:
        rule, path = METHODS[frame.method]
        yield _gate(rule, path, offered, frame)
    elif frame.method == "elicitation/create":
        yield _gate(ELICITATION, f"elicitation.{text_of(frame.params, 'mode') or 'form'}", offered, frame)
    elif frame.method == "session/update":
        if frame.kind in UPDATES:
            yield _gate(NOTICES, UPDATES[frame.kind], offered, frame)
        if frame.kind == "config_option_update":
            yield from _options(frame.update, offered, frame)


def _gate(rule: Rule, path: str, offered: JsonObject, frame: Frame) -> Observation:
    if offers(offered, path):
        return kept(rule)
    return broken(rule, f"the client does not offer {path}", frame)


def _options(holder: JsonObject, offered: JsonObject, frame: Frame) -> Iterator[Observation]:
    options = [as_object(option) for option in as_list(holder.get("configOptions"))]
    switches = [text_of(option, "id") for option in options if option.get("type") == "boolean"]
    if switches and not offers(offered, "session.configOptions.boolean"):
        yield broken(SWITCHES, f"the option {switches[0]} is a switch", frame)
    elif options:
        yield kept(SWITCHES)


def _answered(frame: Frame, agent: AgentConnection) -> Iterator[Observation]:
    offered = agent.offered or {}
    yield from _options(frame.result, offered, frame)
    if frame is agent.hello:
        methods = [as_object(method) for method in as_list(frame.result.get("authMethods"))]
        terminal = any(method.get("type") == "terminal" for method in methods)
        may = offers(offered, "auth.terminal") or as_object(offered.get("_meta")).get("terminal-auth") is True
        if methods:
            fine = may or not terminal
            yield observed(TERMINAL_LOGIN, "the client does not offer auth.terminal", frame, fine=fine)
    if frame.code == AUTHENTICATION_REQUIRED and agent.hello is not None:
        ways = as_list(agent.hello.result.get("authMethods"))
        yield kept(HAS_METHODS) if ways else broken(HAS_METHODS, "authMethods is empty", agent.hello, frame)
