"""Where a name is defined, where it is used, and what it is."""

from collections.abc import Mapping, Sequence
from typing import Final

from claw_acp.contracts.tool import Invocation, Progress, ToolContext, ToolResult
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import TextPart
from claw_acp.core.untrusted import untrusted
from claw_acp.tools.code.candidates import files_with
from claw_acp.tools.code.places import is_own, locations, places_in, shown_places
from claw_acp.tools.code.question import NameParameters, NameQuestion
from claw_acp.tools.display import fenced
from claw_acp.tools.parameters import TypedTool, argument

LONGEST_TEXT: Final = 8_000  # characters of what is said about a name


class FindDefinition(TypedTool[NameParameters]):
    """Finds definitions."""

    name = "find_definition"
    description = "Find where a name in source code is defined, by the language server of this machine for it."
    parameters = NameParameters
    parallel = True
    on_demand = True

    def bind(self, parameters: NameParameters, context: ToolContext) -> Invocation:
        """The invocation of one question."""
        return _Definition(parameters, context=context)


class _Definition(NameQuestion):
    verb = "Find the definition of"

    async def run(self) -> ToolResult:
        found = places_in(await self.about_name("textDocument/definition"))
        await self.context.progress(Progress(locations=locations(found) or None))
        nothing = f"{self.server.name} knows no definition of `{self.name}`."
        return await shown_places(found, context=self.context, nothing=nothing)


class ReferencesParameters(NameParameters):
    """A name, and which of its uses."""

    definition: bool = argument(default=True, description="Whether the definition counts as well.")


class FindReferences(TypedTool[ReferencesParameters]):
    """Finds uses."""

    name = "find_references"
    description = (
        "Find where a name in source code is used, across the project, by the language server of this machine for it. "
        "Unlike grep it knows which of equal names is meant."
    )
    parameters = ReferencesParameters
    parallel = True
    on_demand = True

    def bind(self, parameters: ReferencesParameters, context: ToolContext) -> Invocation:
        """The invocation of one question."""
        return _References(parameters, context=context)


class _References(NameQuestion):
    verb = "Find uses of"

    def __init__(self, parameters: ReferencesParameters, *, context: ToolContext) -> None:
        super().__init__(parameters, context=context)
        self._definition = parameters.definition

    async def run(self) -> ToolResult:
        wanted: JsonValue = {"includeDeclaration": self._definition}
        others = await files_with(self.name, server=self.server, context=self.context)
        found = places_in(await self.about_name("textDocument/references", texts=others.texts, context=wanted))
        found.sort(key=lambda place: (place.path, place.line))
        nothing = f"{self.server.name} knows no use of `{self.name}`."
        note = "" if others.complete else "The name stands in more files than were looked at; there may be other uses."
        return await shown_places(found, context=self.context, nothing=nothing, note=note)


class Hover(TypedTool[NameParameters]):
    """Says what a name is."""

    name = "hover"
    description = (
        "Get the type, signature and documentation of a name in source code, by the language server of this machine."
    )
    parameters = NameParameters
    parallel = True
    on_demand = True

    def bind(self, parameters: NameParameters, context: ToolContext) -> Invocation:
        """The invocation of one question."""
        return _Hover(parameters, context=context)


class _Hover(NameQuestion):
    verb = "Look up"
    kind = "read"

    async def run(self) -> ToolResult:
        answer = await self.about_name("textDocument/hover")
        text = _said(answer.get("contents") if isinstance(answer, Mapping) else None).strip()
        if not text:
            return ToolResult(parts=(TextPart(text=f"{self.server.name} says nothing about `{self.name}`."),))
        shown = text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}\n… (cut)"
        source = await self._source()
        token = self.context.clock.random_bytes(8).hex()
        marked = untrusted(shown, source=source, token=token) if source else shown
        return ToolResult(parts=(TextPart(text=marked),), content=(fenced(shown),), source=source)

    async def _source(self) -> str:
        """The stranger whose words these are; empty where the name is defined in the project itself."""
        defined = places_in(await self.about_name("textDocument/definition"))
        strange = [place.path for place in defined if not is_own(place.path, context=self.context)]
        if defined and not strange:
            return ""
        return f"the documentation of `{self.name}`" if not strange else f"the file {strange[0]}"


def _said(contents: JsonValue) -> str:
    """The text of `MarkupContent`, of a `MarkedString`, or of several."""
    if isinstance(contents, str):
        return contents
    if isinstance(contents, Mapping):
        value = contents.get("value")
        language = contents.get("language")
        text = value if isinstance(value, str) else ""
        return f"```{language}\n{text}\n```" if isinstance(language, str) else text
    if isinstance(contents, Sequence):
        return "\n\n".join(filter(None, map(_said, contents)))
    return ""
