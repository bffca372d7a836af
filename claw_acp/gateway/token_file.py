"""Token files: a token that a person chose, or one generated at the first start."""

import os
import re
import secrets
from pathlib import Path
from typing import Final

from claw_acp.config.locations import private_directory
from claw_acp.core.errors import ConfigError
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value

KEPT_AS: Final = "serve-token"

_USABLE: Final = re.compile(r"[A-Za-z0-9._~-]{16,512}")
_ADVICE: Final = "16 to 512 letters, digits, `.`, `_`, `~` or `-`"
_CHANCE: Final = 32  # bytes


class Token(Value):
    """A token and the path of its file."""

    secret: Secret
    file: Path
    is_new: bool


def read_token(file: Path) -> Token:
    """Read the token in a file, its only line.

    Raises:
        ConfigError: The file cannot be read, or holds no token that fits into a header.
    """
    try:
        text = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ConfigError(f"the token file {file} cannot be read: {reason}") from error
    if not _USABLE.fullmatch(text):
        raise ConfigError(f"the token file {file} must hold one line with {_ADVICE}")
    return Token(secret=Secret(text), file=file, is_new=False)


def kept_token(directory: Path) -> Token:
    """The token stored in `directory`, generated now if there is none.

    Raises:
        ConfigError: The file cannot be read or written.
    """
    file = private_directory(directory) / KEPT_AS
    if file.exists():
        return read_token(file)
    text = secrets.token_urlsafe(_CHANCE)
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as writable:
            writable.write(f"{text}\n")
    except FileExistsError:
        return read_token(file)  # another server was quicker
    except OSError as error:
        raise ConfigError(f"the token file {file} cannot be written: {error.strerror}") from error
    return Token(secret=Secret(text), file=file, is_new=True)
