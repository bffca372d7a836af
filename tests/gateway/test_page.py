"""The page at `/`."""

import base64
import hashlib
import re

import httpx

from tests.gateway.test_control import base_of
from tests.support.servers.remote_server import RemoteServer


async def test_the_page_needs_no_token_and_holds_nothing(shared: RemoteServer) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}  # a link in a chat leads here
        answer = await client.get(f"{base_of(shared)}/", headers=link)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert shared.token not in answer.text
        foreign = await client.get(f"{base_of(shared)}/", headers={"host": "evil.example"})
        assert foreign.status_code == 403


async def test_only_its_own_script_and_style_run_and_nothing_is_loaded_from_elsewhere(shared: RemoteServer) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"{base_of(shared)}/")
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
    assert policy["connect-src"] == "'self'"
    for element in ("script", "style"):
        (content,) = re.findall(rf"<{element}>(.*?)</{element}>", answer.text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert policy[f"{element}-src"] == f"'sha256-{digest}'"
    assert not re.search(r"""https?://|\bsrc=|\bhref=|\bon[a-z]+=|\bstyle=|innerHTML|eval\(""", answer.text)
