"""The shared files of AWS: `~/.aws/credentials` and `~/.aws/config`, as far as one profile goes.

Source: https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html. What both files say of a profile is laid
together; the credentials file wins.
"""

from collections.abc import Mapping
from configparser import Error, RawConfigParser
from pathlib import Path

from claw_acp.core.errors import ProviderAuthFailed
from claw_acp.core.value import Value, made_by

FILE_LIMIT = 1024 * 1024  # bytes of one of the files

_NO_SECTION = "\n"  # no line of a file can name it


class AwsProfile(Value):
    """One profile.

    Attributes:
        name: As `AWS_PROFILE` has it.
        settings: What the files say of it; empty when neither knows it.
        files: The files that were looked for, whether or not they are there.
        found: Whether one of them knows the profile.
    """

    name: str
    settings: Mapping[str, str] = made_by(default_factory=dict[str, str])
    files: tuple[Path, ...] = ()
    found: bool = False


def read_profile(environ: Mapping[str, str], *, provider: str) -> AwsProfile:
    """The profile that `AWS_PROFILE` names, else `default`. Blocks: it reads two files.

    Raises:
        ProviderAuthFailed: A file is there and cannot be read or understood.
    """
    name = environ.get("AWS_PROFILE") or environ.get("AWS_DEFAULT_PROFILE") or "default"
    config = _place(environ, "AWS_CONFIG_FILE", usual="config")
    credentials = _place(environ, "AWS_SHARED_CREDENTIALS_FILE", usual="credentials")
    sections = (
        _section(config, names=(f"profile {name}", *(("default",) if name == "default" else ())), provider=provider),
        _section(credentials, names=(name,), provider=provider),
    )
    settings = {key: value for section in sections for key, value in (section or {}).items()}
    found = any(section is not None for section in sections)
    return AwsProfile(name=name, settings=settings, files=(config, credentials), found=found)


def _place(environ: Mapping[str, str], variable: str, *, usual: str) -> Path:
    named = environ.get(variable)
    return Path(named).expanduser() if named else Path.home() / ".aws" / usual


def _section(file: Path, *, names: tuple[str, ...], provider: str) -> dict[str, str] | None:
    """What a file says under the first of the names that it has; None when it has none of them."""
    parser = RawConfigParser(default_section=_NO_SECTION, strict=False, allow_no_value=True)
    try:
        with file.open(encoding="utf-8") as text:
            parser.read_string(text.read(FILE_LIMIT))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, Error) as error:  # the parser's own words would quote a line, keys and all
        reason = error.strerror if isinstance(error, OSError) else "it is not in the form of AWS's shared files"
        raise ProviderAuthFailed(f"{provider}: {file} cannot be read ({reason}).", provider=provider) from error
    spelled = {" ".join(section.split()): section for section in parser.sections()}
    section = next((spelled[name] for name in names if name in spelled), None)
    if section is None:
        return None
    return {key: value.strip() for key, value in parser.items(section) if value}
