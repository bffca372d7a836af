"""Finding tools that are not listed, because most conversations need none of them."""

import json
import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import CallView, Invocation, ToolContext, ToolResult
from claw_acp.contracts.tool_catalog import FIND_TOOLS, ToolCatalog, announcement
from claw_acp.core.errors import ToolError
from claw_acp.core.messages import TextPart
from claw_acp.tools.display import amount, shortened
from claw_acp.tools.parameters import Parameters, TypedTool, argument

MOST_FOUND: Final = 10
MAX_SCHEMA: Final = 6_000  # characters of one schema in a result; the list of tools has all of it
_SMALL_WORDS: Final = frozenset(
    (
        "an",
        "and",
        "as",
        "by",
        "do",
        "for",
        "from",
        "how",
        "in",
        "into",
        "is",
        "it",
        "of",
        "on",
        "or",
        "that",
        "the",
        "this",
        "to",
        "use",
        "with",
    )
)
"""Words that tell no tools apart."""

_NEAR: Final = 5  # names that an error suggests


class FindParameters(Parameters):
    """What is looked for."""

    query: str = argument(
        min_length=1, max_length=500, description="Names of tools, or words about what they should do."
    )
    limit: int = argument(default=5, ge=1, le=MOST_FOUND, description="How many tools to return at most.")


class FindTools(TypedTool[FindParameters]):
    """Finds tools by their names and descriptions."""

    name = FIND_TOOLS
    description = (
        "Find further tools by name or by words, and get their descriptions and arguments. What it finds can be called "
        "from then on."
    )
    parameters = FindParameters

    def bind(self, parameters: FindParameters, context: ToolContext) -> Invocation:
        """The invocation of one search."""
        return _Finding(parameters, catalog=context.port(ToolCatalog))


class _Finding(Invocation):
    def __init__(self, parameters: FindParameters, *, catalog: ToolCatalog | None) -> None:
        self._parameters = parameters
        self._catalog = catalog
        self.view = CallView(title=f"Find tools: {shortened(parameters.query)}", kind="search")

    async def run(self) -> ToolResult:
        """Have those that were found listed from now on."""
        offered = () if self._catalog is None else self._catalog.offered()
        if self._catalog is None or not offered:
            raise ToolError("There are no further tools: all are listed.")
        found = matching(self._parameters.query, offered)[: self._parameters.limit]
        if not found:
            names = [spec.name for spec in offered]
            near = get_close_matches(self._parameters.query, names, n=_NEAR, cutoff=0.4) or names[:_NEAR]
            raise ToolError(
                f"None of the {amount(len(names), 'further tool')} fits these words. Try a name ({', '.join(near)}), "
                "or other words for what it should do."
            )
        names = [spec.name for spec in found]
        self._catalog.list_these(names)
        text = "\n\n".join([announcement(names), *map(_described, found)])
        return ToolResult(parts=(TextPart(text=text),), raw={"found": names})


def matching(query: str, specs: Sequence[ToolSpec]) -> list[ToolSpec]:
    """The tools that fit a query, the best first; of equal ones those that come first.

    The query's own names come before all others, and a word in a name counts more than one in a description.
    """
    named = set(re.split(r"[\s,;]+", query))
    wanted = {stem for word in _words(query) if (stem := _stem(word))}
    scored = [(spec.name in named, _score(spec, wanted), spec) for spec in specs]
    best = sorted((row for row in scored if row[0] or row[1]), key=lambda row: (not row[0], -row[1]))
    exact = [row for row in best if row[0]]
    return [spec for _, _, spec in (exact if len(exact) == len(named) else best)]


def _score(spec: ToolSpec, wanted: set[str]) -> int:
    name = {_stem(word) for word in _words(spec.name)}
    about = {_stem(word) for word in _words(spec.description)}
    return sum(3 if word in name else word in about for word in wanted)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def _stem(word: str) -> str:
    """A word without its plural; empty for one that tells no tools apart."""
    if word in _SMALL_WORDS:
        return ""
    return word.removesuffix("s") if len(word) > 3 else word if len(word) > 1 else ""


def _described(spec: ToolSpec) -> str:
    schema = json.dumps(spec.parameters, ensure_ascii=False, separators=(",", ":"))
    if len(schema) > MAX_SCHEMA:
        schema = f"{schema[:MAX_SCHEMA]}… (cut)"
    return f"{spec.name}: {spec.description}\nArguments: {schema}"
