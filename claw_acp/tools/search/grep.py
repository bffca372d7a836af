"""Text search in files: with ripgrep if it is installed, else with our own search."""

import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio.to_thread

from claw_acp.contracts.tool import CallDraft, CallView, Invocation, ReadsPath, ToolContext, ToolResult
from claw_acp.core.errors import InvalidArguments, ToolError
from claw_acp.core.events import Location
from claw_acp.core.messages import TextPart
from claw_acp.process.outer_path import outer_program
from claw_acp.tools.display import fenced, shortened, shown_path, within
from claw_acp.tools.files.unreadable import better_error
from claw_acp.tools.parameters import Parameters, TypedTool, argument
from claw_acp.tools.search.glob_pattern import MAX_LENGTH, anywhere, matcher
from claw_acp.tools.search.ignore_rules import IgnoreLookup, IgnoreRules
from claw_acp.tools.search.process import SEARCH_LIMIT, SearchEnd, run_search
from claw_acp.tools.search.ripgrep import ripgrep_command
from claw_acp.tools.search.rows import SearchReport
from claw_acp.tools.search.worker import SearchRequest

MAX_MATCHES = 1_000


class GrepParameters(Parameters):
    """The pattern and the place of a search."""

    pattern: str = argument(
        min_length=1,
        max_length=1_000,
        description=r"Regular expression for one line, such as `def \w+_test`; escape ( ) [ ] { } . * + ? | ^ $ \ to "
        "search for them as they are.",
    )
    path: str = argument(
        default=".", min_length=1, description="Directory or file to search; by default the session's directory."
    )
    glob: str | None = argument(
        default=None,
        min_length=1,
        max_length=MAX_LENGTH,
        description="Only files like this: `*.py` (at any depth), `src/**/*.ts`; `!*.md` for all but these.",
    )
    case: Literal["sensitive", "insensitive"] = argument(default="sensitive", description="Whether case matters.")
    context: int = argument(default=0, ge=0, le=10, description="Lines to show before and after each match.")
    max: int = argument(default=200, ge=1, le=MAX_MATCHES, description="Matches to show at most.")


class Grep(TypedTool[GrepParameters]):
    """Finds lines that match a regular expression."""

    name = "grep"
    draft = CallDraft(kind="search", verb="Search for", subject="pattern")
    description = (
        "Search the saved text of files, line by line, with a regular expression. The answer is sorted by path: "
        "`12: text` is a match in line 12, `13- text` a line near one. Binary files, .git and what .gitignore leaves "
        "out are skipped, symbolic links are not followed. At most 100 KB."
    )
    parameters = GrepParameters
    essential = True
    parallel = True

    def bind(self, parameters: GrepParameters, context: ToolContext) -> Invocation:
        """The invocation of one search."""
        if "\n" in parameters.pattern:
            raise InvalidArguments(
                "grep: `pattern` holds a line feed, but it is matched within one line. Search for one."
            )
        if parameters.glob is not None:
            matcher(anywhere(parameters.glob.removeprefix("!")))  # says what is wrong with it, whichever engine runs
        return _Search(parameters, path=context.workspace.locate(parameters.path), context=context)


@dataclass(frozen=True, slots=True)
class _Scope:
    """The directory to start in, the ignore rules below it, and whether ignore files above it apply."""

    base: Path
    lookup: IgnoreLookup | None
    inherits: bool


class _Search(Invocation):
    def __init__(self, parameters: GrepParameters, *, path: Path, context: ToolContext) -> None:
        self._parameters = parameters
        self._path = path
        self._context = context
        self._shown = shown_path(path, workspace=context.workspace)
        files = f" in {parameters.glob}" if parameters.glob else ""
        self.view = CallView(
            title=f"Search for {shortened(parameters.pattern)}{files}{within(self._shown)}",
            kind="search",
            locations=(Location(path=str(path)),),
        )
        self.accesses = (ReadsPath(path=path),)
        self._request = SearchRequest(
            pattern=parameters.pattern,
            start=str(path),
            roots=tuple(str(root) for root in context.workspace.roots),
            ignore_case=parameters.case == "insensitive",
            context=parameters.context,
            glob=parameters.glob,
        )

    async def run(self) -> ToolResult:
        scope = await anyio.to_thread.run_sync(self._scope)
        if scope is None:
            error = ToolError(f"{self._shown} is neither a file nor a directory.")
            raise await better_error(error, path=self._path, workspace=self._context.workspace)
        report, end = await self._searched(scope)
        text = self._told(report, end)
        return ToolResult(parts=(TextPart(text=text),), content=(fenced(text),), raw={"matches": report.matches})

    def _scope(self) -> _Scope | None:
        if self._path.is_file():  # one that was named is searched, ignored or not
            return _Scope(self._path.parent, lookup=None, inherits=False)
        if not self._path.is_dir():
            return None
        rules = IgnoreRules.at(self._path, roots=self._context.workspace.roots)
        return _Scope(self._path, lookup=IgnoreLookup(self._path, rules=rules), inherits=rules.reach_above(self._path))

    async def _searched(self, scope: _Scope) -> tuple[SearchReport, SearchEnd]:
        ripgrep = outer_program("rg", roots=self._context.workspace.roots)
        if ripgrep is not None:
            report = self._report(scope)
            argv = ripgrep_command(ripgrep, self._request, parents=scope.inherits)
            end = await run_search(argv, cwd=scope.base, take=report.take)
            if end.code in {0, 1, None} or report.matches:
                return report, end
            if "regex parse error" not in end.complaint:
                raise ToolError(f"The search failed: {end.complaint or f'ripgrep ended with code {end.code}'}")
        # Python also knows look-around and back-references, which ripgrep's own engine calls errors
        self._require_valid()
        report = self._report(scope)
        worker = [sys.executable, "-P", "-m", "claw_acp.tools.search.worker", self._request.to_json()]
        end = await run_search(worker, cwd=scope.base, take=report.take)
        if end.code:
            last = end.complaint.rpartition("\n")[2]
            raise ToolError(f"The search failed: {last or f'it ended with code {end.code}'}")
        return report, end

    def _report(self, scope: _Scope) -> SearchReport:
        def shown(name: str) -> str | None:
            path = scope.base / name
            # ripgrep takes a `glob` as a wish to see ignored files too, and knows nothing of our own rules
            if (scope.lookup is not None and scope.lookup.ignores(path)) or not self._context.may_read(path):
                return None
            return shown_path(path, workspace=self._context.workspace)

        return SearchReport(shown=shown, most=self._parameters.max)

    def _require_valid(self) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # `[[` and the like mean the same as ever
                re.compile(self._parameters.pattern)
        except (re.error, OverflowError, RecursionError) as error:
            literal = re.escape(self._parameters.pattern).replace("\\ ", " ")
            raise InvalidArguments(
                f"grep: `pattern` is no regular expression: {error}. To search for it as it is, escape it: {literal}"
            ) from error

    def _told(self, report: SearchReport, end: SearchEnd) -> str:
        notes: list[str] = []
        if report.more:
            notes.append(f"[{report.summary()} shown, there are more; use a narrower pattern, path or glob.]")
        if end.late:
            notes.append(
                f"[The search was stopped after {SEARCH_LIMIT:.0f} s: use a narrower path, or a pattern without nested "
                "repetition.]"
            )
        if not report.matches:
            scope = f" in files like {self._parameters.glob}" if self._parameters.glob else ""
            return "\n".join([f"Nothing in {self._shown} matches {self._parameters.pattern}{scope}.", *notes])
        head = "" if report.more else f"{report.summary()}\n\n"
        return "\n\n".join([head + report.text(groups=self._parameters.context > 0), *notes])
