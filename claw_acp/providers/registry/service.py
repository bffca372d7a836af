"""A known service before configuration, and the services that are named like their wire family."""

from collections.abc import Sequence

from claw_acp.contracts.provider_setup import NO_QUIRKS, Quirks
from claw_acp.core.value import Value, replace
from claw_acp.providers.models.lineage import Family, lineage


class ModelRole(Value):
    """The newest model of some families, offered when the user lists none.

    Attributes:
        families: Prefixes of names without numbers (`claude-sonnet`); the newest model of all of them is used.
        description: Its purpose.
        last_resort: Its name, while neither the service's list nor published facts are known.
        small: Whether it does simple work in the place of its vendor's larger models.
    """

    families: tuple[str, ...]
    description: str
    last_resort: str
    small: bool = False

    @property
    def of(self) -> Sequence[Family]:
        """The parsed families."""
        return [lineage(family).family for family in self.families]


class KnownService(Value):
    """One service.

    Attributes:
        name: The part before the `/` in a model's name.
        kind: The wire family (an entry point of `claw_acp.providers`).
        base_url: The service's own address; empty when there is none, or every customer has another one.
        key_variables: The vendor's usual variables for the key, tried in order; empty when none is needed.
        url_variable: The vendor's usual variable for another address.
        vendor: The vendor of its keys, as named by `vendor_of_key`; empty: any.
        roles: Best first; the first is the default. Empty when only the service itself knows its models.
        quirks: Its differences from its wire family.
        aliases: Other names for it.
        local: Whether it is a server on this machine, which needs no key.
        own_address: Whether every customer has an own address, which must be configured.
        same_as: The service of which it is another API, used only by name.
        sign_in: Variables that show that requests are signed instead of using a key.
        sign_in_files: Files in the user's home that show the same.
        sign_in_module: The module that signing needs; the extra of the wire family's name installs it.
    """

    name: str
    kind: str
    base_url: str = ""
    key_variables: tuple[str, ...] = ()
    url_variable: str = ""
    vendor: str = ""
    roles: tuple[ModelRole, ...] = ()
    quirks: Quirks = NO_QUIRKS
    aliases: tuple[str, ...] = ()
    local: bool = False
    own_address: bool = False
    same_as: str = ""
    sign_in: tuple[str, ...] = ()
    sign_in_files: tuple[str, ...] = ()
    sign_in_module: str = ""

    @property
    def key_variable(self) -> str:
        """The variable to mention when a key is missing; empty when none is needed."""
        return self.key_variables[0] if self.key_variables else ""


ANTHROPIC = KnownService(
    name="anthropic",
    aliases=("claude",),
    kind="anthropic",
    base_url="https://api.anthropic.com",
    key_variables=("ANTHROPIC_API_KEY",),
    url_variable="ANTHROPIC_BASE_URL",
    vendor="Anthropic",
    roles=(
        ModelRole(families=("claude-sonnet",), description="Anthropic: balanced", last_resort="claude-sonnet-5-5"),
        ModelRole(families=("claude-opus",), description="Anthropic: most capable", last_resort="claude-opus-5-5"),
        ModelRole(
            families=("claude-haiku",), description="Anthropic: fastest", last_resort="claude-haiku-5-5", small=True
        ),
    ),
)
_GPT = (
    ModelRole(families=("gpt", "gpt-sol"), description="OpenAI: for complex work", last_resort="gpt-6.1-sol"),
    ModelRole(
        families=("gpt-terra", "gpt-mini"),
        description="OpenAI: fast and cheap",
        last_resort="gpt-6.1-terra",
        small=True,
    ),
)
OPENAI = KnownService(
    name="openai",
    kind="openai",
    base_url="https://api.openai.com/v1",
    key_variables=("OPENAI_API_KEY",),
    url_variable="OPENAI_BASE_URL",
    vendor="OpenAI",
    roles=_GPT,
    quirks=Quirks(max_tokens="max_completion_tokens"),
)
RESPONSES = replace(
    OPENAI, name="openai-responses", aliases=("responses",), same_as="openai", kind="responses", quirks=NO_QUIRKS
)
GEMINI = KnownService(
    name="gemini",
    aliases=("google",),
    kind="gemini",
    base_url="https://generativelanguage.googleapis.com",
    key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    url_variable="GEMINI_BASE_URL",
    vendor="Google",
    roles=(
        ModelRole(
            families=("gemini-flash",), description="Google: balanced", last_resort="gemini-3.8-flash", small=True
        ),
        ModelRole(families=("gemini-pro",), description="Google: most capable", last_resort="gemini-pro-latest"),
    ),
)
BEDROCK = KnownService(
    name="bedrock",
    aliases=("aws", "aws-bedrock"),
    kind="bedrock",
    key_variables=("AWS_BEARER_TOKEN_BEDROCK", "BEDROCK_API_KEY"),
    vendor="AWS",
    roles=(
        ModelRole(
            families=("us.anthropic.claude-sonnet", "global.anthropic.claude-sonnet"),
            description="Bedrock: Claude Sonnet",
            last_resort="global.anthropic.claude-sonnet-5-5",
        ),
        ModelRole(
            families=("amazon.nova-pro",), description="Bedrock: Amazon Nova Pro", last_resort="amazon.nova-pro-v1:0"
        ),
    ),
    sign_in=(
        "AWS_ACCESS_KEY_ID",
        "AWS_PROFILE",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    ),
    sign_in_files=(".aws/credentials", ".aws/config"),
    sign_in_module="botocore",
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
    roles=(
        ModelRole(
            families=("assistant",),
            description="Built in: simple file work, no key, no network",
            last_resort="assistant",
        ),
    ),
)
