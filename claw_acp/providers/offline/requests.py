"""Parsing an English request: it is split into clauses, and each is looked up in the grammar."""

import re

from claw_acp.providers.offline.commands import Repair
from claw_acp.providers.offline.grammar import wish_of
from claw_acp.providers.offline.quotes import Masked, mask
from claw_acp.providers.offline.tasks import Conditional, MakePlan
from claw_acp.providers.offline.worker import Wish

_VERBS = (
    "append|add|cat|change|create|execute|explain|find|fix|grep|list|make|open|print|put|read|repair|replace|run"
    "|save|search|show|summari[sz]e|write"
)
_BREAK = re.compile(
    rf"\s*[,.;]?\s+(?:and\s+)?then,?\s+|\s*\n+\s*|;\s+|[.!?]\s+(?=[A-Z])|,?\s+and\s+(?=(?:if|{_VERBS})\b)"
    rf"|(?<!fail)(?<!fails),\s+(?=(?:{_VERBS})\b)"
)
_POLITE = re.compile(
    r"^(?:(?:please|now|first|finally|next|also|and|then|can you|could you|would you|i want you to|let'?s)[, ]+)+",
    re.IGNORECASE,
)
_IF_FAILED = re.compile(r"if (?:it|that|this|they|the tests?) fails?,?\s+(?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_THIS = re.compile(r"\b(?:this|the|that) file\b|(?<=\s)(?:this|it)$", re.IGNORECASE)


def understand(text: str, *, attached: str | None = None) -> tuple[Wish, ...]:
    """The wishes in `text`, in order; empty if any part of it is not understood.

    Args:
        text: The person's message.
        attached: The path of a file that came with the message; "this file" means it.
    """
    masked = mask(text)
    if attached is not None:
        masked = masked.replacing(_THIS, piece=attached)
    whole = _wish(masked.text, masked=masked)
    if isinstance(whole, MakePlan | Repair):  # their clauses belong together
        return (whole,)
    clauses = [_wish(clause, masked=masked) for clause in _BREAK.split(masked.text) if clause.strip(" .!?")]
    wishes = tuple(clause for clause in clauses if clause is not None)
    if wishes and len(wishes) == len(clauses):
        return wishes
    return (whole,) if whole is not None else ()


def _wish(clause: str, *, masked: Masked) -> Wish | None:
    clause = _POLITE.sub("", clause.strip()).rstrip(" .!?,")
    if condition := _IF_FAILED.fullmatch(clause):
        then = _wish(condition.group("rest"), masked=masked)
        return None if then is None else Conditional(wish=then)
    return wish_of(clause, masked=masked)
