"""`initialize`: protocol version, capabilities, and the identity of both sides.

An absent capability is an unsupported one, and a malformed one counts as absent: `initialize` fails only for its
protocol version.
"""

from claw_acp.core.value import made_by
from claw_acp.schema.authentication import AuthMethod
from claw_acp.schema.base import Flag, Items, Lenient, Marker, Part, ProtocolVersion, Wire


class Implementation(Wire):
    """The name and version of a program; `title` is for people."""

    name: str
    version: str
    title: Lenient[str] = None


# ------------------------------------------------------------------ the client's side


class FileSystemCapabilities(Wire):
    """The file methods that the client serves."""

    read_text_file: Flag = False
    write_text_file: Flag = False


class AuthCapabilities(Wire):
    """`terminal`: the client can run a login command in a terminal."""

    terminal: Flag = False


class SessionConfigOptionsCapabilities(Wire):
    """`boolean`: the client supports options that are switches."""

    boolean: Lenient[Marker] = None


class ClientSessionCapabilities(Wire):
    """Kinds of session updates the client understands beyond the baseline."""

    compaction: Lenient[Marker] = None
    config_options: Lenient[SessionConfigOptionsCapabilities] = None
    notices: Lenient[Marker] = None


class ElicitationCapabilities(Wire):
    """Ways in which the client can ask its user something."""

    form: Lenient[Marker] = None
    url: Lenient[Marker] = None


class ClientCapabilities(Wire):
    """Everything the client can do for the agent."""

    fs: Part[FileSystemCapabilities] = made_by(default_factory=FileSystemCapabilities)
    terminal: Flag = False
    session: Lenient[ClientSessionCapabilities] = None
    auth: Part[AuthCapabilities] = made_by(default_factory=AuthCapabilities)
    elicitation: Lenient[ElicitationCapabilities] = None
    plan: Lenient[Marker] = None
    subagents: Lenient[Marker] = None


class InitializeRequest(Wire):
    """The first request on a connection."""

    protocol_version: ProtocolVersion
    client_capabilities: Part[ClientCapabilities] = made_by(default_factory=ClientCapabilities)
    client_info: Lenient[Implementation] = None


# ------------------------------------------------------------------ the agent's side


class PromptCapabilities(Wire):
    """The content blocks that a prompt may hold besides text and resource links."""

    image: Flag = False
    audio: Flag = False
    embedded_context: Flag = False


class McpCapabilities(Wire):
    """The MCP transports that the agent supports besides stdio; `acp` (unstable): servers inside the client."""

    http: Flag = False
    sse: Flag = False
    acp: Flag = False


class SessionSystemPromptModeCapabilities(Wire):
    """`override`: the client's instructions can replace the agent's own."""

    override: Lenient[Marker] = None


class SessionSystemPromptCapabilities(Wire):
    """The client's instructions can be added to the agent's own; `mode` lists further ways to use them."""

    mode: Lenient[SessionSystemPromptModeCapabilities] = None


class SessionCapabilities(Wire):
    """The optional session methods that the agent serves."""

    list: Lenient[Marker] = None
    delete: Lenient[Marker] = None
    additional_directories: Lenient[Marker] = None
    resume: Lenient[Marker] = None
    close: Lenient[Marker] = None
    fork: Lenient[Marker] = None
    archive: Lenient[Marker] = None
    status: Lenient[Marker] = None
    title: Lenient[Marker] = None
    system_prompt: Lenient[SessionSystemPromptCapabilities] = None


class AgentAuthCapabilities(Wire):
    """`logout`: the agent can remove its credentials; `status` (unstable): it reports whether it has any."""

    logout: Lenient[Marker] = None
    status: Lenient[Marker] = None


class AgentCapabilities(Wire):
    """Everything the agent can do for the client."""

    load_session: Flag = False
    prompt_capabilities: Part[PromptCapabilities] = made_by(default_factory=PromptCapabilities)
    mcp_capabilities: Part[McpCapabilities] = made_by(default_factory=McpCapabilities)
    session_capabilities: Part[SessionCapabilities] = made_by(default_factory=SessionCapabilities)
    auth: Part[AgentAuthCapabilities] = made_by(default_factory=AgentAuthCapabilities)
    providers: Lenient[Marker] = None


class InitializeResponse(Wire):
    """The protocol version for the connection, and what the agent offers."""

    protocol_version: ProtocolVersion
    agent_capabilities: Part[AgentCapabilities] = made_by(default_factory=AgentCapabilities)
    auth_methods: Items[AuthMethod] = ()
    agent_info: Lenient[Implementation] = None
