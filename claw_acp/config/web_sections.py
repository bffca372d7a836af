"""The settings of the tools that reach the web."""

from claw_acp.config.fields import Address, Key, Name, Section, Texts


class SearchSection(Section):
    """`[search]`: the services that search the web, asked in this order until one answers.

    Attributes:
        searxng: The address of a SearXNG whose settings allow JSON; by default that in SEARXNG_URL.
        brave: The key of the Brave Search API; by default that in BRAVE_API_KEY.
        tavily: The key of Tavily; by default that in TAVILY_API_KEY.
        duckduckgo: Ask DuckDuckGo, which needs no key, when no other service answers.
    """

    searxng: Address | None = None
    brave: Key | None = None
    tavily: Key | None = None
    duckduckgo: bool = True


class RequestSecretSection(Section):
    """`[request_secrets.NAME]`: a secret that requests may carry in a header; models know its name only.

    Attributes:
        secret: The secret.
        hosts: The hosts it may be sent to: `api.example.org`, or `*.example.org` for all below it.
        header: The header that holds it.
        before: Text before it in the header.
    """

    secret: Key
    hosts: Texts
    header: Name = "Authorization"
    before: str = "Bearer "
