"""A text of the settings that may be a reference: a variable or a header of a server."""

import re
from collections.abc import Mapping
from pathlib import Path

from claw_acp.config.key_reference import KeyReference
from claw_acp.config.secret_cache import SecretCache
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value, replace

_SCHEME = r"(?s)((?:Bearer|Basic|Token) )((?:env|file|keyring|command):.*)"


class SecretText(Value):
    """The text itself, or a reference (in the form of `api_key`); `Bearer env:NAME` puts a word before its value."""

    reference: KeyReference
    before: str = ""

    @classmethod
    def parse(cls, text: str) -> "SecretText":
        """Parse a text or a reference.

        Raises:
            ValueError: It names an invalid source. The message holds no part of a secret.
        """
        if not text.strip():
            return cls(reference=KeyReference(kind="text", secret=Secret(text)))
        scheme = re.fullmatch(_SCHEME, text)
        before, rest = scheme.groups() if scheme else ("", text)
        return cls(reference=KeyReference.parse(rest), before=before)

    def below(self, directory: Path, *, home: str) -> "SecretText":
        """The text with a relative file path taken from `directory`, and `~/` from `home`."""
        return replace(self, reference=self.reference.below(directory, home=home))

    def describe(self) -> str:
        """The text without secrets, for people."""
        return self.before + self.reference.describe()

    @property
    def is_kept(self) -> bool:
        """True if it is a reference to a secret."""
        return self.reference.kind != "text"

    def get(self, environ: Mapping[str, str], secrets: SecretCache) -> str:
        """The text, with a reference resolved. Blocks: for worker threads and the command line.

        Raises:
            ConfigError: It cannot be resolved.
        """
        reference = self.reference
        found = secrets.fetch(reference, environ) if reference.slow else reference.resolve(environ)
        return self.before + found.reveal()
