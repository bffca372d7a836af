"""The results on the page for browsers without scripts that DuckDuckGo has."""

from collections.abc import Sequence
from http import HTTPStatus
from urllib.parse import parse_qs, urljoin, urlsplit

from claw_acp.core.errors import ToolError
from claw_acp.net.page import Page
from claw_acp.tools.web.markup import EndTag, StartTag, Text, tokens
from claw_acp.tools.web.search_result import SearchResult


def results_on_page(page: Page) -> Sequence[SearchResult]:
    """The results on the page, without advertisements.

    Raises:
        ToolError: It is no page of results.
    """
    text = page.body.decode("utf-8", errors="replace")
    if page.status == HTTPStatus.ACCEPTED or "anomaly-modal" in text or "anomaly.js" in text:
        raise ToolError("it wants to see a person first, since it was asked too often")
    if page.status != HTTPStatus.OK:
        raise ToolError(f"it answered with HTTP status {page.status}")
    reader = _Reader(page.url)
    for token in tokens(text):
        reader.read(token)
    reader.finish()
    if not reader.results and "no-results" not in text:
        raise ToolError("its page was not understood")
    return reader.results


class _Reader:
    """Collects results: a link of the class `result__a` begins one, `result__snippet` holds what it quotes."""

    def __init__(self, address: str) -> None:
        self.results: list[SearchResult] = []
        self._address = address
        self._is_ad = False
        self._url = ""
        self._title: list[str] = []
        self._quoted: list[str] = []
        self._reading: list[str] | None = None
        self._until = ""

    def read(self, token: StartTag | EndTag | Text) -> None:
        """Take the next token of the page."""
        match token:
            case StartTag(name=name, attributes=attributes):
                self._start(name, classes=attributes.get("class", "").split(), href=attributes.get("href", ""))
            case EndTag(name=name):
                if name == self._until:
                    self._reading, self._until = None, ""
            case Text(text=text):
                if self._reading is not None:
                    self._reading.append(text)

    def finish(self) -> None:
        """Keep the result that was being read."""
        found = SearchResult.of(self._url, title="".join(self._title), text="".join(self._quoted))
        if found is not None and not self._is_ad:
            self.results.append(found)
        self._url, self._title, self._quoted = "", [], []

    def _start(self, name: str, *, classes: Sequence[str], href: str) -> None:
        if "result" in classes:
            self.finish()
            self._is_ad = "result--ad" in classes
        elif "result__a" in classes:
            self._url = _target(href, page=self._address)
            self._reading, self._until = self._title, name
        elif "result__snippet" in classes:
            self._reading, self._until = self._quoted, name


def _target(href: str, *, page: str) -> str:
    """The page that a link leads to, which may go by DuckDuckGo's counter; empty for an advertisement."""
    try:
        url = urljoin(page, href)
        parts = urlsplit(url)
        is_counter = (parts.hostname or "").endswith("duckduckgo.com")
    except ValueError:  # a bracket that opens no IPv6 address
        return ""
    if not is_counter:
        return url
    return next(iter(parse_qs(parts.query).get("uddg", ())), "") if parts.path == "/l/" else ""
