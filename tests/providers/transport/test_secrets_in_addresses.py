"""People write logins and keys into addresses; no error shows them."""

from contextlib import aclosing

import pytest

from claw_acp.contracts.provider_setup import ConnectionOptions, ProviderSetup
from claw_acp.core.errors import ProviderError
from claw_acp.providers.openai.provider import OpenAIChatProvider
from tests.support.servers.loopback import Answered, Loopback, serving

HUSH = ("s3cretpw99", "QUERYSECRET123", "proxypass77")


async def refused(base_url: str) -> str:
    """What is said when the models of a service cannot be listed."""
    route = (
        ConnectionOptions(proxy="http://me:proxypass77@127.0.0.1:9")
        if base_url.startswith("https:")
        else ConnectionOptions()
    )
    setup = ProviderSetup(name="work", kind="openai", base_url=base_url, connection=route)
    async with aclosing(OpenAIChatProvider(setup)) as provider:
        with pytest.raises(ProviderError) as caught:
            await provider.models()
    return f"{caught.value} {caught.value!r}"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"nope"),
        (400, b'{"error": {"message": "no such key QUERYSECRET123 of s3cretpw99"}}'),
        (500, b'"s3cretpw99"'),
    ],
)
async def test_a_service_that_cannot_be_read_is_named_by_its_place(status: int, body: bytes) -> None:
    web = Loopback(lambda _: Answered([body], status))
    with serving(web):
        place = web.url.removeprefix("http://")
        said = await refused(f"http://user:s3cretpw99@{place}/v1?api-key=QUERYSECRET123")
    assert "work" in said
    assert not any(secret in said for secret in HUSH)


@pytest.mark.parametrize(
    "base_url",
    [
        "ftp://user:s3cretpw99@127.0.0.1/v1?api-key=QUERYSECRET123",
        "http://user:s3cretpw99@127.0.0.1:nine/v1?api-key=QUERYSECRET123",
        "http://user:s3cretpw99@127.0.0.1:9/v1?api-key=QUERYSECRET123",
        "https://127.0.0.1:9/v1",
    ],
)
async def test_a_service_that_is_not_there_is_named_by_its_place(base_url: str) -> None:
    said = await refused(base_url)
    assert "127.0.0.1" in said
    assert not any(secret in said for secret in HUSH)


def test_what_an_address_holds_is_a_secret_of_the_provider() -> None:
    address = "http://user:s3cretpw99@h/v1?api-key=QUERYSECRET123"
    setup = ProviderSetup(
        name="work", kind="openai", base_url=address, connection=ConnectionOptions(proxy="http://me:proxypass77@h")
    )
    assert set(HUSH) <= set(setup.secrets)
