"""The values of a decision."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from claw_acp.contracts.tool import Reach, widest
from claw_acp.core.errors import ConfigError
from claw_acp.core.markdown import code_span
from claw_acp.core.value import Value
from claw_acp.security.rules import Rule, RuleVerdict, parse_rule

Verdict = RuleVerdict

MOST_REMEMBERED = 5  # rules one "always" may add; more could not be read before agreeing
PLAN_ONLY_READS = "plan mode only reads"

_WEIGHT: Mapping[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}
_WORDS: Mapping[Verdict, str] = {"allow": "allows", "ask": "asks about", "deny": "forbids"}


class Decision(Value):
    """The decision on a tool call.

    Attributes:
        verdict: Run it, ask a person, or refuse.
        reason: A text for people (and for the model, when it is refused).
        rule: The text of the rule that decided; None when the mode or a fixed protection did.
        remember: Rules that "always" would store; empty when the call must be asked about each time.
        wider: Rules for the same with any further arguments, if these can do no harm; else empty.
        reach: How far it may reach, if it is about commands; None otherwise.
        readable: Paths outside of the project that a command is to read.
        brings: Sources of untrusted text that a command brings in.
        because: Sources of untrusted text without which nobody would be asked.
        place: Where it would run in a sandbox, for people, if its reach does not tell.
    """

    verdict: Verdict
    reason: str
    rule: str | None = None
    remember: tuple[str, ...] = ()
    wider: tuple[str, ...] = ()
    reach: Reach | None = None
    readable: tuple[Path, ...] = ()
    brings: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    place: str = ""


Finding = Decision
"""A decision about one part of a call: one path, one command of a line, one host."""


def by_rule(rule: Rule, what: str, *, verdict: Verdict | None = None, reach: Reach | None = None) -> Finding:
    """The finding of a rule; a given `verdict` replaces the rule's own if the match is uncertain."""
    source = f" of {rule.source}" if rule.source else ""
    if verdict is not None and verdict != rule.verdict:
        reason = f"{what} may be what the rule {code_span(rule.text)}{source} {_WORDS[rule.verdict]}"
    else:
        reason = f"the rule {code_span(rule.text)}{source} {_WORDS[rule.verdict]} {what}"
    return Finding(verdict=verdict or rule.verdict, reason=reason, rule=rule.text, reach=reach)


def strictest(findings: Sequence[Finding]) -> Decision:
    """The decision about a whole call: refuse before ask before allow, with the reasons for that verdict."""
    weight = max((_WEIGHT[finding.verdict] for finding in findings), default=0)
    deciding = [finding for finding in findings if _WEIGHT[finding.verdict] == weight]
    if not deciding:
        return Decision(verdict="allow", reason="It touches nothing outside the session.")
    reasons = list(dict.fromkeys(finding.reason for finding in deciding))
    remember = tuple(dict.fromkeys(text for finding in deciding for text in finding.remember))
    # one part that must be asked about each time makes the whole call one that must
    lasting = weight == 1 and all(finding.remember for finding in deciding) and len(remember) <= MOST_REMEMBERED
    return Decision(
        verdict=deciding[0].verdict,
        reason=_sentence(reasons),
        rule=next((finding.rule for finding in deciding if finding.rule), None),
        remember=remember if lasting else (),
        wider=deciding[0].wider if lasting and len(remember) == 1 else (),
        reach=widest(finding.reach for finding in findings),
        readable=tuple(dict.fromkeys(path for finding in findings for path in finding.readable)),
        brings=tuple(dict.fromkeys(source for finding in findings for source in finding.brings)),
        because=tuple(dict.fromkeys(source for finding in deciding for source in finding.because)),
        place=next((finding.place for finding in findings if finding.place), ""),
    )


def usable(texts: Iterable[str]) -> tuple[str, ...]:
    """`texts` if each of them can be parsed as a rule, else nothing: some names cannot be written as one."""
    rules = tuple(texts)
    try:
        for text in rules:
            parse_rule(text, verdict="allow")
    except ConfigError:
        return ()
    return rules


def _sentence(reasons: Sequence[str]) -> str:
    shown = "; ".join(reasons[:3])
    more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
    text = f"{shown}{more}"
    return f"{text[:1].upper()}{text[1:]}."
