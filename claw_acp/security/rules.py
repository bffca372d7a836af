r"""Permission rules: one line of text each, `tool` or `tool(pattern)`.

    shell(git status)       a permission: exactly this command, in the project's directory; a refusal: every command
    that begins with these words
    shell(git status *)     the same with anything behind it, in any directory of the project; `*` may also end a word
    outside(docker ps)      a command as `shell` has it, outside of the sandbox
    shell(cd web && make)   the command in the directory `web`; `cd *` is any directory of the project
    write(src/**)           a path, as in .gitignore, from the root of the project; `~/` and `//` reach outside it
    fetch(*.python.org)     a host, or every host below one; `fetch(private wiki.lan)` may be on a private network
    request(POST api.example.org)   a request to a host by any method, or by one, with a body and secrets
    network(*.example.org)  a host that commands in the sandbox may connect to; `network(github.com:22)` a port of it
    think                   every call of a tool

`read`, `write` (or `edit`), `shell`, `outside`, `fetch` and `request` mean the effect of a call, by any tool; any other
name is that of one tool. A permission to fetch is one to ask for what is there; a refusal is about every request.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from claw_acp.contracts.tool import (
    Access,
    ActsLater,
    ChangesMemory,
    EvaluatesCode,
    FetchesUrl,
    Reach,
    ReadsPath,
    RunsCommand,
    UsesServer,
    WritesPath,
)
from claw_acp.core.errors import ConfigError
from claw_acp.core.value import Value
from claw_acp.registry.reference import Ref
from claw_acp.security.host_pattern import HostPattern, compared, parse_destination, parse_host, parse_request
from claw_acp.security.shell_pattern import ShellPattern

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

RuleVerdict = Literal["allow", "ask", "deny"]
Match = Literal["yes", "maybe", "no"]

READING = frozenset({"read", "read_file", "list_files", "glob", "grep", "image_info", "query_data"})
WRITING = frozenset({"write", "edit", "write_file", "edit_file", "apply_patch", "delete_file", "move_file", "archive"})
REACH_OF: Final[Mapping[str, Reach]] = {"shell": "project", "outside": "machine"}
"""The reach that rules about commands permit, by their tool; `shell` permits what a command cannot do without."""
_BY_ACCESS = frozenset({"read", "write", "edit", "fetch", "request", *REACH_OF})
LONGEST_RULE = 4_096  # characters

_RULE = re.compile(r"\s*([A-Za-z_][\w.:/-]*)\s*(?:\((.*)\))?\s*", re.DOTALL)
_EXAMPLES = "for example `shell(git status*)`, `write(src/**)` or `fetch(docs.python.org)`"
_GIT_IGNORE: Final["Ref[type[GitIgnoreSpec]]"] = Ref("pathspec:GitIgnoreSpec")  # 12 ms, and few rules are about paths
_GLOB_SPECIALS = re.compile(r"([\\*?\[\]!#])")


class PathPattern(Value):
    """A .gitignore pattern that starts at the project's root, the home directory or the root directory."""

    base: Literal["root", "home", "disk"]
    glob: str


Pattern: TypeAlias = ShellPattern | PathPattern | HostPattern


class Rule(Value):
    """A rule about what may (not) be done without asking.

    Attributes:
        text: The text as written.
        tool: The name before the bracket.
        pattern: Its limit; None covers every call.
        verdict: Its decision.
        source: Its origin, for people (`config.toml`, `your answers for this project`).
    """

    text: str
    tool: str
    pattern: Pattern | None
    verdict: RuleVerdict
    source: str = ""

    def concerns(self, tool: str, access: Access | None = None) -> bool:
        """Return whether the rule is for this kind of call, whatever its pattern."""
        if access is None or self.tool not in _BY_ACCESS:
            return self.tool == tool and (access is None or self._fits(access))
        match access:
            case ReadsPath():
                return self.tool == "read"
            case WritesPath():
                return self.tool in {"write", "edit"}
            case RunsCommand():
                return self.tool in REACH_OF
            case FetchesUrl():
                return self.tool in {"fetch", "request"}
            case UsesServer() | ActsLater() | ChangesMemory() | EvaluatesCode():
                return False

    def _fits(self, access: Access) -> bool:
        match self.pattern:
            case None:
                return True
            case ShellPattern():
                return isinstance(access, RunsCommand)
            case PathPattern():
                return isinstance(access, ReadsPath | WritesPath)
            case HostPattern():
                return isinstance(access, FetchesUrl)

    def matches_path(self, path: Path, *, roots: Sequence[Path], home: Path) -> bool:
        """True if the pattern covers a resolved path. Deny and ask rules without a fixed start also apply outside."""
        if self.pattern is None:
            return True
        return isinstance(self.pattern, PathPattern) and any(
            _ignored(self.pattern.glob, relative, folded=self.verdict != "allow")
            for relative in _relative_forms(self, path, roots=roots, home=home)
        )

    def matches_host(self, host: str) -> bool:
        """Return whether the pattern covers a host name (lower case, without port)."""
        if self.pattern is None:
            return True
        return isinstance(self.pattern, HostPattern) and self.pattern.covers(host)

    def matches_request(self, access: FetchesUrl, *, host: str) -> bool:
        """Return whether the rule covers a request to a host; a permission to fetch covers no more than that."""
        if self.tool == "fetch" and self.verdict == "allow" and not access.only_fetches:
            return False
        method = self.pattern.method if isinstance(self.pattern, HostPattern) else ""
        return self.matches_host(host) and method in {"", access.method}

    def matches_words(self, words: Sequence[str | None]) -> Match:
        """Return whether a command begins with the pattern's words; "maybe" with a word known only at run time."""
        if self.pattern is None:
            return "yes"
        return self.pattern.match(words) if isinstance(self.pattern, ShellPattern) else "no"

    def covers_words(self, words: Sequence[str | None]) -> bool:
        """True if a permission covers the whole command: its words are the pattern's, or the pattern is open."""
        return self.pattern is None or (isinstance(self.pattern, ShellPattern) and self.pattern.covers(words))


def parse_rule(text: str, *, verdict: RuleVerdict, source: str = "") -> Rule:
    """Parse one rule.

    Raises:
        ConfigError: It is not a rule; the text says why and shows a valid one.
    """
    found = _RULE.fullmatch(text)
    if found is None or len(text) > LONGEST_RULE or "\0" in text:
        raise ConfigError(f"`{text[:80]}` is not a permission rule: write `tool` or `tool(pattern)`, {_EXAMPLES}")
    tool, body = found[1], found[2]
    try:
        pattern = None if body is None else _parse_pattern(tool, body)
    except ValueError as error:
        raise ConfigError(f"the permission rule `{text}` cannot be used: {error}; {_EXAMPLES}") from error
    return Rule(text=text.strip(), tool=tool, pattern=pattern, verdict=verdict, source=source)


def _parse_pattern(tool: str, body: str) -> Pattern:
    if not body.strip():
        raise ValueError(f"the brackets are empty; write `{tool}` alone to cover every call")
    if tool in REACH_OF:
        return ShellPattern.parse(body.strip())
    if tool == "fetch":
        return parse_host(body.strip())
    if tool == "request":
        return parse_request(body.strip())
    if tool == "network":
        return parse_destination(body.strip())
    if tool in READING or tool in WRITING:
        return _parse_path(body)
    known = ", ".join(sorted(READING | WRITING | {*REACH_OF, "fetch", "request", "network"}))
    raise ValueError(f"only these take a pattern: {known}")


def _parse_path(body: str) -> PathPattern:
    if body.startswith("!"):
        raise ValueError("a pattern that begins with ! would exclude; write a rule with the opposite verdict instead")
    if "\n" in body or body.startswith("#"):
        raise ValueError("a path pattern is one line and does not begin with #")
    base: Literal["root", "home", "disk"] = "root"
    glob = body
    if body == "~" or body.startswith("~/"):
        base, glob = "home", "/" + body[2:]
    elif body.startswith("//"):
        base, glob = "disk", body[1:]
    if glob.strip("/. ") == "" and base == "root":
        raise ValueError(f"`{body}` names nothing; `**` is everything in the project")
    try:
        _GIT_IGNORE.load().from_lines([glob])
    except ValueError as error:
        raise ValueError(f"`{body}` is not a valid path pattern") from error
    return PathPattern(base=base, glob="/**" if glob == "/" else glob)


def _relative_forms(rule: Rule, path: Path, *, roots: Sequence[Path], home: Path) -> list[str]:
    assert isinstance(rule.pattern, PathPattern)
    bases = {"root": list(roots), "home": [home], "disk": [Path(path.anchor)]}[rule.pattern.base]
    forms = [path.relative_to(base).as_posix() for base in bases if path.is_relative_to(base)]
    floating = rule.pattern.base == "root" and (
        rule.pattern.glob.startswith("**/") or "/" not in rule.pattern.glob.rstrip("/")
    )
    if not forms and floating and rule.verdict != "allow":
        forms = [path.relative_to(path.anchor).as_posix()]
    return forms


def _ignored(glob: str, relative: str, *, folded: bool) -> bool:
    if relative == ".":
        return glob.strip("/") in {"*", "**"}
    # Some disks ignore case: a refusal must hold there as well, a permission need not.
    if folded:
        return _matches(glob.casefold(), relative.casefold()) or _matches(glob, relative)
    return _matches(glob, relative)


@lru_cache(maxsize=1024)
def _compiled(glob: str) -> "GitIgnoreSpec":
    return _GIT_IGNORE.load().from_lines([glob])


def _matches(glob: str, relative: str) -> bool:
    spec = _compiled(glob)
    return spec.match_file(relative) or (glob.endswith("/") and spec.match_file(relative + "/"))


def host_of(url: str) -> str | None:
    """The host of an http(s) address as rules compare it; None when there is none."""
    try:
        parts = urlsplit(url.strip())
        host = parts.hostname
    except ValueError:
        return None
    return compared(host) if host and parts.scheme.lower() in {"http", "https"} else None


def rule_for_path(tool: Literal["read", "write"], path: Path, *, roots: Sequence[Path], home: Path) -> str:
    """The narrowest rule that covers one path."""

    def literal(start: Path) -> str:
        return _GLOB_SPECIALS.sub(r"\\\1", path.relative_to(start).as_posix())

    for root in roots:
        if path == root:
            return f"{tool}(**)"
        if path.is_relative_to(root):
            relative = literal(root)
            # without a slash it would mean every file of that name, with ~ the home directory
            anchored = "/" in relative and not relative.startswith("~")
            return f"{tool}({relative})" if anchored else f"{tool}(/{relative})"
    if path.is_relative_to(home) and path != home:
        return f"{tool}(~/{literal(home)})"
    return f"{tool}(//{literal(Path(path.anchor))})"
