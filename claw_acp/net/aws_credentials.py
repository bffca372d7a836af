"""Where AWS credentials are looked for, in the order of AWS's own programs, and kept until shortly before they expire.

Source: https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html. What needs a service besides
(SSO, roles to assume) is left to `credential_process`, behind which AWS's own program can stand.
"""

import json
import logging
import os
import shlex
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import anyio
from anyio import to_thread

from claw_acp.core.child_environment import without_keys
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ProviderAuthFailed, ProviderError
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.secret import Secret
from claw_acp.net.aws_metadata import NoReply, ask, may_hold_credentials
from claw_acp.net.aws_profiles import AwsProfile, read_profile
from claw_acp.net.aws_signature import AwsCredentials

USUAL_REGION: Final = "us-east-1"
RENEW_BEFORE: Final = 300.0  # seconds of validity that are not used: a request signed now may be checked later
PROCESS_TIMEOUT: Final = 30.0  # seconds; the program may ask a service itself
TOKEN_SECONDS: Final = 21_600  # life of a session with the metadata service, the longest there is
TOKEN_FILE_LIMIT: Final = 16 * 1024  # bytes of a container's token

_CONTAINER: Final = "http://169.254.170.2"
_INSTANCE: Final = "http://169.254.169.254"
_INSTANCE_V6: Final = "http://[fd00:ec2::254]"
_ROLES: Final = "/latest/meta-data/iam/security-credentials/"
_SIGN_INS: Final = ("sso_session", "sso_start_url", "role_arn", "web_identity_token_file", "login_session")
_NO_DOCUMENT: Final[JsonObject] = {}

log = logging.getLogger(__name__)


class CredentialChain:
    """The credentials of one provider. `environ` holds the `AWS_*` variables."""

    def __init__(self, environ: Mapping[str, str], *, provider: str, clock: Clock) -> None:
        self._environ = environ
        self._provider = provider
        self._clock = clock
        self._kept: AwsCredentials | None = None
        self._looking = anyio.Lock()

    async def region(self) -> str:
        """The region of the environment, else of the profile, else `us-east-1`.

        Raises:
            ProviderAuthFailed: A shared file is there and cannot be read.
        """
        named = self._environ.get("AWS_REGION") or self._environ.get("AWS_DEFAULT_REGION")
        return named or (await self._profile()).settings.get("region") or USUAL_REGION

    async def credentials(self) -> AwsCredentials:
        """Credentials that hold for a while yet.

        Raises:
            ProviderAuthFailed: There are none (the text lists where they were looked for), or a source that is set up
                does not work.
        """
        async with self._looking:
            kept = self._kept
            if kept is not None and self._left(kept) > RENEW_BEFORE:
                return kept
            try:
                self._kept = await self._found()
            except ProviderError:
                if kept is None or self._left(kept) <= 0:
                    raise
                log.warning("credentials not renewed", exc_info=True, extra={"provider": self._provider})
                return kept
            return self._kept

    def forget(self) -> None:
        """Look again before the next request: the credentials were refused."""
        self._kept = None

    def _left(self, credentials: AwsCredentials) -> float:
        return float("inf") if credentials.expires is None else credentials.expires - self._clock.now()

    async def _found(self) -> AwsCredentials:
        looked: list[str] = []
        for source in (self._in_environment, self._in_profile, self._of_container, self._of_instance):
            found = await source(looked)
            if found is not None:
                log.info("credentials found", extra={"provider": self._provider, "source": found.source})
                return found
        raise self._failed(
            f"there are no AWS credentials. Looked at: {'; '.join(looked)}. "
            "Set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE."
        )

    # ------------------------------------------------------------------ environment and files

    async def _in_environment(self, looked: list[str]) -> AwsCredentials | None:
        get = self._environ.get
        key, secret = get("AWS_ACCESS_KEY_ID", "").strip(), get("AWS_SECRET_ACCESS_KEY", "").strip()
        if key and secret:
            token = get("AWS_SESSION_TOKEN", "").strip()
            return AwsCredentials(
                access_key=key, secret_key=Secret(secret), token=Secret(token) if token else None, source="environment"
            )
        lacking = "AWS_SECRET_ACCESS_KEY" if key else "AWS_ACCESS_KEY_ID"
        looked += ["AWS_BEARER_TOKEN_BEDROCK and BEDROCK_API_KEY (not set)", f"{lacking} (not set)"]
        if get("AWS_WEB_IDENTITY_TOKEN_FILE"):
            looked.append("AWS_WEB_IDENTITY_TOKEN_FILE (not supported here)")
        return None

    async def _in_profile(self, looked: list[str]) -> AwsCredentials | None:
        profile = await self._profile()
        settings = profile.settings
        where = f"profile {profile.name} in {' and '.join(map(str, profile.files))}"
        asked_for = bool(self._environ.get("AWS_PROFILE"))
        if asked_for and not profile.found:
            raise self._failed(f"there is no {where}. Correct AWS_PROFILE.")
        if any(settings.get(way) for way in _SIGN_INS):
            raise self._failed(
                f"{where} signs in through another service, which is not done here. Add to a profile of its own: "
                f"credential_process = aws configure export-credentials --profile {profile.name}"
            )
        key, secret = settings.get("aws_access_key_id"), settings.get("aws_secret_access_key")
        if key and secret:
            token = settings.get("aws_session_token")
            return AwsCredentials(
                access_key=key, secret_key=Secret(secret), token=Secret(token) if token else None, source=where
            )
        if command := settings.get("credential_process"):
            return await self._of_process(command, where=where)
        looked.append(f"{where} ({'no keys in it' if profile.found else 'not there'})")
        return None

    async def _profile(self) -> AwsProfile:
        def read() -> AwsProfile:
            return read_profile(self._environ, provider=self._provider)

        return await to_thread.run_sync(read, abandon_on_cancel=True)

    async def _of_process(self, command: str, *, where: str) -> AwsCredentials:
        """Source: https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html."""
        what = f"the credential_process of {where}"
        try:
            with anyio.fail_after(PROCESS_TIMEOUT):
                ended = await anyio.run_process(
                    shlex.split(command),
                    stdin=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    check=False,
                    env=without_keys(os.environ),
                )
        except TimeoutError as error:
            raise self._failed(f"{what} did not end within {PROCESS_TIMEOUT:g} s.") from error
        except (OSError, ValueError, IndexError) as error:
            reason = (error.strerror if isinstance(error, OSError) else "") or "it is no command line"
            raise self._failed(f"{what} cannot be started ({reason}).") from error
        if ended.returncode:
            raise self._failed(f"{what} failed with exit code {ended.returncode}. Run it in a terminal to see why.")
        return self._read(ended.stdout.decode("utf-8", "replace"), where=what)

    # ------------------------------------------------------------------ container and instance

    async def _of_container(self, looked: list[str]) -> AwsCredentials | None:
        relative = self._environ.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
        url = _CONTAINER + relative if relative else self._environ.get("AWS_CONTAINER_CREDENTIALS_FULL_URI")
        if not url:
            looked.append("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and _FULL_URI (not set)")
            return None
        where = f"the container's credentials at {url}"
        if not may_hold_credentials(url):
            raise self._failed(f"{where} are not asked for: the address is neither https:// nor on this host.")
        token = await self._container_token()
        try:
            reply = await ask("GET", url, headers={"Authorization": token} if token else {})
        except NoReply as error:
            raise self._failed(f"{where} cannot be had ({error}).") from error
        if reply.status != 200:
            raise self._failed(f"{where} were refused (HTTP {reply.status}).")
        return self._read(reply.text, where=where)

    async def _container_token(self) -> str:
        named = self._environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
        if not named:
            return self._environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN", "").strip()

        def read() -> str:
            with Path(named).open(encoding="utf-8") as text:
                return text.read(TOKEN_FILE_LIMIT).strip()

        try:
            return await to_thread.run_sync(read, abandon_on_cancel=True)
        except (OSError, UnicodeDecodeError) as error:
            raise self._failed(f"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE ({named}) cannot be read.") from error

    async def _of_instance(self, looked: list[str]) -> AwsCredentials | None:
        """Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html."""
        if self._environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
            looked.append("the EC2 metadata service (AWS_EC2_METADATA_DISABLED is set)")
            return None
        six = self._environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "").lower() == "ipv6"
        usual = _INSTANCE_V6 if six else _INSTANCE
        base = (self._environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT") or usual).rstrip("/")
        where = f"the EC2 metadata service at {base}"
        try:
            token = await self._metadata(
                base, "/latest/api/token", method="PUT", header=("ttl-seconds", str(TOKEN_SECONDS))
            )
            roles = await self._metadata(base, _ROLES, header=("", token))
            role = roles.split("\n")[0].strip()
            document = await self._metadata(base, _ROLES + role, header=("", token))
        except NoReply as error:
            looked.append(f"{where} ({error})")
            return None
        return self._read(document, where=where)

    async def _metadata(self, base: str, path: str, *, header: tuple[str, str], method: str = "GET") -> str:
        kind, value = header
        name = "-".join(part for part in ("X-aws-ec2-metadata-token", kind) if part)
        reply = await ask(method, base + path, headers={name: value})
        if reply.status != 200:
            raise NoReply("no role is attached" if reply.status == 404 else f"HTTP {reply.status}")
        return reply.text

    # ------------------------------------------------------------------ documents

    def _read(self, text: str, *, where: str) -> AwsCredentials:
        """The credentials in a document of one of these sources."""
        try:
            value: JsonValue = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        document = value if isinstance(value, Mapping) else _NO_DOCUMENT
        key, secret = document.get("AccessKeyId"), document.get("SecretAccessKey")
        if not (isinstance(key, str) and key and isinstance(secret, str) and secret):
            raise self._failed(f"{where} gave no AccessKeyId and SecretAccessKey.")
        tokens = (document.get("SessionToken"), document.get("Token"))
        token = next((token for token in tokens if isinstance(token, str) and token), "")
        return AwsCredentials(
            access_key=key,
            secret_key=Secret(secret),
            token=Secret(token) if token else None,
            expires=_moment(document.get("Expiration")),
            source=where,
        )

    def _failed(self, what: str) -> ProviderAuthFailed:
        return ProviderAuthFailed(f"{self._provider}: {what}", provider=self._provider)


def _moment(text: JsonValue) -> float | None:
    """Seconds since the epoch of an ISO 8601 time; None for anything else."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
