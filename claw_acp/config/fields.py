"""The pieces that the tables of the configuration are made of: checked texts, and the base of every table."""

from pathlib import Path
from typing import Annotated, Self, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from claw_acp.config.key_reference import KeyReference
from claw_acp.config.secret_text import SecretText


def key_reference(value: object) -> KeyReference:
    """What `api_key` stands for."""
    if isinstance(value, KeyReference):
        return value
    if not isinstance(value, str):
        raise ValueError("must be text: env:NAME, file:PATH, keyring:NAME, command:LINE or the key itself")  # noqa: TRY004 - pydantic reports ValueError
    return KeyReference.parse(value)


def secret_text(value: object) -> SecretText:
    """What a variable or header stands for."""
    if isinstance(value, SecretText):
        return value
    if not isinstance(value, str):
        raise ValueError("must be text: the value itself, env:NAME, file:PATH, keyring:NAME or command:LINE")  # noqa: TRY004 - pydantic reports ValueError
    return SecretText.parse(value)


def address(value: object) -> str:
    """A web address, without a trailing slash."""
    return exact_address(value).rstrip("/")


def exact_address(value: object) -> str:
    """A web address as it is written."""
    if not isinstance(value, str):
        raise ValueError("must be text, as in http://127.0.0.1:8080/v1")  # noqa: TRY004 - pydantic reports ValueError
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an address with http:// or https://, as in http://127.0.0.1:8080/v1")
    return value


def path(value: object) -> Path:
    """The path of a file."""
    if isinstance(value, Path):
        return value
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError("must be the path of a file")
    return Path(value)


Texts: TypeAlias = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(strict=False)]
"""A list of texts; not strict, because TOML arrays arrive as lists."""


class Section(BaseModel):
    """The base of every table: exact types (`true` is not a number), unknown keys refused, immutable.

    What checks a table is built when the first file is read: most people have none, and it takes 20 ms.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        arbitrary_types_allowed=True,
        defer_build=True,
    )

    @classmethod
    def unset(cls) -> Self:
        """The table with nothing set. Unlike a call of the class it checks nothing, defaults being right."""
        return cls.model_construct()


Name: TypeAlias = Annotated[str, Field(min_length=1)]
Address: TypeAlias = Annotated[str, BeforeValidator(address)]
"""Without a trailing slash."""
ExactAddress: TypeAlias = Annotated[str, BeforeValidator(exact_address)]
FilePath: TypeAlias = Annotated[Path, BeforeValidator(path)]
Key: TypeAlias = Annotated[KeyReference, BeforeValidator(key_reference)]
SecretTexts: TypeAlias = dict[Name, Annotated[SecretText, BeforeValidator(secret_text)]]
Money: TypeAlias = Annotated[float, Field(ge=0, le=1_000_000)]
"""US dollars; whole numbers may be written without a point."""
