"""Every rule that is judged by all that was said, and who watches for it."""

from claw_acp.verify.rule import Rule
from claw_acp.verify.watch import content, endings, offers, order, wire
from claw_acp.verify.watch.sighting import Watcher

WATCHERS: tuple[Watcher, ...] = (wire.watch, order.watch, offers.watch, content.watch, endings.watch)
RULES: tuple[Rule, ...] = (*wire.RULES, *order.RULES, *offers.RULES, *content.RULES, *endings.RULES)
