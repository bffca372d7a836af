"""Names of a server's tools and prompts for models and people: stable, unique, and valid for every vendor."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence

LONGEST = 64  # characters of a tool's name (OpenAI, Anthropic, Gemini)
LONGEST_SERVER = 24  # characters of the server's part of it
_DIGITS = 6  # hexadecimal digits that tell names apart which look alike once they are made valid

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]+")


def server_names(names: Iterable[str]) -> list[str]:
    """The part before `__` for each server of a list; it depends on the name alone, unless two servers share one.

    It starts with a letter (required by Gemini and by permission rules), and contains no `__`. A name that had to be
    changed is followed by a digest: stored rules must never apply to another server that takes its place in the list.
    """
    taken: list[str] = []
    for name in names:
        slug = _server_name(name)
        number, unique = 1, slug
        while unique in taken:
            number += 1
            unique = f"{slug}_{_digest(f'{number} {name}')}"  # `_2` may be what another calls itself
        taken.append(unique)
    return taken


def _server_name(name: str) -> str:
    plain = re.sub(r"_{2,}", "_", _valid(name)).strip("_-") or "server"
    if not plain[0].isalpha():
        plain = f"mcp_{plain}"
    plain = plain[:LONGEST_SERVER].rstrip("_-")
    return plain if plain == name else f"{plain[: LONGEST_SERVER - _DIGITS - 1].rstrip('_-')}_{_digest(name)}"


def tool_name(server: str, tool: str) -> str:
    """`<server>__<tool>`. A tool name that had to be changed is followed by a digest of it.

    The name depends on these two alone, since stored rules contain it.
    """
    plain = _valid(tool)
    room = LONGEST - len(server) - 2
    if plain != tool or not plain or len(plain) > room:
        plain = f"{plain[: room - _DIGITS - 1] or 'tool'}_{_digest(tool)}"
    return f"{server}__{plain}"


def command_names(server: str, prompts: Sequence[str]) -> list[str]:
    """`<server>:<prompt>` for each prompt, without white space, so that all can be typed as slash commands."""
    taken: list[str] = []
    for prompt in prompts:
        shown = "".join(mark for mark in re.sub(r"\s+", "-", prompt.strip()) if mark.isprintable())
        plain = f"{server}:{shown[:LONGEST] or 'prompt'}"
        number, unique = 1, plain
        while unique in taken:
            number += 1
            unique = f"{plain}_{number}"
        taken.append(unique)
    return taken


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def _valid(name: str) -> str:
    """The name in the letters that vendors accept; accents are removed, anything else becomes `_`."""
    plain = unicodedata.normalize("NFKD", name)
    return _FOREIGN.sub("_", "".join(mark for mark in plain if not unicodedata.combining(mark)))
