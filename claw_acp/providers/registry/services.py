"""The known services by name, as data. A configured provider of the same name overrides only its settings."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from claw_acp.contracts.provider_setup import NO_QUIRKS, Quirks
from claw_acp.providers.registry.service import (
    ANTHROPIC,
    AZURE,
    BEDROCK,
    GEMINI,
    OFFLINE,
    OPENAI,
    RESPONSES,
    KnownService,
    ModelRole,
)
from claw_acp.providers.registry.service_table import (
    ADDRESS_VARIABLES,
    ASIA,
    DIFFERENCES,
    GATEWAYS,
    LOCAL,
    ROLES,
    SMALL,
    VENDORS,
    Row,
)


class _Services(Mapping[str, KnownService]):
    """The rows as services, each created at first use: a new session needs one or two of ninety."""

    def __init__(self, *parts: KnownService | tuple[Row, ...]) -> None:
        self._rows: dict[str, KnownService | Row] = {}
        self._local = {row[0].partition(" ")[0] for row in LOCAL}
        for part in parts:
            if isinstance(part, KnownService):
                self._rows[part.name] = part
            else:
                self._rows.update((row[0].partition(" ")[0], row) for row in part)

    def __getitem__(self, name: str) -> KnownService:
        row = self._rows[name]
        if not isinstance(row, KnownService):
            row = self._rows[name] = _service(row, local=name in self._local)
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _service(row: Row, *, local: bool) -> KnownService:
    names, base_url, keys, vendor = row
    name, *aliases = names.split()
    differences: Mapping[str, Any] = DIFFERENCES.get(name, {})
    return KnownService(
        name=name,
        aliases=tuple(aliases),
        kind="ollama" if name == "ollama" else "openai",
        base_url=base_url,
        key_variables=tuple(keys.split()),
        url_variable=ADDRESS_VARIABLES.get(name, ""),
        vendor=vendor,
        roles=tuple(_role(text, vendor=vendor) for text in ROLES.get(name, "").split()),
        quirks=Quirks(**differences) if differences else NO_QUIRKS,
        local=local,
        own_address=not base_url,
    )


def _role(text: str, *, vendor: str) -> ModelRole:
    families, _, last_resort = text.removeprefix(SMALL).partition("=")
    small = text.startswith(SMALL)
    return ModelRole(families=tuple(families.split(",")), description=vendor, last_resort=last_resort, small=small)


SERVICES: Mapping[str, KnownService] = _Services(
    ANTHROPIC, OPENAI, GEMINI, VENDORS, ASIA, GATEWAYS, RESPONSES, BEDROCK, AZURE, LOCAL, OFFLINE
)
"""The services by name, in the order in which a default provider is chosen."""

API_TYPES = MappingProxyType({"anthropic": "anthropic", "openai": "openai", "azure": "azure", "bedrock": "bedrock"})
"""The wire families that a client can route elsewhere, with their names in ACP."""

KEY_KINDS = ("openai", "anthropic", "gemini")
"""The wire families whose services need only a key, so that one can log in to them."""

GENERIC_KEY_VARIABLES = ("CLAW_ACP_API_KEY", "API_KEY")
"""Generic keys: they serve only a provider the user named."""

# The first that fits decides; a key that fits none may be anybody's. Patterns, compiled when a key is found.
_VENDOR_PREFIXES = (
    ("Anthropic", r"sk-ant-"),
    ("OpenRouter", r"sk-or-"),
    ("OpenAI", r"sk-"),
    ("Groq", r"gsk_"),
    ("Google", r"AIza"),
    ("xAI", r"xai-"),
    ("Perplexity", r"pplx-"),
    ("Hugging Face", r"hf_"),
    ("NVIDIA", r"nvapi-"),
    ("Cerebras", r"csk-"),
    ("Fireworks", r"fw_"),
    ("Telnyx", r"KEY[0-9A-F]{16}"),
    ("Vercel", r"vck_"),
    ("Replicate", r"r8_"),
    ("GitHub", r"gh[pousr]_|github_pat_"),
    ("AWS", r"(?:AKIA|ASIA)[A-Z0-9]{12}"),
)
_OPENAI_ONLY = r"sk-(?:proj|svcacct|admin)-"
_TELLING = frozenset(vendor for vendor, _ in _VENDOR_PREFIXES)


def vendor_of_key(key: str) -> str | None:
    """The vendor whose keys begin like `key`; None when the beginning is ambiguous."""
    return next((vendor for vendor, prefix in _VENDOR_PREFIXES if re.match(prefix, key)), None)


def other_vendor(vendor: str, key: str) -> str | None:
    """The vendor this key evidently belongs to, if not `vendor`. An empty `vendor` accepts any key.

    Many services begin their keys with `sk-` as OpenAI does: that proves something only if the vendor's own keys begin
    differently.
    """
    found = vendor_of_key(key)
    if not vendor or found in {None, vendor}:
        return None
    if found == "OpenAI" and vendor not in _TELLING and not re.match(_OPENAI_ONLY, key):
        return None
    return found


def quirks_at(host: str) -> Quirks:
    """The quirks of the service at a host name; none when the host is not known."""
    name = host.lower()
    for row in (*VENDORS, *ASIA, *GATEWAYS):
        if name and urlsplit(row[1]).hostname == name:
            return SERVICES[row[0].partition(" ")[0]].quirks
    return OPENAI.quirks if name == "api.openai.com" else NO_QUIRKS


def service_called(name: str) -> str:
    """The canonical name of a service; an unknown `name` is returned unchanged."""
    return name if name in SERVICES else _aliases().get(name, name)


@cache
def _aliases() -> Mapping[str, str]:
    return {alias: service.name for service in SERVICES.values() for alias in service.aliases}


def services_with_key(environ: Mapping[str, str]) -> frozenset[str]:
    """The services with a key variable in the environment; quicker than looking up each.

    `openai-responses` is left out: it is another API of a service that is included. So are servers on this machine: a
    key does not prove that one runs.
    """
    rows = [(row[0].partition(" ")[0], row[2].split()) for row in (*VENDORS, *ASIA, *GATEWAYS)]
    rows += [(family.name, [*family.key_variables]) for family in (ANTHROPIC, OPENAI, GEMINI, BEDROCK, AZURE)]
    return frozenset(name for name, variables in rows if any(environ.get(variable) for variable in variables))
