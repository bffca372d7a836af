"""The sources of AWS credentials, and the errors of those that are set up and do not work.

The order: https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
"""

import json
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from claw_acp.core.errors import ProviderAuthFailed
from claw_acp.providers.bedrock import session as bedrock_session
from claw_acp.providers.bedrock.session import AwsSession
from tests.support.servers.loopback import Answered, Asked, Loopback, serving
from tests.support.servers.model_server import refusing_address

LATER = (datetime.now(UTC) + timedelta(hours=12)).strftime("%Y-%m-%dT%H:%M:%SZ")
KEY = "sk-ant-api03-" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7" * 3
ROLE = "arn:aws:iam::123456789012:role/demo"


def soon() -> str:
    """A moment so near that credentials which end then are renewed at once."""
    return (datetime.now(UTC) + timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture(autouse=True)
def _no_aws(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


def session() -> AwsSession:
    return AwsSession(os.environ, provider="bedrock", region="us-east-1")


def found(held: AwsSession | None = None) -> tuple[str, str | None]:
    """The access key and the token that a request is signed with."""
    url, headers = "https://bedrock.example/", {"host": "bedrock.example"}
    added = (held or session()).sign("POST", url, headers=headers, body=b"{}", region="us-east-1")
    return added["authorization"].partition("Credential=")[2].partition("/")[0], added.get("x-amz-security-token")


def aws_files(*, config: str = "", credentials: str = "") -> None:
    folder = Path.home() / ".aws"
    folder.mkdir(exist_ok=True)
    (folder / "config").write_text(config)
    (folder / "credentials").write_text(credentials)


def program(tmp_path: Path, code: str) -> str:
    file = tmp_path / "give.py"
    file.write_text(code)
    return f"{sys.executable} {file}"


def giving(**document: str) -> str:
    """A program that gives credentials; `document` is added to them."""
    return f"print({json.dumps(json.dumps({'Version': 1, 'AccessKeyId': 'A', 'SecretAccessKey': 's', **document}))})"


# ------------------------------------------------------------------ environment and files


def test_the_environment_comes_first_and_half_a_pair_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    aws_files(credentials="[default]\naws_access_key_id = FILE\naws_secret_access_key = s\n")
    assert found() == ("FILE", None)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
    with pytest.raises(ProviderAuthFailed, match="AWS_SECRET_ACCESS_KEY"):
        found()
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "sec")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "tok")
    assert found() == ("AKID", "tok")


def test_the_profile_named_is_read_from_both_files_and_credentials_win(monkeypatch: pytest.MonkeyPatch) -> None:
    aws_files(
        config="[default]\nregion = eu-west-1\n[profile dev]\naws_access_key_id=OLD\naws_secret_access_key=o\n",
        credentials=(
            "[default]\naws_access_key_id = D\naws_secret_access_key = d%(x)s\n\n"
            "[dev]\naws_access_key_id=AKDEV\naws_secret_access_key=sec=ret\naws_session_token=tok\n"
        ),
    )
    assert found() == ("D", None)
    monkeypatch.setenv("AWS_PROFILE", "dev")
    assert found() == ("AKDEV", "tok")


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("[default]\nrole_arn = x\n", "source_profile or credential_source"),
        ("[default]\nrole_arn = x\nsource_profile = gone\n", '"gone" .* does not exist'),
        ("[default]\nsso_session = gone\nsso_account_id = 1\nsso_role_name = r\n", 'does not exist: "gone"'),
        ("aws_secret_access_key = topsecret\n", r"Unable to parse config file: .*/\.aws/config"),
    ],
)
def test_a_profile_that_lacks_something_is_an_error_that_names_it(config: str, words: str) -> None:
    aws_files(config=config)
    with pytest.raises(ProviderAuthFailed, match=f"bedrock: no AWS credentials could be obtained: .*{words}") as raised:
        found()
    assert "topsecret" not in raised.value.message


def test_a_profile_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nope")
    with pytest.raises(ProviderAuthFailed, match=r"profile \(nope\) could not be found"):
        found()


def test_nothing_found_says_where_credentials_may_be() -> None:
    with pytest.raises(ProviderAuthFailed, match=r"there are no AWS credentials\. Looked at: AWS_ACCESS_KEY_ID, .*EC2"):
        found()


def test_a_token_that_cannot_be_sent_is_refused_and_not_shown(tmp_path: Path) -> None:
    code = giving(SessionToken="top\nsecret")
    aws_files(config=f"[default]\ncredential_process = {program(tmp_path, code)}\n")
    with pytest.raises(ProviderAuthFailed, match="cannot be sent") as raised:
        found()
    assert "secret" not in raised.value.message


# ------------------------------------------------------------------ a program


def test_a_program_gives_credentials_and_is_asked_again_when_they_expire_soon(tmp_path: Path) -> None:
    count = tmp_path / "count"
    code = f"""
import json, pathlib
count = pathlib.Path({str(count)!r})
number = len(count.read_text()) if count.exists() else 0
count.write_text("x" * (number + 1))
given = dict(Version=1, AccessKeyId="A" + str(number), SecretAccessKey="s", SessionToken="t")
print(json.dumps(given | dict(Expiration={soon()!r} if number == 0 else {LATER!r})))
"""
    aws_files(config=f"[default]\ncredential_process = {program(tmp_path, code)}\n")
    held = session()
    assert [found(held), found(held), count.read_text()] == [("A1", "t"), ("A1", "t"), "xx"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("print('{}')", "Unsupported version"),
        ("print('{\"Version\": 1}')", "Missing required key"),
        ("print('nope')", "answered in an unknown form"),
        ("print('[1]')", "answered in an unknown form"),
        (giving(Expiration="tomorrow or so", SessionToken="t"), "tomorrow"),
        ("raise SystemExit(3)", "exit code 3"),
        (f"import sys; sys.exit('sign in\\x1b[2J first: {KEY}')", "sign in"),
    ],
)
def test_a_program_that_gives_nothing_is_an_error(tmp_path: Path, code: str, words: str) -> None:
    aws_files(config=f"[default]\ncredential_process = {program(tmp_path, code)}\n")
    with pytest.raises(ProviderAuthFailed, match=words) as raised:
        found()
    assert "\x1b" not in raised.value.message
    assert KEY not in raised.value.message


@pytest.mark.parametrize("command", ["/no/such/program", "'unended", '""'])
def test_a_program_that_cannot_be_started_is_an_error(command: str) -> None:
    aws_files(config=f"[default]\ncredential_process = {command}\n")
    with pytest.raises(ProviderAuthFailed, match="no AWS credentials could be obtained"):
        found()


def test_a_program_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = tmp_path / "pid"
    code = f"import os, pathlib\npathlib.Path({str(started)!r}).write_text(str(os.getpid()))\nos.read(os.pipe()[0], 1)"
    aws_files(config=f"[default]\ncredential_process = {program(tmp_path, code)}\n")
    monkeypatch.setattr(bedrock_session, "PROGRAM_TIMEOUT", 0.3)
    with pytest.raises(ProviderAuthFailed, match=r"did not end within 0\.3 s"):
        found()
    if started.exists() and started.read_text():
        with pytest.raises(ProcessLookupError):
            os.kill(int(started.read_text()), 0)


# ------------------------------------------------------------------ services


class Services(Loopback):
    """STS, a container's endpoint and an instance's metadata service."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.status = 200
        self.expiry = LATER
        self.role = "my-role"

    def _answer(self, asked: Asked) -> Answered:
        document = {"AccessKeyId": "AK", "SecretAccessKey": "s", "Token": "t", "Expiration": LATER}
        role = "/latest/meta-data/iam/security-credentials/"
        match asked.method, asked.path:
            case "POST", "/":
                action = parse_qs(asked.body.decode())["Action"][0]
                return Answered([self._assumed(action).encode()], status=self.status, kind="text/xml")
            case "GET", "/credentials?id=1":
                return Answered([json.dumps(document).encode()], status=self.status)
            case "PUT", "/latest/api/token":
                return Answered([b"session"], kind="text/plain")
            case "GET", path if path == role:
                return Answered([self.role.encode()], status=200 if self.role else 404, kind="text/plain")
            case "GET", path if path == role + self.role:
                assert asked.headers["x-aws-ec2-metadata-token"] == "session"
                return Answered([json.dumps({"Code": "Success", **document}).encode()])
            case _:
                return Answered(status=404)

    def _assumed(self, action: str) -> str:
        if self.status != 200:
            return (
                "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code>"
                "<Message>not authorized to perform: sts:AssumeRole</Message></Error></ErrorResponse>"
            )
        return (
            f'<{action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><{action}Result><Credentials>'
            f"<AccessKeyId>ASIA{len(self.asked)}</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"
            f"<SessionToken>tok</SessionToken><Expiration>{self.expiry}</Expiration></Credentials>"
            f"<AssumedRoleUser><AssumedRoleId>id</AssumedRoleId><Arn>{ROLE}/x</Arn></AssumedRoleUser>"
            f"</{action}Result></{action}Response>"
        )

    @property
    def forms(self) -> list[dict[str, list[str]]]:
        """The forms that were sent to STS."""
        return [parse_qs(asked.body.decode()) for asked in self.asked if asked.method == "POST"]


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    server = Services()
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", server.url)
    with serving(server):
        yield server


def test_a_role_is_assumed_with_the_keys_of_another_profile_and_renewed(services: Services) -> None:
    aws_files(
        config=f"[default]\nrole_arn = {ROLE}\nsource_profile = base\nrole_session_name = me\nexternal_id = 7654\n",
        credentials="[base]\naws_access_key_id = AKBASE\naws_secret_access_key = s\n",
    )
    held = session()
    assert [found(held), found(held)] == [("ASIA1", "tok"), ("ASIA1", "tok")]
    (form,) = services.forms
    assert (form["RoleArn"], form["RoleSessionName"], form["ExternalId"]) == ([ROLE], ["me"], ["7654"])
    assert "Credential=AKBASE/" in services.asked[0].headers["authorization"]
    services.expiry = soon()
    held = session()
    assert [found(held)[0], found(held)[0]] == ["ASIA2", "ASIA3"]


def test_a_role_is_assumed_with_the_credentials_of_a_program(services: Services, tmp_path: Path) -> None:
    command = program(tmp_path, giving())
    aws_files(
        config=f"[default]\nrole_arn = {ROLE}\nsource_profile = base\n[profile base]\ncredential_process = {command}\n"
    )
    assert found() == ("ASIA1", "tok")
    assert "Credential=A/" in services.asked[0].headers["authorization"]


def test_a_role_for_a_web_identity_is_assumed(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("signed by another")
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("AWS_ROLE_ARN", ROLE)
    assert found() == ("ASIA1", "tok")
    assert (services.forms[0]["WebIdentityToken"], services.forms[0]["RoleArn"]) == (["signed by another"], [ROLE])


def test_a_role_that_is_refused_is_an_error_in_the_words_of_aws(services: Services) -> None:
    services.status = 403
    config = f"[default]\nrole_arn = {ROLE}\nsource_profile = base\n"
    aws_files(config=config, credentials="[base]\naws_access_key_id = A\naws_secret_access_key = s\n")
    with pytest.raises(ProviderAuthFailed, match=r"AccessDenied.*not authorized to perform: sts:AssumeRole"):
        found()


def test_a_role_that_wants_a_code_is_refused_and_nobody_is_asked(services: Services) -> None:
    config = f"[default]\nrole_arn = {ROLE}\nsource_profile = base\nmfa_serial = arn:aws:iam::1:mfa/me\n"
    aws_files(config=config, credentials="[base]\naws_access_key_id = A\naws_secret_access_key = s\n")
    with pytest.raises(ProviderAuthFailed, match="MFA code, which cannot be typed here"):
        found()
    assert services.asked == []


@pytest.mark.parametrize("profile", ["default", "role"])
def test_programs_of_profiles_get_none_of_our_keys(
    profile: str, services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    code = f"import os, pathlib\npathlib.Path({str(seen)!r}).write_text(' '.join(os.environ))\n{giving()}"
    command = f"credential_process = {program(tmp_path, code)}"
    aws_files(config=f"[default]\n{command}\n[profile role]\nrole_arn = {ROLE}\nsource_profile = default\n")
    monkeypatch.setenv("AWS_PROFILE", profile)
    monkeypatch.setenv("MISTRAL_API_KEY", "m-0123456789")
    found()
    assert "MISTRAL_API_KEY" not in seen.read_text().split()
    assert "AWS_PROFILE" in seen.read_text().split()


def test_a_container_is_asked_with_its_token(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("from a file")
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{services.url}/credentials?id=1")
    assert found() == ("AK", "t")
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "plain")
    found()
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", str(tmp_path / "token"))
    found()
    assert [asked.headers.get("authorization") for asked in services.asked] == [None, "plain", "from a file"]


@pytest.mark.parametrize("url", ["http://169.254.169.254/x", "http://anywhere.example/x", "http://127.0.0.1.example/x"])
def test_a_containers_credentials_are_asked_for_only_over_tls_or_on_this_host(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", url)
    with pytest.raises(ProviderAuthFailed, match="Unsupported host"):
        found()


def test_an_instance_gives_the_credentials_of_its_role(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", services.url)
    assert found() == ("AK", "t")
    services.role = ""
    with pytest.raises(ProviderAuthFailed, match="there are no AWS credentials"):
        found()
    with refusing_address() as nobody:
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", nobody)
        with pytest.raises(ProviderAuthFailed, match="there are no AWS credentials"):
            found()
