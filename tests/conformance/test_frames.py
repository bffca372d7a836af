"""Lines on the wire, whole and broken."""

import os

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, expect, raw_call, say, turn

LIST = b'{"jsonrpc":"2.0","id":"probe","method":"session/list","params":{}}'


@pytest.mark.rule("envelope.id-echo", "kit1.jsonrpc")
@pytest.mark.case(20)
async def test_every_id_comes_back_as_exactly_the_same_json_value(spawn: Spawn) -> None:
    async with spawn() as editor:
        await editor.initialize()
        for value in (0, -1, 2**53 + 1, "", "0", "snow ☃", "line\nbreak", None):
            call = await editor.start("session/list", {}, id=value)
            await call.result()
            assert call.answer is not None
            assert (type(call.answer["id"]), call.answer["id"]) == (type(value), value)


@pytest.mark.rule("envelope.one-answer")
@pytest.mark.case(20)
async def test_both_sides_may_use_the_same_ids_at_once(opened: Spawn) -> None:
    script = Script(turn(raw_call("shell", '{"command": "touch x"}')), turn(say("done")))
    async with opened(script=script) as editor:
        editor.will_answer(None)
        call = await editor.start_prompt("go")
        question = await editor.wait_for_question()
        same = await editor.start("session/list", {}, id=question.id)
        await same.result()
        assert not call.answered
        await editor.answer(question, "reject_once")
        assert (await call.outcome()).stop_reason == "end_turn"


@pytest.mark.case(21)
async def test_answers_nobody_waits_for_are_ignored(spawn: Spawn) -> None:
    async with spawn() as editor:
        await editor.initialize()
        for stranger in (99, "1", None, 1.5, -1):
            await editor.send({"jsonrpc": "2.0", "id": stranger, "result": {}})
            await editor.send({"jsonrpc": "2.0", "id": stranger, "error": {"code": 1, "message": "no"}})
        await editor.request("session/list", {})
        assert len(editor.received()) == 2


@pytest.mark.rule("envelope.invalid-request", "envelope.batch")
@pytest.mark.case(22)
@pytest.mark.parametrize("first", ["before initialize", "after initialize"])
async def test_what_is_no_single_object_is_refused_without_an_id(spawn: Spawn, first: str) -> None:
    lines = [b"[]", b"[" + LIST + b"]", b"[1,2]", b"7", b'"hi"', b"null", b"true", b"{}", b'{"jsonrpc":"2.0"}']
    async with spawn() as editor:
        if first == "after initialize":
            await editor.initialize()
        for line in lines:
            await editor.send_bytes(line + b"\n")
        await editor.wait_for(lambda: len(editor.stray) == len(lines), "an answer to each line")
        assert {(answer["id"], answer["error"]["code"]) for answer in editor.stray} == {(None, -32600)}
        if first == "before initialize":
            await editor.initialize()
        assert await editor.request("session/list", {}) == {"sessions": []}


@pytest.mark.rule("envelope.parse-error", "kit1.jsonrpc")
@pytest.mark.case(23, 24)
async def test_what_is_no_json_is_answered_and_reading_goes_on(spawn: Spawn) -> None:
    broken = [b'{"jsonrpc":"2.0","id":1,"meth', LIST + b"}", b"\x00\x01\x02", b"\xff\xfe\x80", b"{" * 100_000, b"NaN"]
    async with spawn() as editor:
        await editor.initialize()
        for line in broken:
            await editor.send_bytes(line + b"\n")
        await editor.wait_for(lambda: len(editor.stray) == len(broken), "an answer to each line")
        assert {(answer["id"], answer["error"]["code"]) for answer in editor.stray} == {(None, -32700)}
        assert await editor.request("session/list", {}) == {"sessions": []}


@pytest.mark.case(23, 24)
async def test_line_ends_marks_and_blank_lines_of_other_systems_are_understood(spawn: Spawn) -> None:
    async with spawn() as editor:
        await editor.initialize()
        shapes = [LIST + b"\r\n", b"\n\r\n   \n" + LIST + b"\n", b"\xef\xbb\xbf" + LIST + b"\n", b"\t " + LIST + b" \n"]
        shapes.append(LIST.replace(b"{}", b'{"_meta":{"x":"\xff"}}') + b"\n")
        for count, data in enumerate(shapes, start=1):
            await editor.send_bytes(data)
            await editor.wait_for(lambda n=count: len(editor.stray) == n, f"an answer to {data!r}")
        assert [answer["result"] for answer in editor.stray] == [{"sessions": []}] * len(shapes)


@pytest.mark.case(23)
async def test_a_last_line_without_its_end_still_counts(spawn: Spawn) -> None:
    async with spawn() as editor:
        await editor.initialize()
        await editor.send_bytes(LIST)
        await editor.leave()


@pytest.mark.case(23, 30)
async def test_frames_may_come_in_any_pieces(spawn: Spawn) -> None:
    async with spawn() as editor:
        await editor.initialize()
        data = b"".join(LIST.replace(b"probe", str(number).encode()) + b"\n" for number in range(20))
        cuts = sorted(os.urandom(1)[0] * len(data) // 256 for _ in range(30))
        for number in range(20):
            editor.expect_answer(str(number), "session/list")
        for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
            await editor.process.write(data[start:end])
        await editor.wait_for(lambda: len(editor.stray) == 20, "all answers")
        assert [answer["id"] for answer in editor.stray] == [str(number) for number in range(20)]


@pytest.mark.rule("kit1.transport")
@pytest.mark.case(25, 26)
async def test_strange_characters_travel_both_ways_unharmed(opened: Spawn) -> None:
    strange = "a\u2028b\u2029c\x85d\re\x0bf\u0000g \U0001f600 é"
    script = Script(turn(expect(strange), say(strange)))
    async with opened(script=script) as editor:
        assert (await editor.prompt(strange)).text == strange


@pytest.mark.case(25)
async def test_half_a_surrogate_pair_becomes_a_replacement_character(opened: Spawn) -> None:
    script = Script(turn(say("half \ud83d here")), turn(say("and on")), loop=True)
    async with opened(script=script) as editor:
        assert (await editor.prompt("\ud83d")).text == "half \ufffd here"  # sent as an escape, as JSON may
        _, replayed = await editor.load(editor.session)
        assert [update["sessionUpdate"] for update in replayed[:2]] == ["user_message_chunk", "agent_message_chunk"]


@pytest.mark.case(27)
async def test_numbers_that_json_has_not_never_leave(opened: Spawn) -> None:
    script = Script(turn(raw_call("read_file", '{"path": "a.txt", "limit": NaN, "offset": 1e999}')), turn(say("ok")))
    async with opened(script=script) as editor:
        assert (await editor.prompt("go")).text == "ok"


@pytest.mark.case(28)
async def test_a_megabyte_of_text_and_an_image_of_a_megabyte_are_taken(opened: Spawn) -> None:
    text = "word " * 200_000
    image = {"type": "image", "mimeType": "image/png", "data": "A" * (4 * 350_000)}
    script = Script(turn(say("seen")), loop=True)
    async with opened(script=script) as editor:
        assert (await editor.prompt(text)).text == "seen"
        assert (await editor.prompt([image, {"type": "text", "text": "what is it?"}])).text == "seen"


@pytest.mark.case(28)
@pytest.mark.spawned
async def test_a_frame_above_the_limit_is_refused_by_its_id_and_the_next_is_read(spawn: Spawn) -> None:
    async with spawn() as editor:
        await editor.initialize()
        head = b'{"jsonrpc":"2.0","id":"big","method":"session/list","params":{"cwd":"'
        editor.expect_answer("big", "session/list")
        await editor.process.write(head)
        for _ in range(65):
            await editor.process.write(b"x" * (1024 * 1024))
        await editor.process.write(b'"}}\n')
        await editor.wait_for(lambda: editor.stray, "the refusal")
        assert (editor.stray[0]["id"], editor.stray[0]["error"]["code"]) == ("big", -32600)
        assert await editor.request("session/list", {}) == {"sessions": []}
        assert editor.process.memory().peak < 220 * 1024 * 1024  # what came is dropped, not copied again and again
