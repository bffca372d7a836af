"""The real agent on Bedrock: a conversation of several rounds, signed with the keys of a profile."""

import json
from hashlib import sha1
from pathlib import Path

from tests.support.program.agent_run import PICTURE, AgentRun
from tests.support.servers.aws_server import running_aws
from tests.support.servers.loopback import Answered, Loopback, serving
from tests.support.servers.model_replies import Call

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


def test_parallel_calls_pictures_and_thinking_go_round_by_round(tmp_path: Path) -> None:
    aws = Path.home() / ".aws"
    aws.mkdir()
    (aws / "credentials").write_text(f"[work]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = {SECRET}\n")
    (aws / "config").write_text("[profile work]\nregion = eu-central-1\n")
    with running_aws() as server:
        server.region = "eu-central-1"
        config = f'model = "bedrock/{MODEL}"\n[providers.bedrock]\nkind = "bedrock"\nbase_url = "{server.url}"\n'
        bench = AgentRun(tmp_path, config=config + '[providers.bedrock.options]\neffort = "low"\n')
        (bench.project / "a.txt").write_text("alpha\n")
        (bench.project / "b.txt").write_text("beta\n")
        (bench.project / "dot.png").write_bytes(PICTURE)
        first = [Call(name="read_file", arguments={"path": path}) for path in ("a.txt", "dot.png")]
        server.will_say("I look.", thinking=("Two ", "files."), signature="sig1", calls=first)
        server.will_say(calls=(Call(name="read_file", arguments={"path": "b.txt"}, id="tooluse_9"),))
        server.will_say("Alpha, a dot, beta.")

        done = bench.run("look around", AWS_PROFILE="work", AWS_EC2_METADATA_DISABLED="true")

        assert (done.returncode, done.stdout) == (0, "I look.\nAlpha, a dot, beta.\n"), done.stderr
        *_, last = server.bodies
        roles = [message["role"] for message in last["messages"]]
        assert roles == ["user", "assistant", "user", "assistant", "user"]
        thought, said, *calls = last["messages"][1]["content"]
        assert thought == {"reasoningContent": {"reasoningText": {"text": "Two files.", "signature": "sig1"}}}
        assert said == {"text": "I look."}
        results = [block["toolResult"] for block in last["messages"][2]["content"]]
        ids = [call["toolUse"]["toolUseId"] for call in calls]
        assert ids == [result["toolUseId"] for result in results]
        assert len(set(ids)) == 2
        assert "alpha" in results[0]["content"][0]["text"]
        assert any(block.get("image", {}).get("format") == "png" for block in results[1]["content"])
        assert "cachePoint" in last["messages"][4]["content"][-1]
        assert all(asked.headers["authorization"].startswith("AWS4-HMAC-SHA256") for asked in server.asked)


def test_who_is_signed_in_by_sso_needs_no_keys_and_who_is_not_is_told_how(tmp_path: Path) -> None:
    """https://docs.aws.amazon.com/singlesignon/latest/PortalAPIReference/API_GetRoleCredentials.html"""
    given = {
        "accessKeyId": "AKIDEXAMPLE",
        "secretAccessKey": SECRET,
        "sessionToken": "t",
        "expiration": 4_000_000_000_000,
    }
    sso = Loopback(lambda _: Answered([json.dumps({"roleCredentials": given}).encode()]))
    cache = Path.home() / ".aws" / "sso" / "cache"
    cache.mkdir(parents=True)
    (Path.home() / ".aws" / "config").write_text(
        "[profile work]\nsso_session = us\nsso_account_id = 123456789012\nsso_role_name = dev\n"
        "[sso-session us]\nsso_start_url = https://us.awsapps.com/start\nsso_region = us-east-1\n"
    )
    with running_aws() as server, serving(sso):
        bench = AgentRun(tmp_path, config=f'model = "bedrock/{MODEL}"\n')
        place = {"AWS_PROFILE": "work", "AWS_ENDPOINT_URL_SSO": sso.url, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": server.url}

        refused = bench.run("hi", **place)
        assert refused.returncode != 0
        assert "aws sso login" in refused.stderr

        token = {"accessToken": "signed-in", "expiresAt": "2090-01-01T00:00:00Z", "region": "us-east-1"}
        (cache / f"{sha1(b'us').hexdigest()}.json").write_text(json.dumps(token))
        server.will_say("welcome")
        assert bench.run("hi", **place).stdout == "welcome\n"
        (asked,) = sso.asked
        assert (asked.headers["x-amz-sso_bearer_token"], "role_name=dev" in asked.path) == ("signed-in", True)


def test_a_wrong_secret_ends_the_turn_with_what_to_do(tmp_path: Path) -> None:
    with running_aws() as server:
        config = f'model = "bedrock/{MODEL}"\n[providers.bedrock]\nbase_url = "{server.url}"\n'
        done = AgentRun(tmp_path, config=config).run(
            "hi", AWS_ACCESS_KEY_ID="AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY="wrong-wrong-wrong"
        )
        assert done.returncode != 0
        assert "refused the AWS credentials" in done.stderr
        assert "wrong-wrong-wrong" not in done.stderr + done.stdout


def test_a_key_of_nobody_in_particular_does_not_take_the_place_of_aws_credentials(tmp_path: Path) -> None:
    with running_aws() as server:
        server.will_say("signed")
        config = f'model = "bedrock/{MODEL}"\n[providers.bedrock]\nbase_url = "{server.url}"\n'
        done = AgentRun(tmp_path, config=config).run(
            "hi", AWS_ACCESS_KEY_ID="AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY=SECRET, API_KEY="some-other-key"
        )
        assert done.stdout == "signed\n", done.stderr
