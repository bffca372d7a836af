"""The check of what agents remember, and of the service that makes vectors of it."""

import anyio

from claw_acp.cli.doctor.check import Check
from claw_acp.config.locations import Locations
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import ConfigError, StoreError
from claw_acp.core.quantity import quantity
from claw_acp.memory.embedding_endpoint import EmbeddingEndpoint
from claw_acp.memory.opening import opened_memory

WITHIN = 10.0  # seconds for a vector: the service may load its model first
_VECTOR_ADVICE = "start the service, or correct [memory.embedding]; until then notes are found by their words alone"


def memory_check(settings: Settings, *, locations: Locations) -> Check:
    """The notes, and the service that makes vectors of them where there is one."""
    if not settings.memory.enabled:
        return Check(level="ok", subject="memory", detail="switched off")
    advice = ""
    try:
        found = anyio.run(_notes, settings, locations)
        advice = _VECTOR_ADVICE
        vectors = anyio.run(_vectors, settings)
    except (StoreError, ConfigError) as error:
        return Check(level="warn", subject="memory", detail=error.message, advice=advice)
    return Check(level="ok", subject="memory", detail=f"{found}{vectors}")


async def _notes(settings: Settings, locations: Locations) -> str:
    """The number of notes.

    Raises:
        ConfigError: There is no such backend.
        StoreError: The store is damaged, or cannot be opened.
    """
    if not locations.memory_database.exists() and not locations.memory_dir.exists():
        return "no notes yet"
    async with opened_memory(settings, locations, clock=SYSTEM_CLOCK) as memory:
        if problems := await memory.health_check():
            raise StoreError("; ".join(problems))
        return quantity(await memory.count(), "note")


async def _vectors(settings: Settings) -> str:
    """A description of the vectors that the service makes; empty without a service.

    Raises:
        ConfigError: Its key cannot be read.
        StoreError: It made none.
    """
    section = settings.memory.embedding
    if section.url is None or section.model is None:
        return ""
    secrets = SecretCache()
    try:
        endpoint = EmbeddingEndpoint(section, secrets=secrets, environ=settings.environ, clock=SYSTEM_CLOCK)
        (vector,) = await endpoint.embed(["a test"], within=WITHIN)
    finally:
        secrets.close()
    return f"; vectors of {len(vector)} numbers by {section.model}"
