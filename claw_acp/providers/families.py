"""What is known of a service before anybody configures it, and the services that a wire family is named after."""

from claw_acp.contracts.provider_setup import NO_QUIRKS, Quirks
from claw_acp.core.value import Value


class KnownModel(Value):
    """A model to offer when the user lists none."""

    id: str
    description: str


class KnownService(Value):
    """One service.

    Attributes:
        name: What stands before the `/` in a model's name.
        kind: The wire family (an entry point of `claw_acp.providers`).
        base_url: The service's own address; empty when there is none, or each customer has another.
        key_variables: The vendor's usual variables for the key, tried in order; empty when none is needed.
        url_variable: The vendor's usual variable for another address.
        vendor: Whose keys the service takes, in the words of `vendor_of_key`; empty: anybody's.
        models: Best first; the first is the default. Empty when only the service itself can say.
        quirks: Where it differs from its wire family.
        aliases: Other names for it.
        local: Whether it is a program on this machine, which answers without a key.
        own_address: Whether each customer has an address of his own there, which must be configured.
        same_as: The service that it is another API of; only who names it means it.
        sign_in: Variables that say that requests are signed in another way than with a key.
    """

    name: str
    kind: str
    base_url: str = ""
    key_variables: tuple[str, ...] = ()
    url_variable: str = ""
    vendor: str = ""
    models: tuple[KnownModel, ...] = ()
    quirks: Quirks = NO_QUIRKS
    aliases: tuple[str, ...] = ()
    local: bool = False
    own_address: bool = False
    same_as: str = ""
    sign_in: tuple[str, ...] = ()

    @property
    def key_variable(self) -> str:
        """The variable to name when a key is missing; empty when none is needed."""
        return self.key_variables[0] if self.key_variables else ""


ANTHROPIC = KnownService(
    name="anthropic",
    aliases=("claude",),
    kind="anthropic",
    base_url="https://api.anthropic.com",
    key_variables=("ANTHROPIC_API_KEY",),
    url_variable="ANTHROPIC_BASE_URL",
    vendor="Anthropic",
    models=(
        KnownModel(id="claude-sonnet-4-5", description="Anthropic: balanced"),
        KnownModel(id="claude-opus-4-5", description="Anthropic: most capable"),
        KnownModel(id="claude-haiku-4-5", description="Anthropic: fastest"),
    ),
)
OPENAI = KnownService(
    name="openai",
    kind="openai",
    base_url="https://api.openai.com/v1",
    key_variables=("OPENAI_API_KEY",),
    url_variable="OPENAI_BASE_URL",
    vendor="OpenAI",
    models=(
        KnownModel(id="gpt-5.1", description="OpenAI: most capable"),
        KnownModel(id="gpt-5-mini", description="OpenAI: fast and cheap"),
    ),
    quirks=Quirks(max_tokens="max_completion_tokens"),
)
RESPONSES = KnownService(
    name="openai-responses",
    aliases=("responses",),
    same_as="openai",
    kind="responses",
    base_url="https://api.openai.com/v1",
    key_variables=("OPENAI_API_KEY",),
    url_variable="OPENAI_BASE_URL",
    vendor="OpenAI",
    models=(
        KnownModel(id="gpt-5.1", description="OpenAI, responses API: most capable"),
        KnownModel(id="gpt-5-mini", description="OpenAI, responses API: fast and cheap"),
    ),
)
GEMINI = KnownService(
    name="gemini",
    aliases=("google",),
    kind="gemini",
    base_url="https://generativelanguage.googleapis.com",
    key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    url_variable="GEMINI_BASE_URL",
    vendor="Google",
    models=(
        KnownModel(id="gemini-2.5-pro", description="Google: most capable"),
        KnownModel(id="gemini-2.5-flash", description="Google: fast and cheap"),
    ),
)
BEDROCK = KnownService(
    name="bedrock",
    aliases=("aws", "aws-bedrock"),
    kind="bedrock",
    key_variables=("AWS_BEARER_TOKEN_BEDROCK", "BEDROCK_API_KEY"),
    vendor="AWS",
    models=(
        KnownModel(id="us.anthropic.claude-sonnet-4-5-20250929-v1:0", description="Bedrock: Claude Sonnet 4.5"),
        KnownModel(id="amazon.nova-pro-v1:0", description="Bedrock: Amazon Nova Pro"),
    ),
    sign_in=("AWS_ACCESS_KEY_ID",),
)
AZURE = KnownService(
    name="azure",
    aliases=("azure-openai",),
    kind="azure",
    key_variables=("AZURE_OPENAI_API_KEY",),
    url_variable="AZURE_OPENAI_ENDPOINT",
    vendor="Azure",
    own_address=True,
)
OFFLINE = KnownService(
    name="offline",
    kind="offline",
    models=(KnownModel(id="assistant", description="Built in: simple file work, no key, no network"),),
)
