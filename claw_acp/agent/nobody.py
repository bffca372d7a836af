"""The asker of turns at which nobody is present."""

import logging
from typing import TYPE_CHECKING

from claw_acp.contracts.questions import Asker, Choice, Form, FormAnswer, PermissionQuestion

log = logging.getLogger(__name__)


class Nobody:
    """An asker without a person: every question is a no, at once."""

    async def permission(self, question: PermissionQuestion) -> Choice | None:
        """See `Asker`."""
        log.info("nobody to ask", extra={"session": question.session, "call": question.call_id})

    async def form(self, form: Form) -> FormAnswer | None:
        """See `Asker`."""
        log.info("nobody to ask", extra={"session": form.session})


if TYPE_CHECKING:
    _conforms: type[Asker] = Nobody
