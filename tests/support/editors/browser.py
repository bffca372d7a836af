"""A browser replacement for tests: it reads a page, fills in its form and submits it."""

import http.client
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlencode, urlsplit


@dataclass
class WebPage(HTMLParser):
    """A response: its status, headers, text, and the fields of its form."""

    url: str
    status: int
    headers: Mapping[str, str]
    html: str
    fields: dict[str, str] = field(default_factory=dict[str, str])
    choices: list[str] = field(default_factory=list[str])
    buttons: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """See `HTMLParser`."""
        values = {name: value or "" for name, value in attrs}
        if tag == "input":
            self.fields[values["name"]] = values.get("value", "")
        elif tag == "option":
            self.choices.append(values["value"])
            if "selected" in values:
                self.fields["provider"] = values["value"]
        elif tag == "button" and "name" in values:
            self.buttons.append(values["name"])


def visit(url: str, *, method: str = "GET", body: str = "", **headers: str) -> WebPage:
    """Request a page; `headers` replace those of a browser (`_` for `-`), an empty one is left out."""
    parts = urlsplit(url)
    sent = {"Host": parts.netloc, **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    try:
        connection.putrequest(method, parts.path, skip_host=True)
        for name, value in sent.items():
            if value:
                connection.putheader(name, value)
        if body:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body.encode() if body else None)
        answer = connection.getresponse()
        text = answer.read().decode()
        return WebPage(url=url, status=answer.status, headers=dict(answer.getheaders()), html=text)
    finally:
        connection.close()


def send_form(page: WebPage, **values: str) -> WebPage:
    """Fill in the form and submit it, as a browser does."""
    parts = urlsplit(page.url)
    return visit(
        page.url,
        method="POST",
        body=urlencode({**page.fields, **values}),
        Origin=f"{parts.scheme}://{parts.netloc}",
        Content_Type="application/x-www-form-urlencoded",
    )
