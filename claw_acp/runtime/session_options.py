"""The settings of a session: its mode, its model, its thinking effort, its access to the web."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from claw_acp.config.settings import Settings
from claw_acp.contracts.command import Chosen, Option, Setting
from claw_acp.contracts.provider import Effort
from claw_acp.core.errors import ClawError, InvalidRequest
from claw_acp.core.mode import Mode, is_wider
from claw_acp.core.value import replace
from claw_acp.providers.binary import PLUGIN_DEFAULT
from claw_acp.providers.models.facts import known_capabilities
from claw_acp.providers.registry.profiles import provider_profiles
from claw_acp.providers.selection.available_models import OWN_CHOICE, available_models
from claw_acp.providers.selection.resolve import resolve
from claw_acp.providers.selection.route_rules import model_behind
from claw_acp.registry.reference import Ref
from claw_acp.runtime.live_session import LiveSession

RECORD: Final = Ref[Callable[..., Awaitable[None]]]("claw_acp.runtime.audited:record")
"""By name: the options are listed when a session opens, and changed later."""

MODES: Sequence[Option] = (
    Option(value="plan", name="Plan", description="Reads and plans; changes nothing"),
    Option(value="ask", name="Ask", description="Asks before it changes files or runs commands"),
    Option(value="edit", name="Edit", description="Changes files in the project by itself; asks before commands"),
    Option(value="auto", name="Auto", description="Works by itself; still asks before anything dangerous"),
)
THOUGHT_LEVELS: Sequence[Option] = (
    Option(value="default", name="Default thinking", description="As configured, else as the model does by itself"),
    Option(value="off", name="Thinking off", description="As little thinking as the model can do with"),
    Option(value="low", name="Low thinking", description="A little, for quick answers"),
    Option(value="medium", name="Medium thinking", description="More, for ordinary work"),
    Option(value="high", name="High thinking", description="As much as it needs, for hard problems"),
)
WEB_SWITCH: Sequence[Option] = (Option(value="on", name="Web on"), Option(value="off", name="Web off"))
"""Web access as a choice, for clients without switches. Editors show a value without its setting's name."""

NAMED: Final = 20  # values that an error names
THOUGHT_LEVEL: Final = "thought_level"
WEB: Final = "web"
_WEB_TOOLS: Final = frozenset({
    "fetch", "web_search", "http_request", "browser_open", "browser_read", "browser_click", "browser_fill",
    "browser_screenshot",
})  # fmt: skip
_EFFORTS: Mapping[str, Effort] = {"off": "off", "low": "low", "medium": "medium", "high": "high"}


def settings_in(live: LiveSession, *, switches: bool) -> Sequence[Setting]:
    """All settings of a session, the most important first; which there are depends on its model.

    Args:
        live: The session.
        switches: Whether the client knows settings that are on or off; else they are choices of `on` and `off`.
    """
    record = live.session.record
    settings = [
        Setting(id="mode", name="Mode", category="mode", current=record.mode, options=MODES),
        Setting(id="model", name="Model", category="model", current=record.model, options=models(live)),
    ]
    if can_think(model_behind(record.model, settings=live.settings), settings=live.settings):
        settings.append(
            Setting(
                id=THOUGHT_LEVEL,
                name="Thinking",
                description="How long the model thinks before it answers",
                category="thought_level",
                current=_thought_level(live),
                options=THOUGHT_LEVELS,
            )
        )
    web = Setting(
        id=WEB, name="Web access", description="Whether the agent may fetch web pages", current=web_access(live)
    )
    return [*settings, web if switches else replace(web, current="on" if web.current else "off", options=WEB_SWITCH)]


def check_mode(mode: str, *, widest: Mode) -> None:
    """Check that a client may work in a mode.

    Raises:
        InvalidRequest: It is wider than the widest for this client.
    """
    if is_wider(mode, widest):
        raise InvalidRequest(f'the mode "{mode}" is wider than "{widest}", the widest that this client may use')


async def choose(
    live: LiveSession, setting_id: str, value: Chosen, *, switches: bool, by: str, widest_mode: Mode | None = None
) -> None:
    """Change a setting, from the next prompt (the model), model request or tool call on; `by` goes on record.

    Raises:
        InvalidRequest: There is no such setting or value, or the mode is wider than `widest_mode`; nothing is changed.
    """
    if setting_id == "mode" and widest_mode is not None:
        check_mode(str(value), widest=widest_mode)
    settings = settings_in(live, switches=switches)
    setting = next((setting for setting in settings if setting.id == setting_id), None)
    if setting is None:
        known = ", ".join(setting.id for setting in settings)
        raise InvalidRequest(f"there is no option {setting_id!r} in this session; there are: {known}")
    if not setting.options:
        if not isinstance(value, bool):
            raise InvalidRequest(f"the option {setting_id!r} is on or off; it takes true or false, not a name")
    elif isinstance(value, bool):
        raise InvalidRequest(f"the option {setting_id!r} takes one of its values, not true or false")
    else:
        what = setting.id if setting.id == "mode" else f"{setting.name.lower()} setting"
        if setting.id != "model":
            _check(value, setting.options, what=what)
    if setting_id == "mode":
        await choose_mode(live, str(value), by=by)
    else:
        await _SETTERS[setting_id](live, value)


async def choose_mode(live: LiveSession, mode: str, *, by: str) -> None:
    """Change the mode, from the next tool call on; `by` goes on record.

    Raises:
        InvalidRequest: There is no such mode.
        AuditUnwritable: It cannot be recorded.
    """
    _check(mode, MODES, what="mode")
    before = live.session.record.mode
    if mode != before:
        await RECORD.load()(live.configuration, "mode", before=before, by=by, mode=mode, session=live.session.id)
    await live.session.change(mode=mode)


async def choose_model(live: LiveSession, model: str) -> None:
    """Change the model, from the next prompt on. It need not be on offer if its provider can be used.

    The name of a provider alone means its first model.

    Raises:
        InvalidRequest: There is no such provider or route, or it cannot be used.
    """
    await live.session.change(model=_full_name(live, model))


async def _choose_thought_level(live: LiveSession, level: Chosen) -> None:
    await live.session.change(options={THOUGHT_LEVEL: level})


async def _choose_web(live: LiveSession, value: Chosen) -> None:
    await live.session.change(options={WEB: value in {True, "on"}})


_SETTERS: Mapping[str, Callable[[LiveSession, Chosen], Awaitable[None]]] = {
    "model": lambda live, value: choose_model(live, str(value)),
    THOUGHT_LEVEL: _choose_thought_level,
    WEB: _choose_web,
}

# ------------------------------------------------------------------ what is chosen


def models(live: LiveSession) -> Sequence[Option]:
    """The models on offer; the one in use is always among them."""
    current = live.session.record.model
    options = [
        Option(value=name, name=label, description=text) for name, label, text in available_models(live.settings)
    ]
    if all(option.value != current for option in options):
        about = OWN_CHOICE if current.endswith(f"/{PLUGIN_DEFAULT}") else None
        options.insert(0, Option(value=current, name=current, description=about))
    return options


def can_think(model: str, *, settings: Settings) -> bool:
    """Return whether the thinking effort of the model `provider/model` can be set."""
    provider, _, name = model.partition("/")
    profile = provider_profiles(settings).get(provider)
    return known_capabilities(name, None if profile is None else profile.about(name)).thinking


def effort_of(live: LiveSession, *, model: str, configured: Effort | None) -> Effort | None:
    """The thinking effort of `provider/model` in this session: chosen here, else configured."""
    chosen = _EFFORTS.get(_thought_level(live))
    return chosen if chosen is not None and can_think(model, settings=live.settings) else configured


def web_access(live: LiveSession) -> bool:
    """Return whether the model may fetch web pages."""
    return live.session.record.options.get(WEB, True) is not False


def hidden_tools(live: LiveSession) -> frozenset[str]:
    """The tools that are hidden from the model now."""
    return frozenset() if web_access(live) else _WEB_TOOLS


def _thought_level(live: LiveSession) -> str:
    level = live.session.record.options.get(THOUGHT_LEVEL)
    return level if isinstance(level, str) and level in _EFFORTS else "default"


def _full_name(live: LiveSession, model: str) -> str:
    """The full name of a typed model. It need not be on the list if its provider is usable."""
    if not model or any(option.value == model for option in models(live)):
        _check(model, models(live), what="model")
        return model
    try:
        choice = resolve(live.settings, model=model)
    except ClawError as error:
        raise InvalidRequest(f"there is no model {model!r} to choose: {error.message}") from error
    return model if "/" in model else choice.name


def _check(value: str, options: Sequence[Option], *, what: str) -> None:
    if all(option.value != value for option in options):
        known = ", ".join(option.value for option in options[:NAMED]) + (", ..." if len(options) > NAMED else "")
        raise InvalidRequest(f"there is no {what} {value!r}; choose one of {known}")
