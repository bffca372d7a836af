"""The answers a person is offered, and the rules that each of them would store."""

from collections.abc import Sequence

from claw_acp.contracts.questions import Choice
from claw_acp.core.markdown import code_span
from claw_acp.core.printable import printable
from claw_acp.security.verdicts import Decision

TRUST_TEXT = "allow_trusting"
"""The answer that nothing is asked any more in this conversation because of text from some sources."""

STORED = "An “always” answer stores, for this project:"
_LONGEST_LABEL = 60  # characters of what is remembered; editors show labels on buttons


def choices_for(decision: Decision) -> tuple[Choice, ...]:
    """The answers to a decision that asks; lasting ones only if they can be stored."""
    once = Choice(id="allow_once", label="Allow once", kind="allow_once")
    refuse = Choice(id="reject_once", label="Reject", kind="reject_once")
    stored = decision.remember
    if decision.because:
        return (once, Choice(id=TRUST_TEXT, label=_trusting(decision.because), kind="allow_always"), refuse)
    if not stored:
        return (once, refuse)
    what = _called(stored)
    always = Choice(id="allow_always", label=f"Always allow {what} in this project", kind="allow_always", stores=stored)
    never = Choice(
        id="reject_always", label=f"Always reject {what} in this project", kind="reject_always", stores=stored
    )
    if not decision.wider:
        return (once, always, refuse, never)
    label = f"Always allow {_called(decision.wider)} in this project"
    wider = Choice(id="allow_always_wider", label=label, kind="allow_always", stores=decision.wider)
    return (once, always, wider, refuse, never)


def rules_told(choices: Sequence[Choice]) -> str:
    """All rules that the lasting answers would store, in full; empty if there are none."""
    lists = dict.fromkeys(choice.stores for choice in choices if choice.stores)
    text = "\n\nor, for any arguments:\n\n".join("\n".join(f"- {code_span(rule)}" for rule in rules) for rules in lists)
    return f"{STORED}\n\n{text}" if text else ""


def _trusting(sources: Sequence[str]) -> str:
    text = sources[0] if len(sources) == 1 else f"these {len(sources)} sources"
    return f"Allow, and trust text from {text if len(text) <= _LONGEST_LABEL else 'this source'} in this conversation"


def _called(rules: Sequence[str]) -> str:
    """A label for rules, short enough for a button, which names each of them completely."""
    if len(rules) > 1:
        return f"these {len(rules)} rules"
    text = _words(rules[0])
    return text if len(text) <= _LONGEST_LABEL else "exactly this"


def _words(rule: str) -> str:
    tool, _, rest = rule.partition("(")
    pattern = printable(rest.removesuffix(")"))
    match tool:
        case "shell" if pattern.endswith(" *"):
            return f"`{pattern.removesuffix(' *')}` with any arguments"
        case "shell":
            return f"`{pattern}`"
        case "outside":
            return f"`{pattern}` outside of the sandbox"
        case "read":
            return f"reading {pattern.removeprefix('/')}"
        case "write":
            return f"writing {pattern.removeprefix('/')}"
        case "fetch":
            return f"fetching from {pattern}"
        case "request":
            return f"requests: {pattern}"
        case _:
            return f"`{printable(rule)}`"
