"""What must be found: class by class, the text around a secret and the secret itself."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

from tests.core.redaction.made_up import BASE64, fill, made_up

SEEDS = ("one", "two", "three")


def _rows(name: str) -> list[list[str]]:
    text = Path(__file__).with_name(name).read_text("utf-8")
    return [row.replace("␤", "\n").split(" | ") for row in text.splitlines()]


VENDORS: dict[str, str] = {row[0]: row[1] for row in _rows("vendors.txt")}
NAMED = {kind: (around, pattern) for kind, pattern, around in _rows("named.txt")}
"""The text around, and the pattern of the secret; `b64:` means that it is encoded."""

# Around the secret; each vendor's key stands in one of them.
AROUND = (
    "{}", "using {} now", "({})", '"{}"', "?key={}&x=1", "   12→token {}\n   13→next", "src/x.py:12:{}", "+  - {}",
    "curl -d {}\n",
    "X={}", "<b>{}</b>", "a\n# {}\nb",
)  # fmt: skip


def key_lines(*, width: int, count: int, seed: str, tail: int = 44) -> list[str]:
    """The letters of a private key as tools write them."""
    lines = [made_up(width, alphabet=BASE64, seed=f"{seed}/{number}") for number in range(count)]
    return [*lines, made_up(tail, alphabet=BASE64, seed=seed + "/tail")[:-2] + "=="]


def named_secret(kind: str, seed: str) -> tuple[str, str]:
    """The text and the secret in it."""
    around, pattern = NAMED[kind]
    secret = fill(pattern.removeprefix("b64:"), seed=seed + kind)
    if pattern.startswith("b64:"):
        secret = b64encode(secret.encode()).decode()
    return around.format(secret), secret


def vendor_secrets() -> Iterator[tuple[str, str, str]]:
    """Class, text, secret."""
    for number, (kind, pattern) in enumerate(VENDORS.items()):
        for shift, seed in enumerate(SEEDS):
            secret = fill(pattern, seed=seed + kind)
            yield kind, AROUND[(number + shift * 5) % len(AROUND)].format(secret), secret


def all_named_secrets() -> Iterator[tuple[str, str, str]]:
    """Class, text, secret."""
    for kind in NAMED:
        for seed in SEEDS:
            yield (kind, *named_secret(kind, seed))
