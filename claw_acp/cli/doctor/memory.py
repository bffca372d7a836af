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


def memory_check(settings: Settings, *, locations: Locations) -> Check:
    """The notes, and the service that makes vectors of them where there is one."""
    if not settings.memory.enabled:
        return Check(level="ok", subject="memory", detail="switched off")
    try:
        found = anyio.run(_examined, settings, locations)
    except (StoreError, ConfigError) as error:
        return Check(level="warn", subject="memory", detail=error.message)
    return Check(level="ok", subject="memory", detail=found)


async def _examined(settings: Settings, locations: Locations) -> str:
    """What there is.

    Raises:
        ConfigError: The backend cannot be had.
        StoreError: Something does not work.
    """
    found = "no notes yet"
    if locations.memory_database.exists() or locations.memory_dir.exists():
        async with opened_memory(settings, locations, clock=SYSTEM_CLOCK) as memory:
            if problems := await memory.health_check():
                raise StoreError("; ".join(problems))
            found = quantity(await memory.count(), "note")
    section = settings.memory.embedding
    if section.url is None or section.model is None:
        return found
    secrets = SecretCache()
    try:
        endpoint = EmbeddingEndpoint(section, secrets=secrets, environ=settings.environ, clock=SYSTEM_CLOCK)
        (vector,) = await endpoint.embed(["a test"], within=WITHIN)
    finally:
        secrets.close()
    return f"{found}; vectors of {len(vector)} numbers by {section.model}"
