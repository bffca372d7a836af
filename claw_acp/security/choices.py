"""The answers a person is offered, saying exactly what each of them would be remembered as."""

from claw_acp.contracts.asking import Choice
from claw_acp.security.verdicts import Decision

_LONGEST_LABEL = 60  # characters of what is remembered; editors show labels on buttons


def choices_for(decision: Decision) -> tuple[Choice, ...]:
    """The answers to a decision that asks; the lasting ones only where something can be remembered."""
    once = Choice(id="allow_once", label="Allow once", kind="allow_once")
    refuse = Choice(id="reject_once", label="Reject", kind="reject_once")
    if not decision.remember:
        return (once, refuse)
    what = remembered_text(decision)
    always = Choice(id="allow_always", label=f"Always allow {what} in this project", kind="allow_always")
    never = Choice(id="reject_always", label=f"Always reject {what} in this project", kind="reject_always")
    return (once, always, refuse, never)


def remembered_text(decision: Decision) -> str:
    """What "always" stands for, in words: `npm test …`, writing src/app.py, fetching from docs.python.org."""
    text = ", ".join(_words(rule) for rule in decision.remember)
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"


def _words(rule: str) -> str:
    tool, _, rest = rule.partition("(")
    pattern = rest.removesuffix(")")
    match tool:
        case "shell":
            return f"`{pattern} …`"  # a rule is the beginning of a command: harmless words may follow
        case "read":
            return f"reading {pattern.removeprefix('/')}"
        case "write":
            return f"writing {pattern.removeprefix('/')}"
        case "fetch":
            return f"fetching from {pattern}"
        case _:
            return f"`{rule}`"
