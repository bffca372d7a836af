"""Every rule that is judged by all frames, and its monitor, by version of the protocol."""

from collections.abc import Mapping

from claw_acp.verify.monitors import content, endings, offers, order, v2, wire
from claw_acp.verify.monitors.observation import Monitor
from claw_acp.verify.rule import Rule

MONITORS: Mapping[int, tuple[Monitor, ...]] = {
    1: (wire.watch, order.watch, offers.watch, content.watch, endings.watch),
    2: (wire.watch, v2.watch, endings.watch),
}
RULES: Mapping[int, tuple[Rule, ...]] = {
    1: (*wire.RULES, *order.RULES, *offers.RULES, *content.RULES, *endings.RULES),
    2: (*wire.RULES, *v2.RULES, *endings.RULES),
}
