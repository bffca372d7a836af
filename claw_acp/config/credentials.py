"""Keys stored by logging in: `credentials.toml`, which only its owner may read.

[anthropic] key = "sk-ant-..."

[openai] keyring = "openai"                       # the key itself is in the system's keyring, under this name

[gemini] encrypted = "scrypt-16-8-1:..."          # opened by the passphrase that CLAW_ACP_PASSPHRASE names

[work]                                   # a service of the user's own is described here too kind = "openai" base_url =
"http://127.0.0.1:8080/v1" models = ["qwen3"] key = "..."
"""

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from claw_acp.config.diagnostic import Diagnostic
from claw_acp.config.fields import PROVIDER_NAME
from claw_acp.config.key_reference import KeyReference
from claw_acp.config.provider_section import ProviderSection
from claw_acp.config.toml_file import TomlDocument, read_toml
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value

BY_LOGIN = "login "
"""The beginning of the source of a key that was stored by logging in."""
PASSPHRASE = "CLAW_ACP_PASSPHRASE"  # noqa: S105 - the name of a variable
"""The variable that holds the passphrase of encrypted keys, or names its place: `command:LINE`, `file:PATH`, ..."""
OTHERS = 0o077  # permission bits of everybody but the owner

_KEY, _KEYRING, _ENCRYPTED = "key", "keyring", "encrypted"
_OWN_FIELDS = ("kind", "base_url", "models")


class Login(Value):
    """The login to one provider.

    Attributes:
        provider: Its name.
        reference: The place of the key: the file itself, encrypted or not, or the keyring; None if none is needed.
        section: The settings of a service of the user's own; None for a known service.
        place: The file, and the line if it is known.
    """

    provider: str
    reference: KeyReference | None
    section: ProviderSection | None
    place: str

    @property
    def source(self) -> str:
        """The place of the key, for people."""
        kind = "" if self.reference is None else self.reference.kind
        kept = {"keyring": "the system keyring", "encrypted": f"{self.place}, encrypted"}.get(kind, self.place)
        return f"{BY_LOGIN}({kept})"


class Logins(Value):
    """The valid logins of the file, by provider, and diagnostics for the rest."""

    by_provider: Mapping[str, Login]
    diagnostics: tuple[Diagnostic, ...] = ()


NO_LOGINS = Logins(by_provider={})


def read_logins(path: Path) -> Logins:
    """The logins in the file. A file that others may read is not used at all: its keys may be known to anybody."""
    if (exposure := exposed(path)) is not None:
        return Logins(by_provider={}, diagnostics=(exposure,))
    return parse_logins(path)


def parse_logins(path: Path) -> Logins:
    """The logins in the file, whatever its permissions."""
    document = read_toml(path)
    if document is None:
        return NO_LOGINS
    if isinstance(document, Diagnostic):
        return Logins(by_provider={}, diagnostics=(document,))
    diagnostics: list[Diagnostic] = []
    logins: dict[str, Login] = {}
    for name, entry in document.content.items():
        try:
            logins[name] = _login(name, entry, document=document)
        except ValueError as error:
            diagnostics.append(
                Diagnostic(
                    severity="error",
                    file=document.file,
                    line=document.positions.line_of((name,)),
                    key=name,
                    message=f"{error}; it is ignored",
                    suggestion=f"run: claw-acp login {name}" if re.match(PROVIDER_NAME, name) else None,
                )
            )
    return Logins(by_provider=logins, diagnostics=tuple(diagnostics))


def exposed(path: Path) -> Diagnostic | None:
    """A diagnostic if the file's permissions are too open."""
    try:
        facts = path.stat()
    except OSError:
        return None  # not there; what cannot be read is told by whoever reads it
    if stat.S_IMODE(facts.st_mode) & OTHERS:
        message, what_to_do = "can be read by others, so its keys are not used", f"run: chmod 600 '{path}'"
    elif facts.st_uid not in {os.geteuid(), 0}:
        message, what_to_do = "belongs to another user, so its keys are not used", f"run: chown $USER '{path}'"
    else:
        return None
    return Diagnostic(severity="error", file=str(path), line=None, key="", message=message, suggestion=what_to_do)


def _login(name: str, entry: object, *, document: TomlDocument) -> Login:
    """The login of one table.

    Raises:
        ValueError: It is no valid login; the text holds no part of a key.
    """
    if not re.match(PROVIDER_NAME, name):
        raise ValueError("a provider's name is made of letters, digits, dots, dashes and underscores")
    if not isinstance(entry, dict):
        raise ValueError("must be a table with a key")  # noqa: TRY004 - all that is wrong here is told alike
    table = cast("dict[str, object]", entry)
    line = document.positions.line_of((name,))
    return Login(
        provider=name,
        reference=_reference(table),
        section=_section(table),
        place=f"{document.file}:{line}" if line else document.file,
    )


def _reference(table: Mapping[str, object]) -> KeyReference | None:
    key, entry = table.get(_KEY), table.get(_KEYRING)
    if isinstance(key, str) and key.strip():
        return KeyReference(kind="text", secret=Secret(key.strip()))
    if isinstance(entry, str) and entry.strip():
        return KeyReference(kind="keyring", target=entry.strip())
    sealed = table.get(_ENCRYPTED)
    if isinstance(sealed, str) and sealed.strip():
        return KeyReference(kind="encrypted", target=sealed.strip())
    if key is None and entry is None and sealed is None and "base_url" in table:
        return None
    raise ValueError("holds no key")


def _section(table: Mapping[str, object]) -> ProviderSection | None:
    described = {field: table[field] for field in _OWN_FIELDS if field in table}
    return ProviderSection.validated(described) if described else None
