"""The real agent on Ollama: a conversation of several rounds with a server that OLLAMA_HOST names."""

from pathlib import Path

from tests.support.program.agent_run import PICTURE, AgentRun
from tests.support.servers.model_replies import Call
from tests.support.servers.ollama_server import running_ollama, shown


def test_parallel_calls_and_pictures_go_round_by_round(tmp_path: Path) -> None:
    with running_ollama(seer_8b=shown("completion", "tools", "vision", "thinking")) as server:
        bench = AgentRun(tmp_path, config='model = "ollama/seer:8b"\n[providers.ollama.options]\neffort = "high"\n')
        (bench.project / "a.txt").write_text("alpha\n")
        (bench.project / "b.txt").write_text("beta\n")
        (bench.project / "dot.png").write_bytes(PICTURE)
        first = [Call(name="read_file", arguments={"path": path}) for path in ("a.txt", "dot.png")]
        server.will_say("I look.", thinking=("Two files.",), calls=first)
        server.will_say(calls=(Call(name="read_file", arguments={"path": "b.txt"}),))
        server.will_say("Alpha, a dot, beta.")

        done = bench.run("look around", OLLAMA_HOST=server.url.removeprefix("http://").replace("127.0.0.1", "0.0.0.0"))

        assert (done.returncode, done.stdout) == (0, "I look.\nAlpha, a dot, beta.\n"), done.stderr
        *_, last = server.chats
        assert last["think"] is True
        said = last["messages"]
        assert [message["role"] for message in said] == [
            "system", "user", "assistant", "tool", "tool", "user", "assistant", "tool",
        ]  # fmt: skip
        ids = [call["id"] for call in said[2]["tool_calls"]]
        assert [said[3]["tool_call_id"], said[4]["tool_call_id"]] == ids
        assert len(set(ids)) == 2
        assert said[2]["thinking"] == "Two files."
        assert "alpha" in said[3]["content"]
        assert len(said[5]["images"]) == 1


def test_a_model_that_is_not_there_ends_the_turn_with_what_to_do(tmp_path: Path) -> None:
    with running_ollama() as server:
        server.will_fail(404, "model 'nope:1b' not found")
        config = f'model = "ollama/nope:1b"\n[providers.ollama]\nbase_url = "{server.url}"\n'
        done = AgentRun(tmp_path, config=config).run("hi")
        assert done.returncode != 0
        assert "ollama pull nope:1b" in done.stderr
