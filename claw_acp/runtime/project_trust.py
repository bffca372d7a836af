"""Trust in the files of a session's project, as slash commands ask for it."""

from functools import partial
from typing import Final, cast

from anyio import to_thread

from claw_acp.config.locations import Locations
from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.core.clock import SYSTEM_CLOCK, iso_time
from claw_acp.core.value import replace
from claw_acp.runtime.audited import record
from claw_acp.runtime.live_session import LiveSession
from claw_acp.security.trust_question import trust_question
from claw_acp.security.trust_store import TrustStore

_SHOWN: Final = "trust.shown"


class SessionTrust:
    """See `ProjectTrust`. In an attempt, trust in the project holds for its copy."""

    def __init__(self, live: LiveSession, locations: Locations) -> None:
        self._live = live
        self._store = TrustStore(locations.trust_file)

    async def question(self, file: ProjectFile) -> str:
        """See `ProjectTrust`."""
        meant = self._original(file)
        known = await to_thread.run_sync(self._store.known, meant)
        if known is not None and known.sha256 == meant.digest:
            return ""
        self._shown[meant.path, meant.project] = meant.digest
        return trust_question(meant, known)

    async def accept(self, file: ProjectFile) -> bool:
        """See `ProjectTrust`."""
        meant = self._original(file)
        if self._shown.get((meant.path, meant.project)) != meant.digest:
            return False
        await record(
            self._live.configuration, "trust", change="trusted", project=str(meant.project), file=meant.path,
            sha256=meant.digest, session=self._live.session.id,
        )  # fmt: skip
        await to_thread.run_sync(partial(self._store.add, [meant], at=iso_time(SYSTEM_CLOCK.now())))
        return True

    @property
    def _shown(self) -> dict[object, str]:
        """The digests of the texts that this session has shown, by file."""
        shown = self._live.session.tool_state.items.setdefault(_SHOWN, dict[object, str]())
        return cast("dict[object, str]", shown)

    def _original(self, file: ProjectFile) -> ProjectFile:
        """The file of the project itself, for one of a copy."""
        copies = zip(self._live.session.roots, self._live.origin.session.roots, strict=False)
        return replace(file, project=dict(copies).get(file.project, file.project))
