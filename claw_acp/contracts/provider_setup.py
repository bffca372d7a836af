"""What a provider is made from. An entry point of `claw_acp.providers` names a wire family and its factory."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from claw_acp.contracts.provider import Provider
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value


class ProviderSetup(Value):
    """One configured provider. Equal setups make interchangeable providers, so a provider can be kept by its setup.

    Attributes:
        name: The name it is configured under; errors carry it.
        kind: The wire family.
        base_url: The service's address without a trailing slash; empty leaves the family's own.
        api_key: The key, None when there is none.
        headers: More headers for each request, by lower-case name; they win over the family's own.
        timeout: Seconds to wait for the next piece of an answer; None leaves the family's own limits.
        script: The script of a `scripted` provider.
        clock: Time for the provider's waits and dates.
    """

    name: str
    kind: str
    base_url: str = ""
    api_key: Secret | None = None
    headers: tuple[tuple[str, Secret], ...] = ()
    timeout: float | None = None
    script: Path | None = None
    clock: Clock = SYSTEM_CLOCK

    @property
    def secrets(self) -> tuple[str, ...]:
        """What nobody may ever see of it: the key, and the values of headers that sound as if they carried one."""
        key = (self.api_key.reveal(),) if self.api_key else ()
        telling = (value.reveal() for name, value in self.headers if any(word in name for word in TELLING))
        return (*key, *(part for value in telling for part in {value, value.split(" ")[-1]}))


TELLING = ("auth", "key", "token", "secret", "cookie", "passw", "credential", "session")
"""Parts of the names of headers whose values are secrets."""

ProviderFactory: TypeAlias = Callable[[ProviderSetup], Provider]
"""Makes a provider; touches neither network nor disk before the first request, unless the setup names a file."""
