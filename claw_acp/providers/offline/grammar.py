"""The grammar of the offline assistant: patterns, each with its wish.

Patterns see masked text (`offline.quotes`), match a whole clause and ignore case; the first match wins, so narrow
patterns come before wide ones.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from claw_acp.providers.offline.commands import Repair, Run
from claw_acp.providers.offline.files import Append, CreateFile, ReadFile, Replace
from claw_acp.providers.offline.looking import FindFiles, ListFiles, Search, Summarize
from claw_acp.providers.offline.quotes import ATOM, OPEN, Masked
from claw_acp.providers.offline.tasks import Help, MakePlan, Remind
from claw_acp.providers.offline.worker import Wish

_TERM = rf"(?:{ATOM}|[^\s,{OPEN}]+)"
_PATH = rf"(?:{ATOM}|[^\s,{OPEN}]*[./][^\s,{OPEN}]*)"  # an unquoted path shows itself by a dot or a slash
_FILE = r"(?: the)?(?: file)?"
_FIX = r"(?:fix|repair|mend)"
_REPORT = r"(?:,? and (?:tell|show|say|report)\b.*)?"  # what came of it is told anyway
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*(?:\[.?\]\s*)?")
_HERE = {"files", "the files", "all files", "the project", "project", "here", "."}


@dataclass(frozen=True, slots=True)
class _Found:
    """The named parts of a clause, with quoted pieces put back."""

    match: re.Match[str]
    masked: Masked

    def __call__(self, name: str) -> str:
        return self.masked.restore(self.match.group(name) or "")

    def maybe(self, name: str) -> str | None:
        return self(name) or None


@dataclass(frozen=True, slots=True)
class _Rule:
    patterns: tuple[re.Pattern[str], ...]
    make: Callable[[_Found], Wish]


def _rule(make: Callable[[_Found], Wish], *patterns: str) -> _Rule:
    return _Rule(tuple(re.compile(f"^(?:{one})$", re.IGNORECASE | re.DOTALL) for one in patterns), make)


_RULES = (
    _rule(lambda _: Help(), r"help\b.*", r"hi|hello|hey", r"(?:what can|who are|what are) you\b.*"),
    _rule(
        lambda got: Repair(command=got.maybe("command")),
        rf"{_FIX}\b[^{OPEN}]*\btests?\b(?P<command>)[^{OPEN}]*",
        rf"{_FIX}\b.*?\btests?\b[^{OPEN}]*(?P<command>{ATOM}).*",
        rf"{_FIX}\b.*?(?P<command>{ATOM})\s+(?:pass(?:es)?|succeeds?)\b.*",
        rf"{_FIX} (?:it|them)(?P<command>)",
    ),
    _rule(
        lambda _: Summarize(),
        r"(?:summari[sz]e|describe|explain|overview|tell me about|what is|what's)\b.*\b"
        r"(?:project|repo|repository|codebase|workspace)(?: about)?",
    ),
    _rule(
        lambda got: MakePlan(entries=_items(got("items"))),
        r"(?:plan|to-?dos?|(?:make|create) a (?:plan|to-?do list))(?: for)?:?\s+(?P<items>.+)",
    ),
    _rule(
        lambda got: FindFiles(pattern=got("pattern")),
        rf"(?:list|find|search for|show)(?: me)?(?: all)?(?: the)? files?"
        rf" (?:named|called|matching|like) (?P<pattern>{_TERM})",
    ),
    _rule(
        lambda got: ListFiles(path=got.maybe("path")),
        rf"(?:list|ls|show)(?: me)?(?: all)?(?: of)?(?: the| my)? (?:files|directory|folder|dir|contents?)"
        rf"(?: in here| here| (?:in|of|under)(?: the)? (?P<path>{_TERM})(?: folder| directory)?)?",
        rf"(?:ls|list)(?: (?P<path>{_TERM}))?",
        r"(?:what|which) files (?:are|do)\b(?P<path>).*",
    ),
    _rule(
        lambda got: Replace(path=got("path"), old=got("old"), new=got("new")),
        rf"(?:replace|change|substitute)(?: the (?:text|word|string))? (?P<old>.+?) (?:with|by|to|into) (?P<new>.+?)"
        rf" (?:in|inside){_FILE} (?P<path>{_TERM})",
        rf"in{_FILE} (?P<path>{_TERM}),? (?:replace|change) (?P<old>.+?) (?:with|by|to|into) (?P<new>.+)",
    ),
    _rule(
        lambda got: Append(path=got("path"), content=got("content")),
        rf"(?:append|add)(?: the)?(?: (?:text|lines?|content))?:? (?P<content>.+?)"
        rf" (?:to|at)(?: the end of)?{_FILE} (?P<path>{_PATH})",
        rf"append to{_FILE} (?P<path>{_PATH}):?\s+(?P<content>.+)",
    ),
    _rule(
        lambda got: CreateFile(path=got("path"), content=got("content")),
        rf"(?:create|write|make|add|save)(?: an?| the)?(?: new)?(?: file)?(?: called| named)? (?P<path>{_PATH}),?"
        rf"(?: (?:with|containing|saying|that (?:contains|says))|:)(?: the)?"
        rf"(?: (?:content|text|lines?))?:?\s+(?P<content>.+)",
        rf"(?:write|save|put)(?: the text)? (?P<content>.+?)"
        rf" (?:to|into|in)(?: a| the)?(?: new)?(?: file)? (?P<path>{_PATH})",
    ),
    _rule(
        lambda _: Run(),
        rf"(?:run|execute) (?:it|that|them|the (?:tests?|command))(?: again| once more)?{_REPORT}",
        rf"(?:again|retry|(?:re-?)?run (?:all )?tests?){_REPORT}",
        r"(?:which|what) tests? (?:fails?|(?:is|are) (?:broken|failing))",
    ),
    _rule(lambda got: Remind(text=got("text")), r"remind me(?: of| about| to| that)?:? (?P<text>.+)"),
    _rule(
        lambda got: Run(command=got("command")), rf"(?:run|execute)(?: the)?(?: command)?:? (?P<command>.+?){_REPORT}"
    ),
    _rule(
        lambda got: ReadFile(path=got("path"), explain=True),
        rf"(?:explain|describe|summari[sz]e|what is in|what's in|what does)"
        rf"(?: me)?{_FILE} (?P<path>{_PATH})(?: do| contain)?",
    ),
    _rule(
        lambda got: ReadFile(path=got("path")),
        rf"(?:read|show|open|cat|print|display|view)(?: me)?(?: the contents? of)?{_FILE} (?P<path>{_PATH})",
    ),
    _rule(
        lambda got: Search(text=got("text"), path=None if got("path").lower() in _HERE else got.maybe("path")),
        rf"(?:find|search for|search|grep for|grep|look for|where is)(?: the (?:text|word|string))? (?P<text>.+?)"
        rf"(?: (?:in|inside|under)(?: the)?(?: file| folder)? (?P<path>{_TERM}|the project|all files))?"
        rf"(?: defined| used)?",
    ),
)


def wish_of(clause: str, *, masked: Masked) -> Wish | None:
    """The wish of a clause of masked text; None if no rule matches."""
    for rule in _RULES:
        for pattern in rule.patterns:
            if match := pattern.match(clause):
                return rule.make(_Found(match, masked))
    return None


def _items(text: str) -> tuple[str, ...]:
    separator = "\n" if "\n" in text else ";" if ";" in text else ","
    items = (_BULLET.sub("", item).strip(" .") for item in text.split(separator))
    return tuple(item for item in items if item)
