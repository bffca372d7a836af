"""The page at `/` as a person sees it, in a real browser."""

import json
from pathlib import Path

import pytest

from tests.gateway.conftest import Serve
from tests.gateway.test_chat import WRITES, chatting
from tests.gateway.test_control import base_of
from tests.support.editors.chromium import Tab, no_chromium, open_tab
from tests.support.program.processes import run_program
from tests.support.servers.hub import environment_of

pytestmark = pytest.mark.skipif(bool(no_chromium()), reason=no_chromium())

MARKUP = "<img src=x onerror=document.title='broken'>"


async def enter(tab: Tab, token: str) -> None:
    await tab.until('document.readyState === "complete" && !document.getElementById("entry").hidden')
    await tab.run(f'document.getElementById("token").value = {json.dumps(token)}')
    await tab.run('document.getElementById("known").requestSubmit()')


async def test_a_person_sees_a_question_and_answers_it(serve: Serve, project: Path, tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    profile.mkdir()
    async with serve(script=WRITES) as server, open_tab(f"{base_of(server)}/", profile=profile) as tab:
        await enter(tab, "a-token-that-is-wrong")
        await tab.until('document.getElementById("trouble").textContent === "the token is wrong"')
        assert len(tab.complaints) == 1  # the 401
        assert await tab.run("sessionStorage.length") == 0
        await enter(tab, server.token)
        await tab.until('document.getElementById("board").innerText.includes("No session is open.")')
        async with chatting(server) as chat:
            await chat.send(type="message", message=MARKUP, cwd=str(project))
            await tab.until('document.querySelector("#permissions button")')
            assert MARKUP in await tab.run('document.getElementById("sessions").innerText')
            await tab.run('document.querySelector("#permissions button").click()')
            await chat.up_to("done")
        await tab.until('document.getElementById("permissions").innerText.includes("No question waits.")')
        assert (project / "new.txt").exists()
        assert await tab.run("document.title") == "claw-acp"
        await tab.tell("Page.reload")
        await tab.until('document.readyState === "complete" && !document.getElementById("board").hidden')
        assert len(tab.complaints) == 1


async def test_a_device_is_paired_by_a_code(serve: Serve, home: Path, tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    profile.mkdir()
    async with serve() as server, open_tab(f"{base_of(server)}/", profile=profile) as tab:
        paired = run_program("serve", "pair", "--scope", "control", cwd=home, env=environment_of(home))
        assert f"Enter it at {base_of(server)}/" in paired.stderr
        await tab.until('document.readyState === "complete" && !document.getElementById("entry").hidden')
        await tab.run('document.getElementById("device").value = "phone"')
        for code, seen in (("22222222", "code is wrong"), (paired.stdout.split()[0].lower(), "No session is open.")):
            await tab.run(f'document.getElementById("code").value = {json.dumps(code)}')
            await tab.run('document.getElementById("pair").requestSubmit()')
            await tab.until(f"document.body.innerText.includes({json.dumps(seen)})")
