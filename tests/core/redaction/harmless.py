"""Text that must come back untouched, class by class."""

import hashlib
import uuid
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

from tests.core.redaction.made_up import BASE64, UPPER, fill, made_up
from tests.core.redaction.secrets import SEEDS, VENDORS, key_lines

LINES = Path(__file__).with_name("harmless.txt")
"""`class | text` in each line, with `␤` for a line feed and fields as `fill` has them."""

_PUBLIC = (
    "CERTIFICATE",
    "PUBLIC KEY",
    "RSA PUBLIC KEY",
    "CERTIFICATE REQUEST",
    "PGP PUBLIC KEY BLOCK",
    "PGP SIGNATURE",
    "X509 CRL",
    "SSH SIGNATURE",
)


def harmless() -> Iterator[tuple[str, str]]:
    """Class and text."""
    for row in LINES.read_text("utf-8").splitlines():
        kind, _, text = row.replace("␤", "\n").partition(" | ")
        yield from ((kind, filled) for filled in dict.fromkeys(fill(text, seed=seed) for seed in SEEDS))
    yield "issue", "aws_access_key_id = AKIA" + "IOSFODNN7EXAMPLE"
    for kind in _PUBLIC:
        body = key_lines(width=64, count=8, seed=kind)
        lines = [f"-----BEGIN {kind}-----", *body, f"-----END {kind}-----"]
        yield "public", "\n".join(lines)
        yield "public", "\n".join(f"{number:5}→{line}" for number, line in enumerate(lines, 1))
        yield "public", "\n".join(f"a/b.pem:{number}:{line}" for number, line in enumerate(lines[4:], 5))
        yield "public", "\n".join(lines[:5])
    for name, pattern in VENDORS.items():
        beginning = pattern.partition("{")[0]
        if len(beginning) > 2:
            yield "beginning", f"keys of {name} begin with {beginning} as in {beginning}..."
            yield "beginning", f"{beginning}{'x' * 40}"
            yield "beginning", f"{beginning}your-key-goes-here-please"
    for seed in SEEDS:
        yield "blob", "\n".join(made_up(76, alphabet=BASE64, seed=f"{seed}{n}") for n in range(6))
        yield "blob", "\n".join(hashlib.sha256(f"{seed}{n}".encode()).hexdigest() for n in range(6))
        yield "blob", "\n".join(made_up(70, alphabet="ACGT", seed=f"{seed}{n}") for n in range(6))
        yield "blob", b64encode(hashlib.sha512(seed.encode()).digest() * 4).decode()
        yield "blob", str(uuid.UUID(bytes=hashlib.md5(seed.encode(), usedforsecurity=False).digest()))
        yield "blob", "\n".join(made_up(64, alphabet=UPPER, seed=f"{seed}{n}") for n in range(3))
