"""Finding models: model servers on this machine, and the models that providers list.

Nothing here runs periodically. Servers are looked for when a session is opened and after a prompt; lists are fetched
when a session is opened and the cached one is a day old. Open sessions are updated.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from claw_acp.config.current import CurrentSettings
from claw_acp.config.discovered_models import FoundServer
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider import ModelInfo, Provider
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.clock import Clock
from claw_acp.core.errors import AuthRequired, ClawError
from claw_acp.core.events import SessionChanged
from claw_acp.core.value import replace
from claw_acp.providers.catalog.listings import Catalog, Listing
from claw_acp.providers.models.chat_models import for_chat
from claw_acp.providers.registry.keys import find_key
from claw_acp.providers.registry.profiles import ProviderProfile
from claw_acp.providers.registry.services import OFFLINE
from claw_acp.providers.selection.available_models import usable
from claw_acp.providers.selection.resolve import resolve
from claw_acp.providers.selection.resolved_model import ResolvedModel
from claw_acp.providers.selection.route_rules import model_behind
from claw_acp.providers.selection.setups import setup_of
from claw_acp.registry.reference import Ref
from claw_acp.runtime.live_session import LiveSessions
from claw_acp.runtime.model_reference import ReferenceUpkeep
from claw_acp.runtime.session_options import models
from claw_acp.workspace.process_host import ProcessHost

# Loaded when they are first used, and not while an editor waits for its session.
FIND_SERVERS: "Ref[Callable[[Settings], Awaitable[Mapping[str, FoundServer]]]]" = Ref(
    "claw_acp.providers.registry.local_servers:find_servers"
)
MAKE_PROVIDER: "Ref[Callable[[ProviderSetup], Provider]]" = Ref("claw_acp.providers.assembly:plain")

FIRST_LOOK = 0.15  # seconds a new session waits for model servers, when there is nobody else to answer
LOOK_AGAIN = 3.0  # seconds after which servers are looked for again, when there is a reason to
FETCH_AGAIN = 600.0  # seconds after which a provider that could not list its models is asked again
FETCH_TIMEOUT = 20.0  # seconds for one list, with the connection
AT_ONCE = 4  # lists that are fetched at the same time
CLOSE_TIMEOUT = 1.0  # seconds a provider has to let go of its connections

_SILENT = frozenset({"offline", "scripted"})

log = logging.getLogger(__name__)


class Discovery:
    """Finds models, in the background.

    Args:
        configuration: Receives the results.
        live: The sessions to update.
        cache_dir: The directory of cached lists.
        processes: Runs the program that builds the model reference.
        clock: Time.
        tasks: The task group to work in.
    """

    def __init__(
        self,
        configuration: CurrentSettings,
        *,
        live: LiveSessions,
        cache_dir: Path,
        processes: ProcessHost,
        clock: Clock,
        tasks: TaskGroup,
    ) -> None:
        self._configuration = configuration
        self._live = live
        self._clock = clock
        self._tasks = tasks
        self._catalog = Catalog(cache_dir / "models")
        self._recalled: dict[tuple[str, str], Listing | None] = {}
        self._asked: dict[tuple[str, str], float] = {}
        self._looking: anyio.Event | None = None
        self._looked: float | None = None
        self._fetching = anyio.Lock()
        self.reference = ReferenceUpkeep(
            configuration, directory=cache_dir / "reference", processes=processes, clock=clock
        )

    async def first_model(self, root: Path) -> tuple[Settings, str, str | None]:
        """The settings of a new session in a folder, its model's name, and a notice about the choice.

        The session opens even if its model cannot be used, so that a person can choose another one.

        Raises:
            AuthRequired: The configured model cannot be used without a key.
        """
        try:
            settings, choice = await self._first_choice(root)
        except AuthRequired:
            raise
        except ClawError as error:
            settings = self._configuration.for_folder(root)
            log.warning("the model cannot be used", extra={"model": settings.model, "reason": error.message})
            return settings, *_in_its_place(settings, reason=error.message.rstrip("."))
        return settings, choice.name, choice.notice

    async def _first_choice(self, root: Path) -> tuple[Settings, ResolvedModel]:
        """The model for a new session. Local model servers are awaited only if no other model could answer."""
        self.recall(self._configuration.for_folder(root))
        settings = self._configuration.for_folder(root)
        choice = resolve(settings, model=None)
        servers = settings.discovered.servers
        if settings.model is None and (choice.target.provider == OFFLINE.name or choice.target.provider in servers):
            await self._look_first()
            settings = self._configuration.for_folder(root)
            choice = resolve(settings, model=None)
        return settings, choice

    # ------------------------------------------------------------------ model servers on this machine

    def look(self) -> None:
        """Look for model servers, in the background, unless that was done just now."""
        now = self._clock.monotonic()
        if self._looked is None or now - self._looked >= LOOK_AGAIN:
            self._look_now()

    def _look_now(self) -> None:
        settings = self._configuration.for_folder(None)
        if self._looking is None and (settings.local_servers or settings.discovered.servers):
            self._looking = anyio.Event()
            self._tasks.start_soon(self._look, settings)

    async def _look_first(self) -> None:
        self._look_now()
        if self._looking is not None:
            with anyio.move_on_after(FIRST_LOOK):
                await self._looking.wait()

    async def _look(self, settings: Settings) -> None:
        looking = self._looking
        try:
            servers = await FIND_SERVERS.load()(settings)
        finally:
            self._looked, self._looking = self._clock.monotonic(), None
            if looking is not None:
                looking.set()
        known = self._configuration.discovered.servers
        if servers.keys() != known.keys():
            log.info("model servers", extra={"found": ", ".join(servers) or "none"})
        await self._learn(servers=servers)

    # ------------------------------------------------------------------ lists of models

    def recall(self, settings: Settings) -> None:
        """Load the cached lists and facts for usable providers, before the choices are shown."""
        self.reference.recall(settings)
        if known := self._kept(settings):
            self._configuration.learn(
                replace(self._configuration.discovered, lists={**self._configuration.discovered.lists, **known})
            )

    def _kept(self, settings: Settings) -> Mapping[tuple[str, str], tuple[ModelInfo, ...]]:
        """The model lists that are on disk and were not read yet; each file is read once."""
        known: dict[tuple[str, str], tuple[ModelInfo, ...]] = {}
        for profile in usable(settings):
            place = (profile.name, profile.base_url)
            if _listable(profile) and place not in self._recalled:
                listing = self._recalled[place] = self._catalog.read(*place)
                if listing is not None:
                    known[place] = listing.models
        return known

    async def fetch(self, settings: Settings, *, model: str) -> None:
        """Fetch the lists that are missing or old. Failed ones are tried again some time later.

        Programs are not started for their lists alone: only the one that answers as `model` is asked.
        """
        self._tasks.start_soon(self.reference.refresh, settings)
        if not settings.model_lists or self._fetching.locked():
            return
        if known := self._kept(settings):
            await self._learn(lists=known)
        async with self._fetching, anyio.create_task_group() as tasks:
            limit = anyio.CapacityLimiter(AT_ONCE)
            chosen = model_behind(model, settings=settings).partition("/")[0]
            for profile in usable(settings):
                if (
                    _listable(profile)
                    and self._is_due(profile)
                    and (profile.kind != "binary" or profile.name == chosen)
                ):
                    self._asked[profile.name, profile.base_url] = self._clock.monotonic()
                    tasks.start_soon(self._fetch, profile, settings, limit)

    def _is_due(self, profile: ProviderProfile) -> bool:
        place = (profile.name, profile.base_url)
        listing = self._recalled.get(place)
        if listing is not None and listing.is_new(self._clock.now()):
            return False
        asked = self._asked.get(place)
        return asked is None or self._clock.monotonic() - asked >= FETCH_AGAIN

    async def _fetch(self, profile: ProviderProfile, settings: Settings, limit: anyio.CapacityLimiter) -> None:
        async with limit:
            try:
                with anyio.fail_after(FETCH_TIMEOUT):
                    listed = for_chat(await self._listed(profile, settings))
            except (ClawError, TimeoutError) as error:
                reason = error.message if isinstance(error, ClawError) else "no answer in time"
                log.info("no list of models", extra={"provider": profile.name, "reason": reason})
                return
        await self.listed(profile.name, profile.base_url, listed)

    async def listed(self, provider: str, base_url: str, models: Sequence[ModelInfo]) -> None:
        """Use and cache a list that a provider has just returned."""
        listed = tuple(models)
        place, now = (provider, base_url), self._clock.now()
        self._recalled[place] = Listing(models=listed, fetched=now)
        try:
            await to_thread.run_sync(partial(self._catalog.write, *place, models=listed, now=now))
        except OSError as error:
            log.info("list of models not kept", extra={"provider": provider, "reason": error.strerror or str(error)})
        if listed:
            await self._learn(lists={place: listed})

    async def _listed(self, profile: ProviderProfile, settings: Settings) -> tuple[ModelInfo, ...]:
        provider = await to_thread.run_sync(partial(_made, profile, settings), abandon_on_cancel=True)
        if provider is None:
            return ()
        try:
            return tuple(await provider.models())
        finally:
            with anyio.move_on_after(CLOSE_TIMEOUT, shield=True):
                await provider.aclose()

    # ------------------------------------------------------------------ telling

    async def _learn(
        self,
        *,
        servers: Mapping[str, FoundServer] | None = None,
        lists: Mapping[tuple[str, str], tuple[ModelInfo, ...]] | None = None,
    ) -> None:
        """Store new results, and notify open sessions whose choice of models has changed."""
        before = [(live, models(live)) for live in self._live if live.closed is None]
        discovered = self._configuration.discovered
        self._configuration.learn(
            replace(
                discovered,
                servers=discovered.servers if servers is None else servers,
                lists={**discovered.lists, **(lists or {})},
            )
        )
        for live, offered in before:
            if live.closed is None and models(live) != offered:
                await live.session.broadcast(SessionChanged(model=live.session.record.model))


def _in_its_place(settings: Settings, *, reason: str) -> tuple[str, str]:
    """The model's name and a notice for a session whose model cannot be used; a configured one stays its model."""
    if settings.model is None:
        offline = f"{OFFLINE.name}/{OFFLINE.roles[0].last_resort}"
        return offline, f"The offline assistant answers, because {reason}. Choose another model, or fix config.toml."
    return settings.model, f"{settings.model} cannot be used: {reason}. Choose another model, or fix config.toml."


def _listable(profile: ProviderProfile) -> bool:
    """Return whether to fetch a list: not if the user lists models or names a local server.

    A server that is only assumed is looked for instead, which shows it no key.
    """
    supposed = profile.local and not profile.section.base_url and not profile.section.kind
    asked_already = profile.section.models or profile.found is not None or profile.overridden
    return profile.kind not in _SILENT and not asked_already and not supposed


def _made(profile: ProviderProfile, settings: Settings) -> Provider | None:
    """A provider to ask; None while its key must still be read, as that may open a keyring prompt."""
    key = find_key(profile, settings=settings, named=False)
    if key is not None and key.secret is None:
        return None
    return MAKE_PROVIDER.load()(setup_of(profile, key=key.secret if key else None, settings=settings))
