"""The whole configuration: every table of `config.toml` with its keys, their types, and who may set them.

A key is here only when some code reads it, which a test proves. A new table is one class here, with its defaults and an
`Attributes:` entry for each key, and one field of `ConfigFile`: everything else derives from that.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from claw_acp.config.delegation_sections import AgentSection, DelegationSection
from claw_acp.config.fields import (
    Address,
    Arguments,
    Constraint,
    ExactAddress,
    FilePath,
    FilePaths,
    MessagePattern,
    Money,
    Name,
    Project,
    ProviderName,
    SecretTexts,
    Section,
    Texts,
    Variable,
)
from claw_acp.config.hub_socket import SWITCH
from claw_acp.config.memory_section import MemorySection
from claw_acp.config.provider_section import ProviderSection
from claw_acp.config.server_places import LOCAL_SERVERS, looks_for_servers
from claw_acp.config.web_sections import RequestSecretSection, SearchSection
from claw_acp.core.mode import Mode
from claw_acp.core.value import made_by

ModelReferenceUse = Literal["published", "installed", "off"]
SESSION_MODEL: Final = "session"
"""The `summary_model` that is always the session's own."""
RepairUse = Literal["off", "diagnostics", "checks"]
AuditUse = Literal["required", "tolerant", "off"]
HubUse = Literal["off", "use", "start"]
SandboxUse = Literal["on", "tolerant", "off"]
HookUse = Literal["on", "own", "off"]
HookFailure = Literal["open", "closed"]


class PermissionsSection(Section):
    """`[permissions]`: rules `tool` or `tool(pattern)`. Deny beats ask beats allow.

    Attributes:
        allow: Tool calls that run without a question.
        ask: Tool calls that are asked about, whatever the mode.
        deny: Tool calls that are refused.
    """

    allow: Texts = ()
    ask: Annotated[Texts, Project(narrows="adds")] = ()
    deny: Annotated[Texts, Project(narrows="adds")] = ()


class LimitsSection(Section):
    """`[limits]`.

    Attributes:
        max_turn_requests: Model requests in one turn.
        max_turn_tokens: Tokens of all model requests of one turn, sent and received.
        max_turn_cost: Cost of one turn in US dollars, where prices are known.
        max_turn_minutes: Duration of one turn; the time a person takes to answer does not count.
        max_listed_tools: Tools that a model request lists at most; beyond that, the model looks for those of MCP
            servers and attached programs when it needs them.
    """

    max_turn_requests: Annotated[int, Constraint(ge=1, le=1000), Project(narrows="lower")] = 50
    max_turn_tokens: Annotated[int | None, Constraint(ge=1), Project(narrows="lower")] = None
    max_turn_cost: Annotated[Money | None, Project(narrows="lower")] = None
    max_turn_minutes: Annotated[float | None, Constraint(gt=0, le=10_080), Project(narrows="lower")] = None
    max_listed_tools: Annotated[int, Constraint(ge=1, le=128), Project(narrows="lower")] = 64


class RuleSection(Section):
    """`[[rules]]`: sends a message to a route if the model is `hint:auto`. All conditions of a rule must hold.

    Attributes:
        route: Name from `[routes]`.
        keywords: Words, at least one of which the message contains, in any case.
        pattern: Regular expression that matches somewhere in the first 500 characters of the message.
        min_length: Least length of the message, in characters.
        max_length: Greatest length of the message, in characters.
    """

    route: Name
    keywords: Texts = ()
    pattern: MessagePattern | None = None
    min_length: Annotated[int, Constraint(ge=0)] = 0
    max_length: Annotated[int, Constraint(ge=0)] | None = None


class BudgetSection(Section):
    """`[budget]`, in US dollars. A person is asked before a model request that may exceed one of them.

    Attributes:
        daily: Budget of one day, in local time.
        monthly: Budget of one month.
        session: Budget of one session.
        warn: Share of a budget at which a warning is shown.
    """

    daily: Money | None = None
    monthly: Money | None = None
    session: Money | None = None
    warn: Annotated[float, Constraint(gt=0, le=1)] = 0.8


class PriceSection(Section):
    """`[prices."provider/model"]`, or `"provider/*"`: US dollars for a million tokens.

    Attributes:
        input: US dollars for a million tokens of input; NAME is `provider/model`, or `provider/*` for all its models.
        output: Price of output.
        cached_read: Price of input read from the cache; by default that of input.
        cached_write: Price of input written to the cache; by default that of input.
    """

    input: Money
    output: Money
    cached_read: Money | None = None
    cached_write: Money | None = None


class McpSection(Section):
    """`[mcp.NAME]`: a server of the Model Context Protocol for every session, given by `command` or `url`.

    Attributes:
        command: The program to run: a name on the PATH, or a path with a slash, relative to the file.
        args: Arguments of the program.
        env: Variables of the program, besides a few of the agent's.
        cwd: The directory the program runs in; by default the session's.
        url: The address of a server that runs already.
        type: Its transport: streamable HTTP, or the older HTTP with server-sent events.
        headers: Headers of every request to it.
        timeout: Seconds a call may take without progress.
        start_timeout: Seconds until the server must have started and listed its tools.
        enabled: Use the server.
    """

    command: Name | None = None
    args: Arguments = ()
    env: SecretTexts = made_by(default_factory=SecretTexts)
    cwd: FilePath | None = None
    url: ExactAddress | None = None
    type: Literal["http", "sse"] = "http"
    headers: SecretTexts = made_by(default_factory=SecretTexts)
    timeout: Annotated[float, Constraint(gt=0, le=3600)] = 120
    start_timeout: Annotated[float, Constraint(gt=0, le=600)] = 30
    enabled: bool = True

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Self:
        """The table, which has either a command or an address, and only the keys for that."""
        if ("command" in values) == ("url" in values):
            raise ValueError("needs either `command`, for a program, or `url`, for a server that runs already")
        where, others = ("command", {"type", "headers"}) if "command" in values else ("url", {"args", "env", "cwd"})
        if strange := values.keys() & others:
            raise ValueError(f"{', '.join(f'`{name}`' for name in sorted(strange))} cannot stand beside `{where}`")
        return super().of(values)


class EndpointSection(Section):
    """`[endpoints.NAME]`: a program that the hub starts, keeps running, and speaks the attach protocol with.

    Attributes:
        command: The program to run: a name on the PATH, or a path with a slash, relative to the file.
        args: Arguments of the program.
        env: Variables of the program, besides the hub's own without its keys.
        enabled: Start the program.
    """

    command: Name
    args: Arguments = ()
    env: SecretTexts = made_by(default_factory=SecretTexts)
    enabled: bool = True


class AuditSection(Section):
    """`[audit]`: the audit log, see `claw-acp audit`.

    Attributes:
        use: Refuse tool calls that cannot be recorded (`required`), run them all the same and say so in the log
            (`tolerant`), or record nothing (`off`).
        keep: Number of full files, of 8 MB each, that are kept besides the current one.
        copy: File that gets each signed checkpoint as well. Where you cannot write later (another machine's disk, a
            file that can only grow), it shows that the log was rewritten by a program of yours.
    """

    use: AuditUse = "required"
    keep: Annotated[int, Constraint(ge=1, le=10_000)] = 64
    copy: FilePath | None = None


class PromptSection(Section):
    """`[prompt]`: what stands in the system prompt of every session, see `claw-acp prompt show`.

    Attributes:
        files: Files with instructions of yours, besides AGENTS.md, CLAUDE.md, SOUL.md, USER.md and TOOLS.md in the
            directory of this file.
    """

    files: FilePaths = (Path("~/.claude/CLAUDE.md"),)


class SkillsSection(Section):
    """`[skills]`: instructions for kinds of work, in folders with a `SKILL.md`.

    Attributes:
        enabled: Use skills.
        index: The form in which the system prompt lists them.
        folders: Folders with skills of yours, besides `skills` in the directory of this file, `~/.claude/skills` and
            `~/.agents/skills`.
        disabled: Names of skills that are not wanted.
    """

    enabled: bool = True
    index: Literal["text", "xml"] = "text"
    folders: FilePaths = ()
    disabled: Texts = ()


class TelemetrySection(Section):
    """`[telemetry]`: spans and metrics by OpenTelemetry, with the package's extra `otel`.

    Attributes:
        endpoint: The address of a collector that takes OTLP over HTTP, as in `http://127.0.0.1:4318`; without it,
            nothing is sent.
        headers: Headers of each request to it.
        content: Send prompts, answers, arguments and results, too; what looks like a secret is left out.
    """

    endpoint: Address | None = None
    headers: SecretTexts = made_by(default_factory=SecretTexts)
    content: bool = False


class SandboxSection(Section):
    """`[sandbox]`: where the commands of models run.

    Attributes:
        use: Run commands in a sandbox; where none works on this machine, auto mode asks about those that do more than
            read (`on`), or runs them all the same (`tolerant`). `off`: run them like any program of yours.
        backend: The sandbox to use, as `claw-acp doctor` names it; `auto` for the strongest that works.
        image: An image of Podman or Docker that is on this machine: with it, `auto` prefers containers, whose programs
            are those of the image; without it there are none.
        writable: Directories outside of projects that commands may change.
        unreadable: Files and directories that commands cannot read, besides those that hold credentials.
    """

    use: Annotated[SandboxUse, Variable(name="CLAW_ACP_SANDBOX")] = "on"
    backend: Name = "auto"
    image: Name | None = None
    writable: FilePaths = ()
    unreadable: FilePaths = ()


class HookCommandSection(Section):
    """`[[hook_commands]]`: a command that runs at an event, in the shape that other agents have for hooks.

    Attributes:
        event: Name of the event, such as PreToolUse, PostToolUse, UserPromptSubmit, SessionStart or Stop.
        command: Command line; it reads the event as JSON from its standard input.
        matcher: Names of tools joined by `|`, or a regular expression; by default all.
        timeout: Seconds it may take; by default that of all hooks.
    """

    event: Name
    command: Name
    matcher: str = ""
    timeout: Annotated[float | None, Constraint(gt=0, le=3600)] = None


class HooksSection(Section):
    """`[hooks]`: code of yours that is called around what the agent does, see `claw-acp hooks`.

    Attributes:
        use: Run the hooks of `.claude/settings.json`, `.codex/hooks.json` and `.claw/hooks.json`, yours and those of
            trusted projects, besides these (`on`), only these and `hooks.json` beside this file (`own`), or none.
        on_failure: Go on when a hook fails or takes too long (`open`), or cancel what it was called about (`closed`).
        timeout: Seconds a hook may take if it says nothing else.
    """

    use: HookUse = "on"
    on_failure: HookFailure = "open"
    timeout: Annotated[float, Constraint(gt=0, le=3600)] = 60


class ConfigFile(Section):
    """`config.toml`: the user's own, or a project's.

    Attributes:
        model: `provider/model`, or `hint:NAME` for a route; by default the first provider that has a key.
        vision_model: The model that gets prompts with pictures when the chosen one cannot see.
        summary_model: The model that summarizes a long conversation while no cache holds it; `session` for never
            another than the session's. By default the small model of its provider, if its price is known and lower.
        try_models: The models of the attempts of `/try`, one after the other; by default the session's.
        mode: The mode that new sessions start in.
        repair: Check what a turn has changed before it ends, and have the model mend new problems: with the language
            servers of this machine (`diagnostics`), also with the project's own checks (`checks`), or not (`off`).
        protocol_2: Speak protocol 2, a draft, to editors that ask for it.
        hub: Let a running hub (`claw-acp serve`) serve editors that start `claw-acp` (`use`), also start one in the
            background for the next ones (`start`), or have a process for each editor (`off`).
        handoff_wait: Seconds that a session which was handed over (`/handoff`) waits for somebody to open it, with a
            question, or when its turn has ended.
        local_servers: Look for model servers on this machine.
        pass_variables: Names of environment variables with keys that commands and other programs get all the same.
        model_lists: Ask usable providers for their models, once a day.
        model_reference: Published facts about models, such as prices and windows: the newest, fetched once a day
            (`published`), those of the installation (`installed`), or none (`off`).
        providers: Settings of known providers, and your own providers.
        permissions: Rules for tool calls.
        limits: Bounds of a turn.
        delegation: Bounds of subagents.
        agents: Other agents that tasks can be given to.
        routes: Names for models: `hint:NAME` stands for one.
        rules: The route of each message when the model is `hint:auto`; the first rule that fits decides.
        budget: Limits on spending.
        prices: Your own prices, by `provider/model`.
        mcp: The MCP servers that every session has.
        endpoints: The programs that a hub (`claw-acp serve`) starts and keeps running.
        audit: The record of what was done.
        prompt: Instructions in the system prompt.
        sandbox: The sandbox of commands.
        memory: What agents remember.
        hooks: Code of yours that is called around what the agent does.
        hook_commands: Hooks that are commands; those in files of hooks count besides.
        skills: Skills.
        search: The services that search the web.
        request_secrets: Secrets that requests may carry.
        telemetry: The OpenTelemetry collector that turns are reported to.
    """

    model: Annotated[Name | None, Variable(name="CLAW_ACP_MODEL")] = None
    vision_model: Name | None = None
    summary_model: Name | None = None
    try_models: Texts = ()
    mode: Annotated[Mode, Variable(name="CLAW_ACP_MODE"), Project(narrows="lower")] = "ask"
    repair: Annotated[RepairUse, Variable(name="CLAW_ACP_REPAIR"), Project(narrows="lower")] = "diagnostics"
    protocol_2: bool = True
    hub: Annotated[HubUse, Variable(name=SWITCH)] = "use"
    handoff_wait: Annotated[int, Constraint(ge=0, le=86_400)] = 3600
    local_servers: Annotated[bool, Variable(name=LOCAL_SERVERS, parse=looks_for_servers)] = True
    pass_variables: Texts = ()
    model_lists: Annotated[bool, Variable(name="CLAW_ACP_MODEL_LISTS")] = True
    model_reference: Annotated[ModelReferenceUse, Variable(name="CLAW_ACP_MODEL_REFERENCE")] = "published"
    providers: dict[ProviderName, ProviderSection] = made_by(default_factory=dict[str, ProviderSection])
    permissions: PermissionsSection = PermissionsSection()
    limits: LimitsSection = LimitsSection()
    delegation: DelegationSection = DelegationSection()
    agents: dict[ProviderName, AgentSection] = made_by(default_factory=dict[str, AgentSection])
    routes: dict[ProviderName, Name] = made_by(default_factory=dict[str, str])
    rules: Annotated[tuple[RuleSection, ...], Constraint(strict=False)] = ()
    budget: BudgetSection = BudgetSection()
    prices: dict[Name, PriceSection] = made_by(default_factory=dict[str, PriceSection])
    mcp: dict[ProviderName, McpSection] = made_by(default_factory=dict[str, McpSection])
    endpoints: dict[ProviderName, EndpointSection] = made_by(default_factory=dict[str, EndpointSection])
    audit: AuditSection = AuditSection()
    prompt: PromptSection = PromptSection()
    sandbox: SandboxSection = SandboxSection()
    memory: MemorySection = MemorySection()
    hooks: HooksSection = HooksSection()
    hook_commands: Annotated[tuple[HookCommandSection, ...], Constraint(strict=False)] = ()
    skills: SkillsSection = SkillsSection()
    search: SearchSection = SearchSection()
    request_secrets: dict[ProviderName, RequestSecretSection] = made_by(default_factory=dict[str, RequestSecretSection])
    telemetry: TelemetrySection = TelemetrySection()
