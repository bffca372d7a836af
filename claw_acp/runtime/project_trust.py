"""Trust in the files of a session's project: asked of the person, kept for the project."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from anyio import to_thread

from claw_acp.config.locations import Locations
from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.contracts.questions import Asker, Choice, PermissionQuestion
from claw_acp.core.clock import SYSTEM_CLOCK, iso_time
from claw_acp.core.events import Notice, PartContent
from claw_acp.core.ids import new_id
from claw_acp.core.markdown import code_span
from claw_acp.core.messages import TextPart
from claw_acp.core.printable import printable
from claw_acp.core.quantity import quantity
from claw_acp.core.value import replace
from claw_acp.registry.reference import Ref
from claw_acp.runtime.audited import record
from claw_acp.runtime.live_session import LiveSession
from claw_acp.security.trust_store import TrustedText, TrustStore

if TYPE_CHECKING:
    from claw_acp.security.trust_question import TrustQuestion

_Asked: TypeAlias = tuple[ProjectFile, TrustedText | None]

ASK: Final = Ref[Callable[..., Awaitable[Choice | None]]]("claw_acp.agent.announced_question:ask_announced")
QUESTION: "Ref[Callable[[Sequence[_Asked]], TrustQuestion]]" = Ref("claw_acp.security.trust_question:trust_question")
TOOL: Final = "trust"
"""The tool name under which the question is shown; there is no such tool."""
_SHOWN: Final = "trust.shown"
_OFFERED: Final = "trust.offered"
_CHOICES: Final = (
    Choice(id="trust", label="Trust as shown", kind="allow_always"),
    Choice(id="not_now", label="Not now", kind="reject_once"),
)


class SessionTrust:
    """See `ProjectTrust`. In an attempt, trust in the project holds for its copy.

    Args:
        live: The session.
        locations: Our own directories.
        asker: Asks the person; None: nobody can be asked now.
    """

    def __init__(self, live: LiveSession, locations: Locations, *, asker: Asker | None = None) -> None:
        self._live = live
        self._store = TrustStore(locations.trust_file)
        self._asker = asker

    def trusted(self, files: Sequence[ProjectFile]) -> tuple[ProjectFile, ...]:
        """See `ProjectTrust`."""
        return tuple(file for file in files if self._store.trusts(self._original(file)))

    async def question(self, files: Sequence[ProjectFile]) -> str:
        """See `ProjectTrust`."""
        text, shown = self._question(files)
        for file in shown:
            self._of_session(_SHOWN)[file.path, file.project] = file.digest
        return text

    async def ask(self, files: Sequence[ProjectFile]) -> bool | None:
        """See `ProjectTrust`."""
        text, shown = self._question(files)
        if not text:
            return True
        if self._asker is None or not shown:
            return None
        named = shown[0].path if len(shown) == 1 else quantity(len(shown), "file")
        question = PermissionQuestion(
            session=self._live.session.id,
            call_id="",
            title=f"Trust {printable(named)} of this project",
            reason="It does nothing until you trust its text. When the text changes, you are asked again.",
            content=(PartContent(part=TextPart(text=text)),),
            choices=_CHOICES,
        )
        choice = await ASK.load()(self._live.session, self._asker, question, tool=TOOL, clock=SYSTEM_CLOCK)
        if choice is None:
            return None
        if choice.id != _CHOICES[0].id:
            return False
        await self._keep(shown, by=choice.by)
        return not self._question(files)[0]

    async def accept(self, files: Sequence[ProjectFile]) -> bool:
        """See `ProjectTrust`."""
        meant = [self._original(file) for file in files]
        shown = self._of_session(_SHOWN)
        if any(shown.get((file.path, file.project)) != file.digest for file in meant):
            return False
        await self._keep(meant)
        return True

    async def offer(self, files: Sequence[ProjectFile]) -> None:
        """Ask about those of the files that are not trusted, and about which this session has not asked yet."""
        offered = self._of_session(_OFFERED)
        new = [file for file in self._unknown(files) if offered.get((file.path, file.project)) != file.digest]
        if not new:
            return
        offered.update({(file.path, file.project): file.digest for file in new})
        if await self.ask(new) is None:
            title = f"{quantity(len(new), 'file')} of this project do nothing until you trust them"
            names = ", ".join(f"{file.kind} {code_span(printable(file.path))}" for file in new[:5])
            text = f"{names}{' and more' if len(new) > 5 else ''}. `claw-acp trust` in a terminal shows them."
            notice = Notice(item=new_id("ntc"), severity="info", title=title, description=text)
            await self._live.session.broadcast(notice)

    def _question(self, files: Sequence[ProjectFile]) -> tuple[str, tuple[ProjectFile, ...]]:
        asked = [(file, self._store.known(file)) for file in self._unknown(files)]
        return QUESTION.load()(asked) if asked else ("", ())

    def _unknown(self, files: Sequence[ProjectFile]) -> list[ProjectFile]:
        meant = (self._original(file) for file in files)
        return [file for file in meant if not self._store.trusts(file)]

    async def _keep(self, files: Sequence[ProjectFile], *, by: str = "") -> None:
        for file in files:
            await record(
                self._live.configuration, "trust", change="trusted", project=str(file.project), file=file.path,
                sha256=file.digest, session=self._live.session.id, **({"by": by} if by else {}),
            )  # fmt: skip
        await to_thread.run_sync(partial(self._store.add, files, at=iso_time(SYSTEM_CLOCK.now())))

    def _of_session(self, name: str) -> dict[object, str]:
        """The digests of texts by file, kept as long as the session is open."""
        kept = self._live.session.tool_state.items.setdefault(name, dict[object, str]())
        return cast("dict[object, str]", kept)

    def _original(self, file: ProjectFile) -> ProjectFile:
        """The file of the project itself, for one of a copy."""
        copies = zip(self._live.session.roots, self._live.origin.session.roots, strict=False)
        return replace(file, project=dict(copies).get(file.project, file.project))
