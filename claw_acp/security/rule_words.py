"""What rules cover, in words for people."""

from claw_acp.core.markdown import code_span
from claw_acp.core.printable import printable
from claw_acp.security.host_pattern import HostPattern
from claw_acp.security.rules import READING, PathPattern, Rule
from claw_acp.security.shell_pattern import ShellPattern


def covered_by(rule: Rule) -> str:
    """The calls that a rule is about: `npm test, exactly so, in the project's directory`."""
    match rule.pattern:
        case None:
            return _everything(rule)
        case ShellPattern():
            where = ", also outside of the sandbox" if rule.tool == "outside" and rule.verdict == "allow" else ""
            return f"{_commands(rule, rule.pattern)}{where}"
        case PathPattern():
            return _paths(rule, rule.pattern)
        case HostPattern():
            return _hosts(rule, rule.pattern)


def _everything(rule: Rule) -> str:
    match rule.tool:
        case "shell":
            return "every command"
        case "outside":
            return "every command outside of the sandbox"
        case "read":
            return "reading any file"
        case "write" | "edit":
            return "writing any file"
        case "fetch":
            return "fetching from any host"
        case "request":
            return "requests to any host, by any method"
        case "network":
            return "connections of commands to any host"
        case _:
            return f"every call of {printable(rule.tool)}"


def _commands(rule: Rule, pattern: ShellPattern) -> str:
    words = code_span(printable(" ".join(token.text for token in pattern.tokens if token.kind != "any")))
    if pattern.tokens[0].kind == "any":
        what = "every command"
    elif rule.verdict != "allow":
        what = f"every command that begins with {words}"
    elif pattern.tokens[-1].kind == "prefix":
        what = f"commands that begin with {words}, with any arguments"
    else:
        what = f"{words} with any arguments" if pattern.open_ended else f"{words}, exactly so"
    return f"{what}, in {_directory(rule, pattern)}"


def _directory(rule: Rule, pattern: ShellPattern) -> str:
    if pattern.directory not in {None, "*"}:
        return f"the directory {printable(str(pattern.directory))}"
    everywhere = rule.verdict != "allow" or pattern.open_ended or pattern.directory == "*"
    return "any directory" if everywhere else "the project's directory"


def _paths(rule: Rule, pattern: PathPattern) -> str:
    kind = "reading" if rule.tool in READING else "writing"
    start = {"root": "", "home": "~", "disk": ""}[pattern.base]
    by = "" if rule.tool in {"read", "write", "edit"} else f" by {rule.tool}"
    return f"{kind} {code_span(printable(start + pattern.glob))}{by}"


def _hosts(rule: Rule, pattern: HostPattern) -> str:
    below = pattern.name.startswith("*.")
    host = printable(f"every host below {pattern.name[2:]}" if below else pattern.name)
    port = "" if pattern.port is None else f", port {pattern.port}"
    private = ", also on a private network" if pattern.private else ""
    method = f"{pattern.method} " if pattern.method else ""
    kinds = {"network": "connections of commands to", "request": f"{method}requests to"}
    what = kinds.get(rule.tool, "fetching from")
    return f"{what} {host}{port}{private}"
