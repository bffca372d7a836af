"""The limits of a worker: a process of ours that takes apart what strangers wrote."""

import resource
from typing import Final

MEMORY: Final = 1 << 30  # bytes of address space
SECONDS: Final = 20  # of computing


def limit_this_process(*, memory: int = MEMORY) -> None:
    """Limit the memory and the computing time of this process. It cannot raise them again."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
