"""The settings of what agents remember."""

from claw_acp.config.fields import Address, Key, Name, Section


class EmbeddingSection(Section):
    """`[memory.embedding]`: a service that turns texts into vectors, so that notes are found by other words, too.

    Attributes:
        url: Its address: `http://127.0.0.1:11434/api/embed` for Ollama, or that of a service with OpenAI's interface,
            as in `https://api.openai.com/v1`. It is sent notes and prompts, without credentials.
        model: The model, as the service names it. For another one, all notes are sent again, in the background.
        key: The key of the service, or a reference to it.
    """

    url: Address | None = None
    model: Name | None = None
    key: Key | None = None


class MemorySection(Section):
    """`[memory]`: what agents remember beyond one conversation, see `claw-acp memory`.

    Attributes:
        enabled: Remember, and recall; `claw-acp memory off` switches it off in one project.
        backend: Where it is kept: `sqlite`; `markdown`, in files that you may edit by hand, MEMORY.md and HISTORY.md;
            or the name of a backend that another package brings.
        embedding: A service that turns texts into vectors.
    """

    enabled: bool = True
    backend: Name = "sqlite"
    embedding: EmbeddingSection = EmbeddingSection()
