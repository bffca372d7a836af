"""Private keys as people and tools show them: whole, numbered, quoted, commented, joined by code, and in windows."""

import json
from collections.abc import Callable, Iterator, Sequence

from tests.core.redaction.secrets import SEEDS, key_lines

_KINDS = {
    "RSA PRIVATE KEY": (64, 12),
    "PRIVATE KEY": (64, 5),
    "OPENSSH PRIVATE KEY": (70, 6),
    "PGP PRIVATE KEY BLOCK": (64, 9),
}

WRITTEN: dict[str, Callable[[Sequence[str]], str]] = {
    "plain": "\n".join,
    "carriage returns": "\r\n".join,
    "read_file": lambda lines: "\n".join(f"{number:5}→{line}" for number, line in enumerate(lines, 8)),
    "colon": lambda lines: "\n".join(f"{number}: {line}" for number, line in enumerate(lines, 8)),
    "grep": lambda lines: "\n".join(f"home/ada/keys/id_rsa:{number}:{line}" for number, line in enumerate(lines, 8)),
    "grep context": lambda lines: "\n".join(f"keys/my-key.pem-{number}-{line}" for number, line in enumerate(lines, 8)),
    "context": lambda lines: "\n".join(f"{number}-{line}" for number, line in enumerate(lines, 8)),
    "cat -n": lambda lines: "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 8)),
    "diff": lambda lines: "\n".join(f"+{line}" for line in lines),
    "diff of yaml": lambda lines: "\n".join(f"-    {line}" for line in lines),
    "hash": lambda lines: "\n".join(f"# {line}" for line in lines),
    "slashes": lambda lines: "\n".join(f"// {line}" for line in lines),
    "star": lambda lines: "\n".join(f" * {line}" for line in lines),
    "quoted mail": lambda lines: "\n".join(f"> {line}" for line in lines),
    "javascript": lambda lines: " +\n".join(f'  "{line}\\n"' for line in lines),
    "javascript numbered": lambda lines: "\n".join(
        f"{number:5}→  '{line}\\n' +" for number, line in enumerate(lines, 8)
    ),
    "python": lambda lines: "\n".join(f'    "{line}\\n"' for line in lines),
    "array": lambda lines: "\n".join(f'  "{line}",' for line in lines),
    "json": lambda lines: json.dumps({"private_key": "\n".join(lines)}),
    "env": lambda lines: 'KEY="' + "\\n".join(lines) + '"',
    "twice escaped": lambda lines: json.dumps(json.dumps({"key": "\n".join(lines)})),
    "shell": lambda lines: "\n".join(f"{line}\\" for line in lines),
    "terraform": lambda lines: "\n".join(f"    {line}" for line in lines),
}


def whole_keys() -> Iterator[tuple[str, str, Sequence[str]]]:
    """Class, text, and the lines that must not be in it any more."""
    for number, (written, write) in enumerate(WRITTEN.items()):
        for shift, seed in enumerate(SEEDS[:2]):
            kind = list(_KINDS)[(number + shift) % len(_KINDS)]
            width, count = _KINDS[kind]
            body = key_lines(width=width, count=count, seed=seed + written)
            text = write([f"-----BEGIN {kind}-----", *body, f"-----END {kind}-----"])
            yield f"key {written}", f"before\n{text}\nafter", body
    body = key_lines(width=64, count=5, seed="flat")
    yield "key in one line", "X=-----BEGIN PRIVATE KEY----- " + " ".join(body) + " -----END PRIVATE KEY-----", body
    yield "key without breaks", "-----BEGIN PRIVATE KEY-----" + "".join(body) + "-----END PRIVATE KEY-----", body
    head = [
        "-----BEGIN RSA PRIVATE KEY-----",
        "Proc-Type: 4,ENCRYPTED",
        "DEK-Info: AES-128-CBC,0123456789ABCDEF",
        "",
        *body,
    ]
    yield "key with headers", "\n".join(head), body
    yield (
        "key of PuTTY",
        "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 6\n" + "\n".join(body) + "\nPrivate-MAC: 12ab",
        body,
    )


def windows() -> Iterator[tuple[str, str, Sequence[str]]]:
    """The same for stretches that show neither beginning nor end, or only one of them."""
    for written, write in WRITTEN.items():
        for width in (64, 70):
            body = key_lines(width=width, count=14, seed=f"{written}{width}")
            if "json" not in written and "escaped" not in written:
                yield f"middle {written}", write(body[4:9]), body[4:9]
                if written != "env":
                    yield f"one line {written}", write(body[5:6]), body[5:6]
            tail = [*body[10:], "-----END RSA PRIVATE KEY-----"]
            yield f"end {written}", write(tail), body[10:]
            yield f"begin {written}", write(["-----BEGIN RSA PRIVATE KEY-----", *body[:4]]), body[:4]
