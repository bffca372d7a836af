"""The source of a provider's key: the text itself, a variable, a file, the system's keyring, or a command."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from claw_acp.config.paths import resolve_path
from claw_acp.config.safe_read import read_plain_file
from claw_acp.core.child_environment import withhold
from claw_acp.core.errors import ConfigError
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value, replace

KEY_FILE_LIMIT = 16 * 1024  # bytes; the longest keys in use (signed tokens) have about 4 KiB

_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
_NOTHING = Secret("")
_NEEDS = {
    "keyring": "the name of an entry, as in keyring:openai",
    "command": "a command line that prints the key, as in command:pass show openai",
}


class KeyReference(Value):
    """`env:NAME`, `file:PATH`, `keyring:NAME`, `command:LINE`, or the key itself (kind `text`).

    The target of the kind `encrypted` is what `claw-acp login` encrypted. The key is read on demand: by `resolve`, or
    by a `SecretCache` if that takes time (`slow`).
    """

    kind: Literal["text", "env", "file", "keyring", "command", "encrypted"]
    target: str = ""
    secret: Secret = _NOTHING

    @classmethod
    def parse(cls, text: str) -> "KeyReference":
        """Parse a reference. From then on child processes do not get a variable that it names.

        Raises:
            ValueError: It is empty, or names a source that does not exist. The message holds no part of a key.
        """
        text = text.strip()
        if not text:
            raise ValueError("is empty; write env:NAME, file:PATH, keyring:NAME, command:LINE or the key itself")
        if text.startswith("env:"):
            name = text.removeprefix("env:").strip()
            if not re.fullmatch(_VARIABLE, name):
                raise ValueError("env: needs the name of an environment variable, as in env:OPENAI_API_KEY")
            withhold(name)
            return cls(kind="env", target=name)
        if text.startswith("file:"):
            path = text.removeprefix("file:").strip()
            if not path or "\0" in path:
                raise ValueError("file: needs a path, as in file:~/.secrets/openai")
            return cls(kind="file", target=path)
        if text.startswith(("keyring:", "command:")):
            kind, _, target = text.partition(":")
            if not target.strip() or "\0" in target:
                raise ValueError(f"{kind}: needs {_NEEDS[kind]}")
            return cls(kind="keyring" if kind == "keyring" else "command", target=target.strip())
        return cls(kind="text", secret=Secret(text))

    @property
    def slow(self) -> bool:
        """True if reading the key may take long, so that a `SecretCache` does it."""
        return self.kind in {"keyring", "command", "encrypted"}

    def below(self, directory: Path, *, home: str) -> "KeyReference":
        """The reference with a relative file path taken from `directory`, and `~/` from `home`."""
        if self.kind != "file":
            return self
        return replace(self, target=str(resolve_path(self.target, directory=directory, home=home)))

    def describe(self) -> str:
        """The reference without secrets, for people."""
        if self.kind == "encrypted":
            return "the encrypted key"
        return f"{self.kind}:{self.target}" if self.target else "•••"

    def resolve(self, environ: Mapping[str, str]) -> Secret:
        """The key of a reference that is not `slow`.

        Raises:
            ConfigError: The variable is not set, or the file cannot be read or is empty.
        """
        assert not self.slow, "a SecretCache gets this key"
        if self.kind == "text":
            return self.secret
        if self.kind == "file":
            return _read_key(Path(self.target))
        value = environ.get(self.target, "").strip()
        if not value:
            raise ConfigError(f"the environment variable {self.target} named by api_key is not set; set it to the key")
        return Secret(value)


def _read_key(path: Path) -> Secret:
    try:
        text = read_plain_file(path, limit=KEY_FILE_LIMIT).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"the key file {path} cannot be read: {reason}") from error
    if not text:
        raise ConfigError(f"the key file {path} is empty; write the key into it")
    return Secret(text)
