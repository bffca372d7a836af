"""Where credentials are found, and what is said when they are not.

The order: https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from claw_acp.core.errors import ProviderAuthFailed
from claw_acp.core.secret import Secret
from claw_acp.net.aws_credentials import CredentialChain
from claw_acp.net.aws_metadata import may_hold_credentials
from claw_acp.net.aws_signature import AwsCredentials
from tests.support.agent_process import eventually
from tests.support.fixed_clock import FixedClock
from tests.support.loopback import Answered, Asked, Loopback, serving
from tests.support.model_server import refusing_address

NO_INSTANCE = {"AWS_EC2_METADATA_DISABLED": "true"}
NOW = 1_790_000_000.0
LATER = "2026-09-21T15:13:20Z"  # an hour after NOW


def chain(clock: FixedClock | None = None, /, **environ: str) -> CredentialChain:
    return CredentialChain({**NO_INSTANCE, **environ}, provider="bedrock", clock=clock or FixedClock(now=NOW))


async def found(**environ: str) -> tuple[str, str, str | None]:
    """Access key, secret key and token."""
    credentials = await chain(**environ).credentials()
    token = credentials.token
    return credentials.access_key, credentials.secret_key.reveal(), token.reveal() if token else None


def aws_files(*, config: str = "", credentials: str = "") -> None:
    folder = Path.home() / ".aws"
    folder.mkdir(exist_ok=True)
    (folder / "config").write_text(config)
    (folder / "credentials").write_text(credentials)


def program(tmp_path: Path, code: str) -> str:
    file = tmp_path / "give.py"
    file.write_text(code)
    return f"{sys.executable} {file}"


# ------------------------------------------------------------------ environment and files


async def test_the_environment_comes_first() -> None:
    aws_files(credentials="[default]\naws_access_key_id = FILE\naws_secret_access_key = s\n")
    assert await found(AWS_ACCESS_KEY_ID="AKID", AWS_SECRET_ACCESS_KEY="sec") == ("AKID", "sec", None)
    assert (await found(AWS_ACCESS_KEY_ID="AKID", AWS_SECRET_ACCESS_KEY="sec", AWS_SESSION_TOKEN="tok"))[2] == "tok"
    assert (await found(AWS_ACCESS_KEY_ID="AKID"))[0] == "FILE"  # half a pair is none


async def test_the_profile_named_is_read_from_both_files_and_credentials_win() -> None:
    aws_files(
        config=(
            "[default]\nregion = eu-west-1\n[profile  dev]\nregion=ap-south-1\naws_access_key_id=OLD\ns3 =\n  a = b\n"
        ),
        credentials=(
            "# ours\n[default]\naws_access_key_id = D\naws_secret_access_key = d%(x)s\n\n"
            "[dev]\naws_access_key_id=AKDEV\naws_secret_access_key=sec=ret\naws_session_token=tok\n"
        ),
    )
    assert await found() == ("D", "d%(x)s", None)
    assert await found(AWS_PROFILE="dev") == ("AKDEV", "sec=ret", "tok")
    assert await chain().region() == "eu-west-1"
    assert await chain(AWS_PROFILE="dev").region() == "ap-south-1"


async def test_the_region_of_the_environment_comes_before_the_profiles_and_there_is_a_last_resort() -> None:
    assert await chain().region() == "us-east-1"
    aws_files(config="[profile default]\nregion = eu-west-1\n")
    assert await chain().region() == "eu-west-1"
    assert await chain(AWS_DEFAULT_REGION="b").region() == "b"
    assert await chain(AWS_DEFAULT_REGION="b", AWS_REGION="a").region() == "a"


async def test_files_elsewhere_are_read_where_the_environment_says(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("[x]\naws_access_key_id = A\naws_secret_access_key = B\n")
    (tmp_path / "d").write_text("[profile x]\nregion = eu-west-3\n")
    places = {"AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "c"), "AWS_CONFIG_FILE": str(tmp_path / "d")}
    assert await found(AWS_PROFILE="x", **places) == ("A", "B", None)
    assert await chain(AWS_PROFILE="x", **places).region() == "eu-west-3"


async def test_a_profile_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ProviderAuthFailed, match=r"there is no profile nope in .*config.* Correct AWS_PROFILE"):
        await found(AWS_PROFILE="nope")


async def test_a_file_that_is_no_such_file_is_named_and_never_quoted() -> None:
    aws_files(credentials="aws_secret_access_key = topsecret\n")
    with pytest.raises(ProviderAuthFailed, match=r"\.aws/credentials cannot be read") as raised:
        await found()
    assert "topsecret" not in raised.value.message


async def test_a_profile_that_signs_in_elsewhere_says_what_to_add() -> None:
    aws_files(config="[default]\nsso_session = my\n")
    with pytest.raises(ProviderAuthFailed, match="credential_process = aws configure export-credentials"):
        await found()


# ------------------------------------------------------------------ a program


async def test_a_program_gives_credentials_and_is_asked_again_when_they_expire(tmp_path: Path) -> None:
    count = tmp_path / "count"
    command = program(
        tmp_path,
        f"""
import json, pathlib
count = pathlib.Path({str(count)!r})
number = len(count.read_text()) if count.exists() else 0
count.write_text("x" * (number + 1))
print(json.dumps(dict(Version=1, AccessKeyId="A" + str(number), SecretAccessKey="s", SessionToken="t",
                      Expiration="{LATER}")))
""",
    )
    aws_files(config=f"[default]\ncredential_process = {command}\n")
    clock = FixedClock(now=NOW)
    held = chain(clock)
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(held.credentials)
    first = await held.credentials()
    assert (first.access_key, first.expires, first.token) == ("A0", NOW + 3600, Secret("t"))
    clock.seconds = NOW + 3600 - 299
    assert (await held.credentials()).access_key == "A1"


async def test_credentials_that_still_hold_are_kept_when_they_cannot_be_renewed(tmp_path: Path) -> None:
    once = tmp_path / "once"
    command = program(
        tmp_path,
        f"""
import pathlib, sys
once = pathlib.Path({str(once)!r})
if once.exists(): sys.exit(7)
once.write_text("x")
print('{{"AccessKeyId": "A", "SecretAccessKey": "s", "Expiration": "{LATER}"}}')
""",
    )
    aws_files(config=f"[default]\ncredential_process = {command}\n")
    clock = FixedClock(now=NOW)
    held = chain(clock)
    await held.credentials()
    clock.seconds = NOW + 3500
    assert (await held.credentials()).access_key == "A"
    clock.seconds = NOW + 3601
    with pytest.raises(ProviderAuthFailed, match="failed with exit code 7"):
        await held.credentials()


async def test_refused_credentials_are_looked_for_again() -> None:
    aws_files(credentials="[default]\naws_access_key_id = OLD\naws_secret_access_key = s\n")
    held = chain()
    assert (await held.credentials()).access_key == "OLD"
    aws_files(credentials="[default]\naws_access_key_id = NEW\naws_secret_access_key = s\n")
    assert (await held.credentials()).access_key == "OLD"
    held.forget()
    assert (await held.credentials()).access_key == "NEW"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("print('{}')", "gave no AccessKeyId and SecretAccessKey"),
        ("print('nope')", "gave no AccessKeyId and SecretAccessKey"),
        ("print('[1]')", "gave no AccessKeyId and SecretAccessKey"),
        ("raise SystemExit(3)", "failed with exit code 3"),
    ],
)
async def test_a_program_that_gives_nothing_is_an_error(tmp_path: Path, code: str, words: str) -> None:
    aws_files(config=f"[default]\ncredential_process = {program(tmp_path, code)}\n")
    with pytest.raises(ProviderAuthFailed, match=words):
        await found()


async def test_a_program_ends_with_the_request_that_wanted_it(tmp_path: Path) -> None:
    started = tmp_path / "pid"
    code = f"import os, pathlib\npathlib.Path({str(started)!r}).write_text(str(os.getpid()))\nos.read(os.pipe()[0], 1)"
    aws_files(config=f"[default]\ncredential_process = {program(tmp_path, code)}\n")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(chain().credentials)
        await eventually(lambda: started.exists() and started.read_text() != "", what="the program runs")
        tasks.cancel_scope.cancel()
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


@pytest.mark.parametrize("command", ["/no/such/program", "'unended"])
async def test_a_program_that_cannot_be_started_is_an_error(command: str) -> None:
    aws_files(config=f"[default]\ncredential_process = {command}\n")
    with pytest.raises(ProviderAuthFailed, match="cannot be started"):
        await found()


# ------------------------------------------------------------------ endpoints


class Endpoints(Loopback):
    """A container's endpoint and an instance's metadata service."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.status = 200
        self.roles = "my-role\n"

    def _answer(self, asked: Asked) -> Answered:
        document = {"AccessKeyId": "AK", "SecretAccessKey": "s", "Token": "t", "Expiration": LATER}
        match asked.method, asked.path:
            case "GET", "/credentials?id=1":
                return Answered([json.dumps(document).encode()], status=self.status)
            case "PUT", "/latest/api/token":
                assert asked.headers["x-aws-ec2-metadata-token-ttl-seconds"] == "21600"
                return Answered([b"session"], kind="text/plain")
            case "GET", "/latest/meta-data/iam/security-credentials/":
                found = 200 if self.roles else 404
                return Answered([self.roles.encode()], status=found, kind="text/plain")
            case "GET", "/latest/meta-data/iam/security-credentials/my-role":
                assert asked.headers["x-aws-ec2-metadata-token"] == "session"
                return Answered([json.dumps({"Code": "Success", **document}).encode()])
            case _:
                return Answered(status=404)


@pytest.fixture
def endpoints() -> Iterator[Endpoints]:
    server = Endpoints()
    with serving(server):
        yield server


async def test_a_container_is_asked_with_its_token(endpoints: Endpoints, tmp_path: Path) -> None:
    url = f"{endpoints.url}/credentials?id=1"
    (tmp_path / "token").write_text("from a file\n")
    assert await found(AWS_CONTAINER_CREDENTIALS_FULL_URI=url) == ("AK", "s", "t")
    await found(AWS_CONTAINER_CREDENTIALS_FULL_URI=url, AWS_CONTAINER_AUTHORIZATION_TOKEN="plain")
    await found(
        AWS_CONTAINER_CREDENTIALS_FULL_URI=url,
        AWS_CONTAINER_AUTHORIZATION_TOKEN="plain",
        AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=str(tmp_path / "token"),
    )
    assert [asked.headers.get("authorization") for asked in endpoints.asked] == [None, "plain", "from a file"]


async def test_a_container_that_refuses_or_is_not_there_is_an_error(endpoints: Endpoints) -> None:
    endpoints.status = 403
    with pytest.raises(ProviderAuthFailed, match=r"were refused \(HTTP 403\)"):
        await found(AWS_CONTAINER_CREDENTIALS_FULL_URI=f"{endpoints.url}/credentials?id=1")
    with refusing_address() as nobody, pytest.raises(ProviderAuthFailed, match="cannot be had"):
        await found(AWS_CONTAINER_CREDENTIALS_FULL_URI=nobody)


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://anywhere.example/x", True),
        ("http://169.254.170.2/x", True),
        ("http://169.254.170.23/x", True),
        ("http://[fd00:ec2::23]/x", True),
        ("http://localhost:1/x", True),
        ("http://127.1.2.3/x", True),
        ("http://[::1]/x", True),
        ("http://169.254.169.254/x", False),
        ("http://anywhere.example/x", False),
        ("http://127.0.0.1.example/x", False),
        ("ftp://localhost/x", False),
        ("http://[nope/x", False),
    ],
)
async def test_credentials_are_asked_for_only_over_tls_or_on_this_host(url: str, *, allowed: bool) -> None:
    assert may_hold_credentials(url) is allowed
    if not allowed:
        with pytest.raises(ProviderAuthFailed, match="neither https:// nor on this host"):
            await found(AWS_CONTAINER_CREDENTIALS_FULL_URI=url)


async def test_an_instance_gives_the_credentials_of_its_role(endpoints: Endpoints) -> None:
    assert await chain(
        AWS_EC2_METADATA_DISABLED="false", AWS_EC2_METADATA_SERVICE_ENDPOINT=f"{endpoints.url}/"
    ).credentials() == AwsCredentials(
        access_key="AK",
        secret_key=Secret("s"),
        token=Secret("t"),
        expires=NOW + 3600,
        source=f"the EC2 metadata service at {endpoints.url}",
    )


async def test_nothing_found_lists_everything_that_was_looked_at(endpoints: Endpoints) -> None:
    endpoints.roles = ""
    with pytest.raises(ProviderAuthFailed) as raised:
        await found(AWS_EC2_METADATA_DISABLED="", AWS_EC2_METADATA_SERVICE_ENDPOINT=endpoints.url)
    assert raised.value.message == (
        "bedrock: there are no AWS credentials. Looked at: AWS_BEARER_TOKEN_BEDROCK and BEDROCK_API_KEY (not set); "
        f"AWS_ACCESS_KEY_ID (not set); profile default in {Path.home()}/.aws/config and "
        f"{Path.home()}/.aws/credentials (not there); AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and _FULL_URI (not set); "
        f"the EC2 metadata service at {endpoints.url} (no role is attached). "
        "Set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE."
    )
    with refusing_address() as nobody, pytest.raises(ProviderAuthFailed, match=r"\(Connection refused\)"):
        await found(AWS_EC2_METADATA_DISABLED="", AWS_EC2_METADATA_SERVICE_ENDPOINT=nobody)
    with pytest.raises(ProviderAuthFailed, match="AWS_EC2_METADATA_DISABLED is set"):
        await found()
