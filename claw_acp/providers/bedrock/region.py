"""The AWS region from the environment or AWS's shared files.

Source: https://docs.aws.amazon.com/sdkref/latest/guide/feature-region.html. Read here because a bearer key needs a
region as well, and works without botocore.
"""

from collections.abc import Mapping
from configparser import Error, RawConfigParser
from pathlib import Path
from typing import Final

from claw_acp.core.errors import ProviderAuthFailed

FILE_LIMIT: Final = 1024 * 1024  # bytes of one of the files

_NO_SECTION: Final = "\n"  # no line of a file can name it


def configured_region(environ: Mapping[str, str], *, provider: str) -> str:
    """The region of the environment, else of the profile in use; empty if neither has one. Blocks: it reads files.

    Raises:
        ProviderAuthFailed: A shared file cannot be read.
    """
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")
    if region:
        return region
    profile = environ.get("AWS_PROFILE") or environ.get("AWS_DEFAULT_PROFILE") or "default"
    sections = {f"profile {profile}", profile} if profile == "default" else {f"profile {profile}"}
    return _region(
        _file(environ, "AWS_SHARED_CREDENTIALS_FILE", usual="credentials"), {profile}, provider=provider
    ) or _region(_file(environ, "AWS_CONFIG_FILE", usual="config"), sections, provider=provider)


def _file(environ: Mapping[str, str], variable: str, *, usual: str) -> Path:
    named = environ.get(variable)
    return Path(named).expanduser() if named else Path.home() / ".aws" / usual


def _region(file: Path, sections: set[str], *, provider: str) -> str:
    parser = RawConfigParser(default_section=_NO_SECTION, strict=False, allow_no_value=True)
    try:
        with file.open(encoding="utf-8") as text:
            parser.read_string(text.read(FILE_LIMIT))
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError, Error) as error:  # the parser's own words would quote a line, keys and all
        reason = error.strerror if isinstance(error, OSError) else "it is not in the form of AWS's shared files"
        raise ProviderAuthFailed(f"{provider}: {file} cannot be read ({reason}).", provider=provider) from error
    regions = (
        parser.get(name, "region", fallback=None) for name in parser.sections() if " ".join(name.split()) in sections
    )
    return next((region.strip() for region in regions if region), "")
