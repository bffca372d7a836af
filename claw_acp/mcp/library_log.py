"""The log of the mcp library: for us it is detail, and its tracebacks and bodies are of use to no reader."""

import logging

log = logging.getLogger(__name__)

_LOGGERS = ("mcp", "client", "httpx2", "httpcore2")  # `client` is how its session module calls itself


class _Forwarded(logging.Handler):
    """Hands lines on to our log, as details, without their tracebacks."""

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler`."""
        log.debug("mcp library", extra={"source": record.name, "text": record.getMessage()[:500]})


def tame_library_log() -> None:
    """Keep the library's loggers from writing to stderr by themselves. Idempotent."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(handler, _Forwarded) for handler in logger.handlers):
            logger.addHandler(_Forwarded())
            logger.setLevel(logging.WARNING)  # below that it writes whole messages
            logger.propagate = False
