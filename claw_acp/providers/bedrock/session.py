"""Requests signed with AWS credentials, which botocore finds and renews. Everything blocks: call it in threads.

This is the only module that imports botocore, which is an optional package: others name it by a reference.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Final, NoReturn

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import (
    AssumeRoleProvider,
    CanonicalNameCredentialSourcer,
    ContainerProvider,
    CredentialProvider,
    CredentialResolver,
    Credentials,
    EnvProvider,
    InstanceMetadataProvider,
    ProcessProvider,
    ProfileProviderBuilder,
    ReadOnlyCredentials,
    create_credential_resolver,
)
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    SSOTokenLoadError,
    TokenRetrievalError,
)
from botocore.session import Session

from claw_acp.core.errors import ProviderAuthFailed
from claw_acp.core.printable import printable
from claw_acp.core.redaction import redact
from claw_acp.process.blocking import BlockingChild

SERVICE: Final = "bedrock"  # the name in the scope of a signature
PROGRAM_TIMEOUT: Final = 30.0  # seconds for a credential_process, which may ask a service itself
REASON_LIMIT: Final = 500  # characters of what went wrong
SIGNED: Final = frozenset({"host", "content-type"})  # of the headers sent; others may be changed on the way

_CLIENT: Final = Config(connect_timeout=5, read_timeout=15, retries={"mode": "standard", "total_max_attempts": 2})
_UNREADABLE: Final = (json.JSONDecodeError, LookupError, AttributeError, TypeError, ArithmeticError)
_FAILURES: Final = (BotoCoreError, ClientError, OSError, ValueError, RuntimeError, *_UNREADABLE)


class AwsSession:
    """The AWS credentials of this process, and signatures with them.

    botocore reads the profiles and endpoints that the environment of the process names, as AWS's own programs do.

    Args:
        environ: The variables `AWS_*`; keys and the endpoint of a container are taken from here.
        provider: The name of the provider, for errors.
        region: The region of the services that issue credentials.
    """

    def __init__(self, environ: Mapping[str, str], *, provider: str, region: str) -> None:
        self._environ = environ
        self._provider = provider
        self._region = region
        self._credentials: Credentials | None = None
        self._finding = threading.Lock()

    def sign(self, method: str, url: str, *, headers: Mapping[str, str], body: bytes, region: str) -> dict[str, str]:
        """The headers that sign a request to `region`, with credentials that are renewed before they expire.

        Raises:
            ProviderAuthFailed: There are no credentials, or a configured source failed.
        """
        signed = {name: value for name, value in headers.items() if name in SIGNED}
        request = AWSRequest(method=method, url=url, headers=signed, data=body)
        SigV4Auth(self._current(), SERVICE, region).add_auth(request)
        added = {name.lower(): str(value) for name, value in request.headers.items() if name not in signed}
        if not all(value.isascii() and value.isprintable() for value in added.values()):
            raise self._failed("the AWS credentials hold a character that cannot be sent. Check their source.")
        return added

    def _current(self) -> ReadOnlyCredentials:
        try:
            with self._finding:
                self._credentials = self._credentials or self._found()
            return self._credentials.get_frozen_credentials()
        except _FAILURES as error:
            raise self._failed(f"no AWS credentials could be obtained: {_reason(error)}.") from error

    def _found(self) -> Credentials:
        session = Session()
        session.set_config_variable("region", self._region)
        session.set_default_client_config(_CLIENT)
        found = _Sources(session, environ=self._environ).resolver().load_credentials()
        if found is not None:
            return found
        raise self._failed(
            "there are no AWS credentials. Looked at: AWS_ACCESS_KEY_ID, the profile that AWS_PROFILE names (else "
            "default), a web identity, a container's credentials, the EC2 metadata service. Set "
            "AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE."
        )

    def _failed(self, text: str) -> ProviderAuthFailed:
        return ProviderAuthFailed(f"{self._provider}: {text}", provider=self._provider)


class _Sources:
    """botocore's sources of credentials, with programs started as ours are and without prompts for codes.

    botocore also uses it to build the sources of a profile that another profile names.
    """

    def __init__(self, session: Session, *, environ: Mapping[str, str]) -> None:
        self._session = session
        self._environ = environ
        self._profiles = ProfileProviderBuilder(session, cache={})

    def resolver(self) -> CredentialResolver:
        """All sources, in botocore's order."""
        profile: str = self._session.get_config_variable("profile") or "default"
        resolver = create_credential_resolver(self._session)
        sources = [self._ours(source, profile=profile) for source in resolver.providers]
        role = AssumeRoleProvider(
            self._config,
            self._session.create_client,
            {},
            profile,
            prompter=_refuse_code,
            credential_sourcer=CanonicalNameCredentialSourcer([one for one in sources if isinstance(one, _NAMED)]),
            profile_provider_builder=self,
        )
        resolver.providers = [role if isinstance(one, AssumeRoleProvider) else one for one in sources]
        self._session.register_component("credential_provider", resolver)
        return resolver

    def providers(self, profile_name: str, disable_env_vars: bool = False) -> list[CredentialProvider]:  # noqa: FBT001, FBT002 - botocore's
        """The sources of one profile."""
        usual = self._profiles.providers(profile_name, disable_env_vars)
        return [self._ours(source, profile=profile_name) for source in usual]

    def _ours(self, source: CredentialProvider, *, profile: str) -> CredentialProvider:
        match source:
            case EnvProvider():
                return EnvProvider(self._environ)
            case ContainerProvider():
                return ContainerProvider(self._environ)
            case ProcessProvider():
                return ProcessProvider(profile, self._config, popen=_Program)
            case _:
                return source

    def _config(self) -> Mapping[str, object]:
        return self._session.full_config


_NAMED: Final = (EnvProvider, ContainerProvider, InstanceMetadataProvider)
"""The sources that a profile can name in `credential_source`."""


class _Program:
    """A `credential_process`, with the part of the interface of `Popen` that botocore uses."""

    def __init__(self, argv: Sequence[str], **_: object) -> None:
        self.returncode = 0
        self._child = BlockingChild(argv)

    def communicate(self) -> tuple[bytes, bytes]:
        """Its output and error output, after its end."""
        try:
            ended = self._child.finish(within=PROGRAM_TIMEOUT)
        except TimeoutError as error:
            raise _unavailable(f"it did not end within {PROGRAM_TIMEOUT:g} s") from error
        self.returncode = ended.code
        return ended.stdout, ended.stderr.strip() or f"exit code {ended.code}".encode()


def _unavailable(reason: str, *, source: str = ProcessProvider.METHOD) -> CredentialRetrievalError:
    return CredentialRetrievalError(provider=source, error_msg=reason)


def _refuse_code(prompt: str) -> NoReturn:  # noqa: ARG001 - botocore's
    reason = "the role needs an MFA code, which cannot be typed here; sign in with `aws` and use its credentials"
    raise _unavailable(reason, source=AssumeRoleProvider.METHOD)


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, _UNREADABLE):
        text = f"a source answered in an unknown form ({type(error).__name__}: {text})"
    if isinstance(error, SSOTokenLoadError | TokenRetrievalError):
        text = f"{text.rstrip('.')}; run aws sso login"
    return redact(printable(text)).rstrip(".")[:REASON_LIMIT]
