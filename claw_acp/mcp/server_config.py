"""The servers that a session should have, before they are started."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from claw_acp.config.model import McpSection
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.mcp_server import HttpServer, McpServerSpec, StdioServer
from claw_acp.core.errors import ConfigError
from claw_acp.core.value import Value
from claw_acp.mcp.failure import ServerFailed
from claw_acp.mcp.names import server_names

START_SECONDS = 30.0  # until a server has said what it offers
CALL_SECONDS = 120.0  # for one call without a sign of life


class Given(Value):
    """A server that the client named, ready to be connected."""

    spec: McpServerSpec
    start: float = START_SECONDS
    call: float = CALL_SECONDS

    @property
    def name(self) -> str:
        """Its name for people."""
        return self.spec.name

    def resolved(self, _cache: SecretCache) -> McpServerSpec:
        """The specification of the server to connect."""
        return self.spec


class Configured(Value):
    """A server of the configuration; its secrets are looked up when it is started."""

    name: str
    entry: McpSection
    environ: Mapping[str, str]

    hidden: ClassVar[tuple[str, ...]] = ("environ",)

    @property
    def start(self) -> float:
        """Seconds until it must have stated its offer."""
        return self.entry.start_timeout

    @property
    def call(self) -> float:
        """Seconds for one call without progress."""
        return self.entry.timeout

    def resolved(self, cache: SecretCache) -> McpServerSpec:
        """The specification of the server to connect. Blocks: keys may have to be read.

        Raises:
            ServerFailed: One of its variables or headers cannot be resolved.
        """
        entry = self.entry
        if entry.url is not None:
            headers, secrets = self._texts("headers", cache)
            return HttpServer(name=self.name, url=entry.url, kind=entry.type, headers=headers, secrets=secrets)
        env, secrets = self._texts("env", cache)
        return StdioServer(
            name=self.name,
            command=entry.command or "",
            args=entry.args,
            env=env,
            cwd=_text(entry.cwd),
            secrets=secrets,
        )

    def _texts(self, key: str, cache: SecretCache) -> tuple[dict[str, str], tuple[str, ...]]:
        """The values by name, and those that are certainly secrets."""
        entry = self.entry
        texts = entry.env if key == "env" else entry.headers
        found: dict[str, str] = {}
        for name, text in texts.items():
            try:
                found[name] = text.get(self.environ, cache)
            except ConfigError as error:
                place = f"mcp.{self.name}.{key}.{name}"
                raise ServerFailed(
                    f"was not started: {error.message}", advice=f"Correct {place} in config.toml."
                ) from error
        secrets = (found[name].removeprefix(text.before) for name, text in texts.items() if text.is_kept)
        return found, tuple(secrets)


Plan = Given | Configured


def plans(specs: Iterable[McpServerSpec], settings: Settings) -> list[Plan]:
    """The client's servers, then those of the configuration; duplicates with the same settings are merged."""
    found: list[Plan] = []
    for spec in specs:
        if (given := Given(spec=spec)) not in found:
            found.append(given)
    found += [
        Configured(name=name, entry=entry, environ=settings.environ)
        for name, entry in settings.mcp.items()
        if entry.enabled
    ]
    return found


def slugs(wanted: Sequence[Plan]) -> list[str]:
    """The name of each in tools and rules. A client's names never change those of the configuration."""
    order = sorted(range(len(wanted)), key=lambda index: isinstance(wanted[index], Given))
    named = dict(zip(order, server_names(wanted[index].name for index in order), strict=True))
    return [named[index] for index in range(len(wanted))]


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
