"""The services we know by name, as data. A configured provider of the same name overrides only what it says."""

import re
from types import MappingProxyType

from claw_acp.contracts.provider_setup import NO_QUIRKS, Quirks
from claw_acp.core.value import Value


class KnownModel(Value):
    """A model to offer when the user lists none."""

    id: str
    description: str


class KnownService(Value):
    """One service.

    Attributes:
        name: What stands before the `/` in a model's name.
        kind: The wire family (an entry point of `claw_acp.providers`).
        base_url: The service's own address; empty when there is none.
        key_variable: The vendor's usual variable for the key; empty when none is needed.
        url_variable: The vendor's usual variable for another address.
        vendor: Whose keys the service takes, in the words of `vendor_of_key`.
        models: Best first; the first is the default.
        quirks: Where it differs from its wire family.
    """

    name: str
    kind: str
    base_url: str = ""
    key_variable: str = ""
    url_variable: str = ""
    vendor: str = ""
    models: tuple[KnownModel, ...]
    quirks: Quirks = NO_QUIRKS


ANTHROPIC = KnownService(
    name="anthropic",
    kind="anthropic",
    base_url="https://api.anthropic.com",
    key_variable="ANTHROPIC_API_KEY",
    url_variable="ANTHROPIC_BASE_URL",
    vendor="Anthropic",
    models=(
        KnownModel(id="claude-sonnet-4-5", description="Anthropic: balanced"),
        KnownModel(id="claude-opus-4-5", description="Anthropic: most capable"),
        KnownModel(id="claude-haiku-4-5", description="Anthropic: fastest"),
    ),
)
OPENAI = KnownService(
    name="openai",
    kind="openai",
    base_url="https://api.openai.com/v1",
    key_variable="OPENAI_API_KEY",
    url_variable="OPENAI_BASE_URL",
    vendor="OpenAI",
    models=(
        KnownModel(id="gpt-5.1", description="OpenAI: most capable"),
        KnownModel(id="gpt-5-mini", description="OpenAI: fast and cheap"),
    ),
)
OFFLINE = KnownService(
    name="offline",
    kind="offline",
    models=(KnownModel(id="assistant", description="Built in: simple file work, no key, no network"),),
)

SERVICES = MappingProxyType({service.name: service for service in (ANTHROPIC, OPENAI, OFFLINE)})
"""By name, in the order in which a provider with a key is chosen when no model was."""

API_TYPES = MappingProxyType({"anthropic": "anthropic", "openai": "openai"})
"""The wire families that a client can route elsewhere, with the names that ACP has for them."""

GENERIC_KEY_VARIABLES = ("CLAW_ACP_API_KEY", "API_KEY")
"""Keys of nobody in particular: they serve only a provider the user named."""

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
    ("Replicate", r"r8_"),
    ("GitHub", r"gh[pousr]_|github_pat_"),
    ("AWS", r"(?:AKIA|ASIA)[A-Z0-9]{12}"),
)


def vendor_of_key(key: str) -> str | None:
    """The vendor whose keys begin like `key`; None when the beginning gives nobody away."""
    return next((vendor for vendor, prefix in _VENDOR_PREFIXES if re.match(prefix, key)), None)
