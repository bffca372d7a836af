"""The region of the environment and of AWS's shared files, which a bearer key needs as well."""

from pathlib import Path

import pytest

from claw_acp.core.errors import ProviderAuthFailed
from claw_acp.providers.bedrock.region import configured_region


def region(**environ: str) -> str:
    return configured_region(environ, provider="bedrock")


def aws_files(*, config: str, credentials: str = "") -> None:
    folder = Path.home() / ".aws"
    folder.mkdir(exist_ok=True)
    (folder / "config").write_text(config)
    (folder / "credentials").write_text(credentials)


def test_the_region_of_the_environment_comes_before_the_profiles() -> None:
    assert region() == ""
    aws_files(config="[profile default]\nregion = eu-west-1\n[profile  dev]\nregion=ap-south-1\ns3 =\n  a = b\n[dev]\n")
    assert (region(), region(AWS_PROFILE="dev"), region(AWS_PROFILE="no")) == ("eu-west-1", "ap-south-1", "")
    assert region(AWS_DEFAULT_REGION="b") == "b"
    assert region(AWS_DEFAULT_REGION="b", AWS_REGION="a") == "a"
    aws_files(config="[default]\nregion = eu-west-1\n", credentials="[default]\nregion = eu-west-2\n")
    assert region() == "eu-west-2"


def test_files_elsewhere_are_read_where_the_environment_says(tmp_path: Path) -> None:
    (tmp_path / "d").write_text("[profile x]\nregion = eu-west-3\n")
    assert region(AWS_PROFILE="x", AWS_CONFIG_FILE=str(tmp_path / "d")) == "eu-west-3"


def test_a_file_that_is_no_such_file_is_named_and_never_quoted() -> None:
    aws_files(config="", credentials="aws_secret_access_key = topsecret\n")
    with pytest.raises(ProviderAuthFailed, match=r"\.aws/credentials cannot be read") as raised:
        region()
    assert "topsecret" not in raised.value.message
