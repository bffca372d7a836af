"""The services that search the web: the request of each, and what its answer says."""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final
from urllib.parse import urlencode

from claw_acp.contracts.web import SearchKind, SearchService
from claw_acp.core.errors import ToolError
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.printable import printable
from claw_acp.core.value import Value
from claw_acp.net.page import Page
from claw_acp.tools.web.duckduckgo import results_on_page
from claw_acp.tools.web.markup import plain_text
from claw_acp.tools.web.search_result import SearchResult

NAMES: Final[Mapping[SearchKind, str]] = {
    "searxng": "SearXNG", "brave": "Brave", "tavily": "Tavily", "duckduckgo": "DuckDuckGo",
}  # fmt: skip

_PATHS: Final[Mapping[SearchKind, str]] = {
    "searxng": "/search", "brave": "/res/v1/web/search", "tavily": "/search", "duckduckgo": "/html/",
}  # fmt: skip
_REASONS: Final[Mapping[int, str]] = {
    HTTPStatus.UNAUTHORIZED: "it does not accept the key",
    HTTPStatus.TOO_MANY_REQUESTS: "it was asked too often",
    432: "the key's plan is used up",
    433: "the limit of its pay-as-you-go plan is reached",
}
_LONGEST_DETAIL: Final = 200  # characters of what a service says about its failure


class SearchRequest(Value):
    """The request that a service is asked with; `shown` is its address with the query."""

    url: str
    shown: str
    method: str = "GET"
    headers: Mapping[str, str]
    body: bytes | None = None


def search_request(service: SearchService, query: str, *, count: int, key: str = "") -> SearchRequest:
    """The request for some results. Without a key it is what the person is asked about."""
    url = f"{service.address}{_PATHS[service.kind]}"
    accepted = {"Accept": "application/json"}
    match service.kind:
        case "searxng":
            shown = f"{url}?{urlencode({'q': query, 'format': 'json'})}"
            return SearchRequest(url=shown, shown=shown, headers=accepted)
        case "brave":
            shown = f"{url}?{urlencode({'q': query, 'count': count, 'text_decorations': 'false'})}"
            return SearchRequest(url=shown, shown=shown, headers={**accepted, "X-Subscription-Token": key})
        case "tavily":
            body = json.dumps({"query": query, "max_results": count}).encode()
            headers = {**accepted, "Authorization": f"Bearer {key}", "Content-Type": "application/json"}
            shown = f"{url}?{urlencode({'query': query})}"
            return SearchRequest(url=url, shown=shown, method="POST", headers=headers, body=body)
        case "duckduckgo":
            shown = f"{url}?{urlencode({'q': query})}"
            return SearchRequest(url=shown, shown=shown, headers={"Accept": "text/html"})


def search_results(kind: SearchKind, page: Page) -> Sequence[SearchResult]:
    """The results in an answer, in its order; none is an answer, too.

    Raises:
        ToolError: The service failed; the text says how, without its name.
    """
    if kind == "duckduckgo":
        return results_on_page(page)
    answer = _parsed(page)
    if page.status != HTTPStatus.OK:
        raise ToolError(_failure(kind, page.status, answer))
    if answer is None:
        raise ToolError("its answer is no JSON")
    web = answer.get("web") if kind == "brave" else answer
    listed = web.get("results") if isinstance(web, Mapping) else None
    results = [found for item in _list(listed) if (found := _result(item, kind)) is not None]
    silent = _list(answer.get("unresponsive_engines"))
    if silent and not results:
        raise ToolError(f"none of its engines answered: {_shortened(json.dumps(silent, ensure_ascii=False))}")
    return results


def _parsed(page: Page) -> JsonObject | None:
    try:
        answer: JsonValue = json.loads(page.body)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, Mapping) else None


def _failure(kind: SearchKind, status: int, answer: JsonObject | None) -> str:
    if kind == "searxng" and status == HTTPStatus.FORBIDDEN:
        return "its settings do not allow JSON (search.formats in its settings.yml), or it refuses programs"
    reason = _REASONS.get(status, f"it answered with HTTP status {status}")
    detail = _detail(answer or {})
    return f"{reason} ({_shortened(detail)})" if detail else reason


def _detail(answer: JsonObject) -> str:
    """The words of Brave (`error.detail`) or Tavily (`detail.error`) about a failure."""
    for outer, inner in (("error", "detail"), ("detail", "error")):
        held = answer.get(outer)
        said = held.get(inner) if isinstance(held, Mapping) else held
        if isinstance(said, str):
            return said
    return ""


def _shortened(text: str) -> str:
    return printable(" ".join(text.split()))[:_LONGEST_DETAIL]


def _list(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _result(item: JsonValue, kind: SearchKind) -> SearchResult | None:
    if not isinstance(item, Mapping):
        return None
    url, title, text = item.get("url"), item.get("title"), item.get("description" if kind == "brave" else "content")
    return SearchResult.of(
        url if isinstance(url, str) else "",
        title=plain_text(title) if isinstance(title, str) else "",
        text=plain_text(text) if isinstance(text, str) else "",
    )
