"""The environment of child processes, without our API keys."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

_VENDORS: Final = (
    r"(?i)(?:^|_)API_?KEYS?(?:_|\d|$)|^CLAW_ACP_|^(?:ANTHROPIC_AUTH_TOKEN|CLAUDE_CODE_OAUTH_TOKEN|OPENAI_ACCESS_TOKEN"
    r"|AWS_BEARER_TOKEN_BEDROCK|CLOUDFLARE_API_TOKEN|DEEPINFRA_TOKEN|FRIENDLI_TOKEN|GITHUB_MODELS_TOKEN|HF_TOKEN"
    r"|LITELLM_MASTER_KEY|LM_API_TOKEN|NSCALE_SERVICE_TOKEN|OVH_AI_ENDPOINTS_ACCESS_TOKEN|SCW_SECRET_KEY"
    r"|REPLICATE_API_TOKEN|HUGGING_?FACE(?:HUB)?(?:_HUB)?(?:_API)?_TOKEN)$"
)
_NEEDED: Final = frozenset({"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TMPDIR", "TZ", "PWD"})
_SHORTEST_KEY: Final = 8  # characters; shorter values are words that several variables may share

_named: set[str] = set()
_passed: set[str] = set()


def withhold(variable: str) -> None:
    """Keep a variable from all child processes from now on, because the configuration takes a secret from it.

    This cannot be undone, even if the configuration changes: what was a key once still is one.
    """
    _named.add(variable)


def pass_on(variables: Iterable[str]) -> None:
    """Let child processes have these variables although they hold keys, and no others. Settings of ours stay here."""
    _passed.clear()
    _passed.update(name for name in variables if not name.startswith("CLAW_ACP_"))


def is_withheld(variable: str) -> bool:
    """Return whether child processes do not get this variable."""
    return variable not in _passed and _is_ours(variable)


def is_key(variable: str) -> bool:
    """Return whether a variable holds a key of ours, rather than a setting; it may be passed on all the same."""
    return _is_ours(variable) and not variable.startswith("CLAW_ACP_")


def _is_ours(variable: str) -> bool:
    return variable not in _NEEDED and (variable in _named or _vendors().search(variable) is not None)


def without_keys(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for child processes: `environ` without our own settings and without our keys under any name.

    Keys of ours are the variables that model vendors document, those that a reference `env:NAME` of the configuration
    names, and other variables with the same value; those that the person's settings pass on by name stay. Every program
    that we start gets no more than this: commands, search programs, MCP servers (which get less), key commands,
    provider programs. A program that needs a key is given it in `env` of its section. Credentials for git, clouds and
    registries belong to the person's work and stay, those of AWS included, whatever Bedrock uses. An agent that
    `claw-acp` itself starts (`chat`, `verify`) is an exception: it needs the keys.
    """
    kept = {name: value for name, value in environ.items() if not is_withheld(name)}
    keys = {value for name, value in environ.items() if name not in kept and not name.startswith("CLAW_ACP_")}
    return {
        name: value
        for name, value in kept.items()
        if name in _passed or len(value) < _SHORTEST_KEY or value not in keys
    }


@cache
def _vendors() -> re.Pattern[str]:
    return re.compile(_VENDORS)
