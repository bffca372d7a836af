"""Searching with the services that a person has, which servers on loopback stand for as they are published."""

import json
from collections.abc import Callable, Generator
from contextlib import ExitStack, suppress
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.contracts.tool import FetchesUrl
from claw_acp.contracts.web import SearchKind, SearchService, SearchServices
from claw_acp.core.errors import ToolError
from claw_acp.net.page import Page
from claw_acp.tools.web.search_services import search_results
from claw_acp.tools.web.web_search import WebSearch
from tests.support.servers.loopback import Answered, Asked, Loopback, serving
from tests.support.tool_bench import Bench, said

BRAVE = {
    "type": "search",
    "query": {"original": "anyio streams", "more_results_available": True},
    "web": {
        "type": "search",
        "results": [
            {
                "title": "Streams &amp; more",
                "url": "https://anyio.example.org/streams.html",
                "is_source_local": False,
                "description": "A <strong>stream</strong> is an\nabstract concept",
                "page_age": "2026-01-02T00:00:00",
                "language": "en",
                "family_friendly": True,
            }
        ],
        "family_friendly": True,
    },
}
TAVILY = {
    "query": "anyio streams",
    "follow_up_questions": None,
    "answer": None,
    "images": [],
    "results": [
        {
            "title": "Streams",
            "url": "https://anyio.example.org/streams.html",
            "content": "A stream is",
            "score": 0.94,
            "raw_content": None,
        }
    ],
    "response_time": 1.09,
    "request_id": "123e4567-e89b-12d3-a456-426614174111",
}
SEARXNG = {
    "query": "anyio streams",
    "number_of_results": 0,
    "results": [
        {
            "url": "https://anyio.example.org/streams.html",
            "title": "Streams",
            "content": "A stream is",
            "engine": "brave",
            "parsed_url": ["https", "anyio.example.org", "/streams.html", "", "", ""],
            "template": "default.html",
            "engines": ["brave"],
            "positions": [1],
            "score": 1.0,
            "category": "general",
        },
        {"url": "javascript:alert(1)", "title": "no page", "content": ""},
    ],
    "answers": [],
    "corrections": [],
    "infoboxes": [],
    "suggestions": [],
    "unresponsive_engines": [["google", "timeout"]],
}
DUCKDUCKGO = """\
<!DOCTYPE html><html lang="en"><body><div id="links" class="results">
<div class="result results_links results_links_deep result--ad ">
  <div class="links_main links_deep result__body"><h2 class="result__title">
  <a rel="nofollow" class="result__a" href="https://duckduckgo.com/y.js?ad_domain=shop.example&amp;ad_provider=x">Buy
  streams</a></h2><a class="result__snippet" href="https://duckduckgo.com/y.js?ad_domain=shop.example">Cheap</a></div>
</div>
<div class="result results_links results_links_deep web-result ">
  <div class="links_main links_deep result__body"><h2 class="result__title">
  <a rel="nofollow" class="result__a"
   href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fanyio.example.org%2Fstreams.html%3Fa%3D1%26b&amp;rut=0f1e">Streams</a>
  </h2><div class="result__extras"><a class="result__url" href="x"> anyio.example.org/streams.html </a></div>
  <a class="result__snippet" href="x">A <b>stream</b> is an abstract concept</a></div>
</div>
<div class="result results_links results_links_deep web-result ">
  <h2 class="result__title"><a rel="nofollow" class="result__a" href="https://direct.example.org/">Direct</a></h2>
</div>
</div></body></html>"""
NO_RESULTS = '<html><body><div class="no-results">No more results found for "qzx"</div></body></html>'
ANOMALY = '<html><body><form id="challenge-form"><div class="anomaly-modal__title">Unfortunately, bots</div></form>'

Serve = Callable[..., Loopback]


@pytest.fixture
def serve() -> Generator[Serve]:
    """Start servers that answer each request alike."""
    with ExitStack() as running:

        def started(answer: object, *, status: int = 200) -> Loopback:
            is_page = isinstance(answer, str)
            body = answer if isinstance(answer, str) else json.dumps(answer)
            kind = "text/html; charset=UTF-8" if is_page else "application/json"

            def reply(_asked: Asked) -> Answered:
                return Answered(pieces=(body.encode(),), status=status, kind=kind)

            server = Loopback(reply)
            running.enter_context(serving(server))
            return server

        yield started


def ask(bench: Bench, **servers: Loopback) -> None:
    """Have the bench search with these services, in order."""
    kinds: dict[str, SearchKind] = {
        "searxng": "searxng", "brave": "brave", "tavily": "tavily", "duckduckgo": "duckduckgo",
    }  # fmt: skip
    bench.lent[SearchServices] = SearchServices(
        services=[
            SearchService(kind=kinds[name], address=server.url, key=lambda name=name: f"key-of-{name}", own=True)
            for name, server in servers.items()
        ]
    )


async def test_brave_is_asked_as_it_wants_to_be(bench: Bench, serve: Serve) -> None:
    server = serve(BRAVE)
    ask(bench, brave=server)
    result = await bench.call(WebSearch(), query="anyio streams", count=3)
    (asked,) = server.asked
    assert (asked.method, urlsplit(asked.path).path) == ("GET", "/res/v1/web/search")
    assert parse_qs(urlsplit(asked.path).query) == {
        "q": ["anyio streams"],
        "count": ["3"],
        "text_decorations": ["false"],
    }
    assert (asked.headers["x-subscription-token"], asked.headers["accept"]) == ("key-of-brave", "application/json")
    assert said(result).splitlines()[1:-1] == [
        "1. Streams & more",
        "https://anyio.example.org/streams.html",
        "A stream is an abstract concept",
    ]
    assert "not instructions" in said(result).splitlines()[0]
    assert result.source == "pages that Brave found"


async def test_tavily_is_asked_as_it_wants_to_be(bench: Bench, serve: Serve) -> None:
    server = serve(TAVILY)
    ask(bench, tavily=server)
    text = await bench.text(WebSearch(), query="anyio streams", count=3)
    (asked,) = server.asked
    assert (asked.method, asked.path, json.loads(asked.body)) == (
        "POST",
        "/search",
        {"query": "anyio streams", "max_results": 3},
    )
    assert (asked.headers["authorization"], asked.headers["content-type"]) == (
        "Bearer key-of-tavily",
        "application/json",
    )
    assert "1. Streams\nhttps://anyio.example.org/streams.html\nA stream is" in text


async def test_searxng_is_asked_as_it_wants_to_be(bench: Bench, serve: Serve) -> None:
    server = serve(SEARXNG)
    ask(bench, searxng=server)
    result = await bench.call(WebSearch(), query="anyio streams")
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("GET", "/search?q=anyio+streams&format=json")
    assert result.raw == {
        "service": "searxng",
        "results": [{"title": "Streams", "url": "https://anyio.example.org/streams.html"}],
    }


async def test_duckduckgo_is_read_without_its_advertisements(bench: Bench, serve: Serve) -> None:
    server = serve(DUCKDUCKGO)
    ask(bench, duckduckgo=server)
    result = await bench.call(WebSearch(), query="anyio streams")
    assert server.asked[0].path == "/html/?q=anyio+streams"
    assert said(result).splitlines()[1:-1] == [
        "1. Streams",
        "https://anyio.example.org/streams.html?a=1&b",
        "A stream is an abstract concept",
        "",
        "2. Direct",
        "https://direct.example.org/",
        "",
    ]


@pytest.mark.parametrize(
    ("service", "answer", "status", "reason"),
    [
        (
            "brave",
            {
                "type": "ErrorResponse",
                "error": {"id": "1", "status": 422, "code": "SUBSCRIPTION_TOKEN_INVALID", "detail": "The token is bad"},
                "time": 1,
            },
            422,
            "HTTP status 422 (The token is bad)",
        ),
        ("brave", {"error": {"code": "RATE_LIMITED", "detail": "Too fast"}}, 429, "asked too often (Too fast)"),
        ("tavily", {"detail": {"error": "Unauthorized: missing or invalid API key."}}, 401, "does not accept the key"),
        ("tavily", {"detail": {"error": "This request exceeds your plan"}}, 432, "plan is used up (This request"),
        ("searxng", "<!doctype html><title>403 Forbidden</title>", 403, "settings do not allow JSON"),
        ("searxng", {"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}, 200, "google"),
        ("searxng", "<html>", 200, "no JSON"),
        ("searxng", "[" * 200_000, 200, "no JSON"),
        ("duckduckgo", ANOMALY, 202, "wants to see a person"),
        ("duckduckgo", ANOMALY, 200, "wants to see a person"),
        ("duckduckgo", "<html>something new", 200, "not understood"),
        ("duckduckgo", "gone", 503, "HTTP status 503"),
    ],
)
async def test_a_service_that_fails_says_so_and_the_next_one_is_asked(
    bench: Bench, serve: Serve, service: str, answer: object, status: int, reason: str
) -> None:
    failing = serve(answer, status=status)
    ask(bench, **{service: failing})
    with pytest.raises(ToolError, match="The web was not searched") as failed:
        await bench.call(WebSearch(), query="x")
    assert reason in failed.value.message
    other = "tavily" if service != "tavily" else "brave"
    ask(bench, **{service: failing, other: serve(TAVILY if other == "tavily" else BRAVE)})
    text = await bench.text(WebSearch(), query="x")
    assert reason in text.splitlines()[0]
    assert "https://anyio.example.org/streams.html" in text


async def test_nothing_found_is_an_answer(bench: Bench, serve: Serve) -> None:
    ask(bench, duckduckgo=serve(NO_RESULTS), tavily=(unasked := serve(TAVILY)))
    assert await bench.text(WebSearch(), query="qzx") == "DuckDuckGo found nothing; try other words."
    assert unasked.asked == []


def test_a_search_is_shown_and_judged_by_each_address_that_may_be_asked(bench: Bench, serve: Serve) -> None:
    first, second = serve(BRAVE), serve(TAVILY)
    ask(bench, brave=first, tavily=second)
    call = bench.prepare(WebSearch(), query="a b")
    assert (call.view.title, call.view.kind) == ("Search the web: a b", "search")
    brave, tavily = call.accesses
    assert isinstance(brave, FetchesUrl)
    assert brave.url.startswith(f"{first.url}/res/v1/web/search?q=a+b&")
    assert tavily == FetchesUrl(url=f"{second.url}/search?query=a+b", carries=True, configured=True)


async def test_without_a_service_the_model_is_told(bench: Bench) -> None:
    with pytest.raises(ToolError, match="No service may be asked"):
        await bench.call(WebSearch(), query="x")


async def test_a_service_on_a_private_network_is_asked_only_where_its_address_is_the_persons(
    bench: Bench, serve: Serve
) -> None:
    server = serve(TAVILY)
    bench.lent[SearchServices] = SearchServices(services=[SearchService(kind="tavily", address=server.url)])
    with pytest.raises(ToolError, match="not on the public internet"):
        await bench.call(WebSearch(), query="x")
    assert server.asked == []


@given(
    text=st.lists(
        st.sampled_from(
            [
                "<a ",
                "class='result__a' ",
                "href='",
                "//[",
                "duckduckgo.com/l/?uddg=",
                "'>",
                "x",
                "<div class='result result--ad'>",
                "</a>",
                "no-results",
                "&#",
                ";",
                "<b>",
                '"',
            ]
        )
    ).map("".join)
)
def test_no_page_breaks_the_reader(text: str) -> None:
    page = Page(
        url="https://html.duckduckgo.com/html/", status=200, content_type="", body=text.encode(), truncated=False
    )
    with suppress(ToolError):
        assert all(found.url.startswith("http") for found in search_results("duckduckgo", page))


_ANY = st.recursive(
    st.none() | st.integers() | st.text(max_size=5) | st.just("http://["),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["web", "results", "url", "title", "content", "error", "detail"]), inner)
    ),
)


@given(answer=_ANY, kind=st.sampled_from(["brave", "tavily", "searxng"]), status=st.sampled_from([200, 429, 500]))
def test_no_answer_breaks_the_reader(answer: object, kind: SearchKind, status: int) -> None:
    body = json.dumps(answer).encode()
    page = Page(url="https://x.example/", status=status, content_type="", body=body, truncated=False)
    with suppress(ToolError):
        search_results(kind, page)
