"""A key in the model that nothing reads is a promise not kept."""

import ast
from pathlib import Path

import claw_acp
from claw_acp.config.delegation_sections import AgentSection, DelegationSection
from claw_acp.config.entries import tables
from claw_acp.config.fields import Section
from claw_acp.config.memory_section import EmbeddingSection
from claw_acp.config.model import (
    AuditSection,
    BudgetSection,
    ConfigFile,
    EndpointSection,
    HookCommandSection,
    HooksSection,
    LimitsSection,
    McpSection,
    MemorySection,
    PermissionsSection,
    PriceSection,
    PromptSection,
    RuleSection,
    SandboxSection,
    SkillsSection,
    TelemetrySection,
)
from claw_acp.config.provider_section import Options, ProviderSection, QuirksSection
from claw_acp.config.web_sections import RequestSecretSection, SearchSection

# The name by which code holds each table: `section.base_url`, `settings.limits.max_turn_requests`.
OWNERS: dict[type[Section], str] = {
    ConfigFile: "settings",
    ProviderSection: "section",
    Options: "options",
    QuirksSection: "quirks",
    RuleSection: "rule",
    BudgetSection: "budget",
    PriceSection: "price",
    PermissionsSection: "permissions",
    LimitsSection: "limits",
    DelegationSection: "delegation",
    AgentSection: "section",
    McpSection: "entry",
    EndpointSection: "section",
    AuditSection: "section",
    SandboxSection: "section",
    TelemetrySection: "telemetry",
    PromptSection: "prompt",
    SkillsSection: "skills",
    MemorySection: "memory",
    EmbeddingSection: "section",
    HooksSection: "hooks",
    HookCommandSection: "row",
    SearchSection: "search",
    RequestSecretSection: "entry",
}

ANY = "*"


def reads() -> set[tuple[str, str]]:
    """Every `owner.attribute` that is read in the package outside `config`."""
    package = Path(claw_acp.__file__).parent
    found: set[tuple[str, str]] = set()
    for path in package.rglob("*.py"):
        if path.is_relative_to(package / "config") or path.is_relative_to(package / "cli"):
            continue  # printing a value is not obeying it
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Attribute(value=owner, attr=key, ctx=ast.Load()):
                    found.add((_last_name(owner), key))
                case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Name(), *_]):
                    found.add((_last_name(owner), ANY))  # a loop over the keys of this table
                case _:
                    pass
    return found


def _last_name(expression: ast.expr) -> str:
    return ast.unparse(expression).rpartition(".")[2].lstrip("_")


def test_every_table_of_the_configuration_has_its_owner() -> None:
    assert set(OWNERS) == set(tables().values())


def test_every_key_of_the_configuration_is_read_by_something() -> None:
    found = reads()
    unread = [
        f"{section.__name__}.{key}"
        for section, owner in OWNERS.items()
        for key in section.key_names()
        if found.isdisjoint({(owner, key), (owner, ANY)})
    ]
    assert unread == []
