"""The current configuration: files are checked at each use, and read again only when they have changed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from claw_acp.config.discovered_models import NOTHING_DISCOVERED, DiscoveredModels
from claw_acp.config.load import load_settings
from claw_acp.config.locations import Locations
from claw_acp.config.overrides import NOTHING_SET, ProviderOverride
from claw_acp.config.project import PROJECT_FILE
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider import ModelInfo
from claw_acp.core.value import replace

_Stamp: TypeAlias = tuple[int, int, int] | None


class CurrentSettings:
    """Settings by working directory, never older than their files.

    Attributes:
        locations: The locations of the files.
        secrets: Reads the keys that take time to get.
        overrides: The provider overrides of clients.
        discovered: The models found at run time.
        listeners: Called without arguments when these, the user's files or the state of a key have changed.
    """

    def __init__(self, *, locations: Locations, environ: Mapping[str, str]) -> None:
        self.secrets = SecretCache()
        self.overrides = NOTHING_SET
        self.discovered = NOTHING_DISCOVERED
        self.listeners: list[Callable[[], None]] = []
        self.locations = locations
        self._environ = environ
        self._user: tuple[_Stamp, _Stamp] | None = None
        self._known: dict[Path | None, tuple[tuple[_Stamp, ...], Settings]] = {}

    def for_folder(self, cwd: Path | None) -> Settings:
        """The settings for work in `cwd` (None: no project), the same value until something changed. Never raises."""
        user = (_stamp(self.locations.config_file), _stamp(self.locations.credentials_file))
        stamps = (*user, None if cwd is None else _stamp(cwd / PROJECT_FILE))
        known = self._known.get(cwd)
        if known is None or known[0] != stamps:
            settings = load_settings(locations=self.locations, environ=self._environ, cwd=cwd)
            self._known[cwd] = stamps, settings
        if user != self._user:
            first, self._user = self._user is None, user
            if not first:
                self.secrets.clear()  # somebody logged in anew, perhaps under the same name
                self.announce_change()
        stamps, settings = self._known[cwd]
        learned = {"overrides": self.overrides, "discovered": self.discovered, "secrets": self.secrets.known}
        if any(getattr(settings, name) is not value for name, value in learned.items()):
            settings = replace(settings, **learned)
            self._known[cwd] = stamps, settings
        return settings

    def override(self, provider: str, override: ProviderOverride | None) -> None:
        """Override the settings of a provider, or (None) disable it, until the process ends."""
        self.overrides = self.overrides.with_provider(provider, override)
        self.announce_change()

    def learn(self, discovered: DiscoveredModels) -> None:
        """Set the models and facts found at run time."""
        if discovered != self.discovered:
            self.discovered = discovered
            self.announce_change()

    def about(self, provider: str, base_url: str, model: str) -> ModelInfo | None:
        """The current facts about a model, except those derived from its name."""
        return self.discovered.about(provider, base_url, model)

    def refused_picture(self, provider: str, base_url: str, model: str) -> None:
        """Remember that a model accepts no images, until the process ends."""
        self.learn(replace(self.discovered, blind=self.discovered.blind | {(provider, base_url, model)}))

    def forget(self) -> None:
        """Remove all overrides, and drop cached keys."""
        self.overrides = NOTHING_SET
        self.secrets.clear()
        self.announce_change()

    def announce_change(self) -> None:
        """Call the listeners."""
        for listener in tuple(self.listeners):
            listener()


def _stamp(path: Path) -> _Stamp:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_ctime_ns, facts.st_size, facts.st_ino  # ctime, since permissions count as well
