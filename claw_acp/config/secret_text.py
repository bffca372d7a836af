"""A text of the settings that may be kept elsewhere: a variable or a header of a server."""

import re
from collections.abc import Mapping
from pathlib import Path

from claw_acp.config.key_reference import KeyReference
from claw_acp.config.secret_cache import SecretCache
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value, replace

_SCHEME = r"(?s)((?:Bearer|Basic|Token) )((?:env|file|keyring|command):.*)"


class SecretText(Value):
    """The text itself, or where it is (as `api_key` has it); `Bearer env:NAME` puts a word before what is found."""

    reference: KeyReference
    before: str = ""

    @classmethod
    def parse(cls, text: str) -> "SecretText":
        """What `text` stands for.

        Raises:
            ValueError: It names a source that cannot be. The message holds no part of a secret.
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
        """The text as people may see it."""
        return self.before + self.reference.describe()

    @property
    def is_kept(self) -> bool:
        """Whether it stands elsewhere, where secrets are kept."""
        return self.reference.kind != "text"

    def get(self, environ: Mapping[str, str], secrets: SecretCache) -> str:
        """The text. Blocks: for worker threads and the command line.

        Raises:
            ConfigError: It cannot be had.
        """
        reference = self.reference
        found = secrets.fetch(reference, environ) if reference.slow else reference.resolve(environ)
        return self.before + found.reveal()
