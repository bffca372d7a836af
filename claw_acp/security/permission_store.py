"""The "always" answers of a user, kept as rules per project in one small TOML file.

    ["/home/ada/project"]
    allow = ["shell(npm test)", "write(src/app.py)"]
    deny = ["fetch(example.org)"]

    ["/home/ada/project".tools]
    github__create_issue = "9f86d081884c7d65…"

A tool of a server is kept with the digest of its description, so that one which changes is not covered any more.

Several processes may use the file. Each change is made under a lock, based on the file's content at that moment, and
written atomically.
"""

import logging
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, cast

from claw_acp.config.atomic_file import only_writer, put_in_place, toml_text
from claw_acp.core.errors import ConfigError
from claw_acp.core.json_value import JsonObject
from claw_acp.core.private_directory import make_private
from claw_acp.core.redaction import redact
from claw_acp.core.value import Value, replace
from claw_acp.security.rules import Rule, parse_rule

log = logging.getLogger(__name__)

SOURCE = "your answers for this project"

Answer = Literal["allow", "deny"]
_Stamp: TypeAlias = tuple[int, int, int]


class _Lists(Value):
    """The rule texts of one project, and its servers' tools with their digests."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    tools: tuple[tuple[str, str], ...] = ()

    def with_rules(self, texts: Sequence[str], *, answer: Answer) -> "_Lists":
        """These lists with `texts` moved to one of them: the newer answer counts."""
        kept_allow = tuple(text for text in self.allow if text not in texts)
        kept_deny = tuple(text for text in self.deny if text not in texts)
        if answer == "allow":
            return replace(self, allow=(*kept_allow, *texts), deny=kept_deny)
        return replace(self, allow=kept_allow, deny=(*kept_deny, *texts))

    def with_tool(self, tool: str, digest: str) -> "_Lists":
        """These lists with the digest of a tool."""
        return replace(self, tools=(*(known for known in self.tools if known[0] != tool), (tool, digest)))

    def without(self, text: str) -> "_Lists":
        """These lists without one rule."""
        return _Lists(
            allow=tuple(known for known in self.allow if known != text),
            deny=tuple(known for known in self.deny if known != text),
            tools=tuple(known for known in self.tools if known[0] != text),
        )


@dataclass(slots=True)
class _Content:
    """The whole file as last read, with its problems."""

    projects: dict[str, _Lists] = field(default_factory=dict[str, _Lists])
    findings: list[str] = field(default_factory=list[str])
    broken: bool = False


class PermissionStore:
    """The file of "always" answers. It is read at the first use, and again whenever it has changed on disk.

    Args:
        path: The file.
        note: Called with the facts of each change before it is made; if it raises a ClawError, nothing is changed.
    """

    def __init__(self, path: Path, *, note: Callable[[JsonObject], object] | None = None) -> None:
        self._path = path
        self._note = note
        self._content = _Content()
        self._stamp: _Stamp | None = None

    @property
    def path(self) -> Path:
        """Where the file is, or will be."""
        return self._path

    def rules(self, project: Path) -> tuple[Rule, ...]:
        """The valid rules of a project, refusals first. An invalid file or rule grants nothing."""
        lists = self._read().projects.get(str(project), _Lists())
        refusals = (_usable(text, verdict="deny") for text in lists.deny)
        permissions = (_usable(text, verdict="allow") for text in lists.allow)
        return tuple(rule for rule in (*refusals, *permissions) if rule is not None)

    def tools(self, project: Path) -> Mapping[str, str]:
        """The digests of servers' tools that were called in a project, by tool."""
        return dict(self._read().projects.get(str(project), _Lists()).tools)

    def answers(self) -> Mapping[str, Sequence[tuple[Answer, str]]]:
        """The text of every answer as it is stored, by project, refusals first; a text need not be a valid rule."""
        return {
            project: [*(("deny", text) for text in lists.deny), *(("allow", text) for text in lists.allow)]
            for project, lists in self._read().projects.items()
            if lists.deny or lists.allow
        }

    def findings(self) -> tuple[str, ...]:
        """The problems of the file as texts for people."""
        return tuple(self._read().findings)

    def remember(self, project: Path, texts: Sequence[str], *, answer: Answer) -> None:
        """Add rules to a project.

        Raises:
            ConfigError: A text is not a rule, or the file cannot be written.
        """
        for text in texts:
            parse_rule(text, verdict=answer)
        self._tell(project, texts, change=answer)
        self._change(project, lambda lists: lists.with_rules(texts, answer=answer))

    def remember_tool(self, project: Path, tool: str, *, digest: str) -> None:
        """Keep how a server's tool describes itself, from now on.

        Raises:
            ConfigError: The file cannot be written.
        """
        self._tell(project, [tool], change="described")
        self._change(project, lambda lists: lists.with_tool(tool, digest))

    def forget(self, project: Path, text: str) -> None:
        """Remove a rule of a project from either list.

        Raises:
            ConfigError: The file cannot be written.
        """
        self._tell(project, [text], change="removed")
        self._change(project, lambda lists: lists.without(text))

    def _tell(self, project: Path, texts: Sequence[str], *, change: str) -> None:
        if self._note is not None:
            self._note({"change": change, "project": str(project), "rules": [redact(text) for text in texts]})

    # -------------------------------------------------------------- reading

    def _read(self) -> _Content:
        stamp = _stamp(self._path)
        if stamp != self._stamp or stamp is None:
            self._content = _load(self._path)
            self._stamp = stamp
        return self._content

    # -------------------------------------------------------------- writing

    def _change(self, project: Path, change: Callable[[_Lists], _Lists]) -> None:
        try:
            make_private(self._path.parent)
            with only_writer(self._path):
                content = _load(self._path)
                if content.broken:
                    self._set_aside()
                projects = dict(content.projects)
                projects[str(project)] = change(projects.get(str(project), _Lists()))
                put_in_place(self._path, _render(projects))
        except UnicodeEncodeError as error:
            raise ConfigError(f"the answer could not be stored: the name of {project!a} is not valid text") from error
        except OSError as error:
            raise ConfigError(
                f"the answer could not be stored in {self._path}: {error.strerror or error}; check that it is writable"
            ) from error

    def _set_aside(self) -> None:
        """Rename an unreadable file, so that a new one can begin."""
        number = 1
        while (aside := self._path.with_name(f"{self._path.name}.broken-{number}")).exists():
            number += 1
        self._path.rename(aside)
        log.warning("permission file set aside", extra={"kept_as": str(aside)})


def _stamp(path: Path) -> _Stamp | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size, facts.st_ino


def _load(path: Path) -> _Content:
    content = _Content()
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return content
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        content.broken = True
        content.findings.append(
            f"{path} cannot be read ({error}); every action is asked about until it is repaired. "
            "The next stored answer starts a new file and keeps this one beside it."
        )
        log.warning("permission file unreadable", extra={"path": str(path)})
        return content
    for project, entry in table.items():
        content.projects[project] = _lists(entry, where=f"{path}: {project}", findings=content.findings)
    return content


def _lists(entry: object, *, where: str, findings: list[str]) -> _Lists:
    if not isinstance(entry, dict):
        findings.append(f"{where} is not a table with `allow` and `deny`; it is ignored")
        return _Lists()
    table = cast("dict[str, object]", entry)
    return _Lists(
        allow=_texts(table.get("allow"), where=f"{where}: allow", findings=findings),
        deny=_texts(table.get("deny"), where=f"{where}: deny", findings=findings),
        tools=_digests(table.get("tools"), where=f"{where}: tools", findings=findings),
    )


def _digests(value: object, *, where: str, findings: list[str]) -> tuple[tuple[str, str], ...]:
    if value is None:
        return ()
    table = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    kept = tuple((tool, digest) for tool, digest in table.items() if isinstance(digest, str))
    if not isinstance(value, dict) or len(kept) != len(table):
        findings.append(f"{where} holds something that is not the digest of a tool; it is ignored")
    return kept


def _texts(value: object, *, where: str, findings: list[str]) -> tuple[str, ...]:
    if value is None:
        return ()
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    texts = tuple(item for item in items if isinstance(item, str))
    if len(texts) != len(items):
        findings.append(f"{where} holds something that is not a text; it is ignored")
    for text in texts:
        try:
            parse_rule(text, verdict="allow")
        except ConfigError as error:
            findings.append(f"{where}: {error}")
    return texts


def _usable(text: str, *, verdict: Answer) -> Rule | None:
    try:
        return parse_rule(text, verdict=verdict, source=SOURCE)
    except ConfigError:
        return None  # already among the findings


def _render(projects: dict[str, _Lists]) -> str:
    """The whole file as TOML."""
    lines = ['# Answers given as "always", by project. Remove a line to be asked again.']
    for project, lists in sorted(projects.items()):
        if not lists.allow and not lists.deny and not lists.tools:
            continue
        lines += ["", f"[{toml_text(project)}]"]
        for name, texts in (("allow", lists.allow), ("deny", lists.deny)):
            if texts:
                lines += [f"{name} = [", *(f"  {toml_text(text)}," for text in texts), "]"]
        if lists.tools:
            lines += ["", f"[{toml_text(project)}.tools]"]
            lines += [f"{toml_text(tool)} = {toml_text(digest)}" for tool, digest in lists.tools]
    return "\n".join(lines) + "\n"
