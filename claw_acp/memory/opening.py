"""Opening the memories of this person, in the backend that the settings name."""

from contextlib import AbstractAsyncContextManager

from claw_acp.config.locations import Locations
from claw_acp.config.settings import Settings
from claw_acp.contracts.memory import Embedding, Memory, MemoryBackend, MemorySetup
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ConfigError
from claw_acp.core.nearest import nearest
from claw_acp.core.redaction import redact
from claw_acp.registry.entry_points import discover, load_extension
from claw_acp.registry.reference import Ref


def opened_memory(
    settings: Settings, locations: Locations, *, clock: Clock, embedding: Embedding | None = None
) -> AbstractAsyncContextManager[Memory]:
    """The memories, open for a block.

    Raises:
        ConfigError: There is no such backend, or it is broken.
        StoreError: On entering: the store cannot be used; the text says what to do.
    """
    name = settings.memory.backend
    offered = discover("memory")
    reference: Ref[MemoryBackend] | None = offered.get(name)
    if reference is None:
        meant = nearest(name, offered)
        hint = f'did you mean "{meant}"?' if meant else f"there are: {', '.join(offered)}"
        raise ConfigError(f'there is no memory backend "{name}"; {hint}')
    backend = load_extension(reference, kind="memory", name=name)
    if backend is None:
        raise ConfigError(f'the memory backend "{name}" is broken; the log says why')
    return backend(MemorySetup(directory=locations.data_dir, clock=clock, redact=redact, embedding=embedding))
