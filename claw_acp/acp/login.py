"""Logging in and out, and notifying clients of the login status. Shared by both protocols.

A key never passes through the protocol: it is entered on a page of this machine, in a terminal (`claw-acp login`), or
set where the program looks for it, as the error says.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

import anyio

from claw_acp.acp.connection import Connection
from claw_acp.acp.elicitation import Forms, ask_url, complete
from claw_acp.acp.handshake import KEY_METHOD, auth_methods
from claw_acp.acp.login_page import KEY, PROVIDER, UNTRIED, done_page, form_page
from claw_acp.contracts.questions import ChoiceField, FieldOption, Form
from claw_acp.core.errors import AuthRequired, ClawError, InvalidRequest, ProviderAuthFailed, ProviderError
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.quantity import quantity
from claw_acp.core.secret import Secret
from claw_acp.net.loopback_form import LoopbackForm, Page
from claw_acp.providers.registry.profiles import ProviderProfile
from claw_acp.providers.registry.services import OFFLINE
from claw_acp.rpc.peer import IncomingCall
from claw_acp.runtime.accounts import Accounts
from claw_acp.runtime.engine import Engine

PAGE_LIFE = 900.0  # seconds somebody has to fetch a key and enter it

META_KEPT = "claw-acp/keysThatStay"
"""In the `_meta` of a logout: the places of keys that it cannot remove."""


async def login(connection: Connection, call: IncomingCall, method_id: str) -> None:
    """Succeed when a model is set up, so that sessions can be started; ask for a key otherwise.

    Keys that appeared meanwhile, in a file or the environment, count: then no key is asked for.

    Raises:
        InvalidRequest: There is no such method, or the client runs it by itself.
        AuthRequired: There is still no usable key; the text says what to do.
        ConfigError: The configuration is wrong in a way that no key can fix.
    """
    callable_ones = [method["id"] for method in auth_methods(connection.client) if method.get("type") != "terminal"]
    if method_id not in callable_ones:
        known = ", ".join(repr(method) for method in callable_ones)
        raise InvalidRequest(f"{call.method}: there is no method {method_id!r} to call; there is {known}")
    accounts = (await connection.engine()).accounts
    accounts.look_again()
    status = accounts.status()
    if method_id == KEY_METHOD and (status.state == "unauthenticated" or not status.set_up):
        if connection.client.urls:
            await _ask_by_page(connection, call, accounts, provider=status.provider)
        elif connection.client.forms:
            await _ask_by_form(connection, call, accounts, provider=status.provider)
    accounts.check()


async def logout(connection: Connection) -> JsonObject:
    """Remove all logins and all overrides of this process; returns the result to send.

    Raises:
        ConfigError: A key could not be removed.
    """
    stays = await (await connection.engine()).accounts.log_out()
    return {"_meta": {META_KEPT: list(stays)}} if stays else {}


# ------------------------------------------------------------------ asking for a key


async def _ask_by_page(connection: Connection, call: IncomingCall, accounts: Accounts, *, provider: str) -> None:
    """Serve a page, have the client open it, and wait until a key was entered there.

    Raises:
        AuthRequired: The person declined, or took too long.
    """
    desk = _PageDesk(accounts, chosen=provider)
    form = desk.form = LoopbackForm(desk.answer, clock=connection.clock)
    question = new_id("eli")

    async def ask() -> None:
        action, _ = await ask_url(
            connection.peer,
            session=None,
            request=call.id,
            message="Enter a key for a model provider on this page of your own computer. It stays there.",
            url=form.url,
            elicitation=question,
        )
        if action != "accept":
            tasks.cancel_scope.cancel()

    with anyio.move_on_after(PAGE_LIFE):
        async with form.served(), anyio.create_task_group() as tasks:
            tasks.start_soon(ask, name="login")
            await form.finished.wait()
            tasks.cancel_scope.cancel()
    if form.finished.is_set():
        await complete(connection.peer, question)
    elif accounts.status().set_up:
        raise AuthRequired("no key was entered; log in again, or run `claw-acp login` in a terminal")


class _PageDesk:
    """Makes the pages, and tests and stores the key entered."""

    def __init__(self, accounts: Accounts, *, chosen: str) -> None:
        self.form: LoopbackForm | None = None
        self._accounts = accounts
        self._chosen = chosen
        self._unencrypted = ""

    async def answer(self, fields: Mapping[str, str] | None) -> Page:
        """See `loopback_form.Answer`."""
        self._unencrypted = await self._accounts.unencrypted_place()
        if fields is None:
            return self._again()
        self._chosen = fields.get(PROVIDER, "")
        key = fields.get(KEY, "").strip()
        if not key:
            return self._again("Enter the key.")
        try:
            trial = await self._accounts.log_in(self._chosen, Secret(key), tried=UNTRIED not in fields)
        except (AuthRequired, ProviderAuthFailed) as error:
            return self._again(error.message)
        except ProviderError as error:
            return self._again(error.message, may_skip_trial=True)
        except ClawError as error:
            return self._again(error.message)
        models = f" It offers {quantity(len(trial.listed), 'model')}." if trial is not None and trial.listed else ""
        return Page(html=done_page(f"The key for {self._chosen} is kept.{models}"), last=True)

    def _again(self, problem: str = "", *, may_skip_trial: bool = False) -> Page:
        assert self.form is not None
        return Page(
            html=form_page(
                list(labels(self._accounts.candidates()).items()),
                chosen=self._chosen,
                ticket=self.form.ticket,
                unencrypted=self._unencrypted,
                problem=problem,
                may_skip_trial=may_skip_trial,
            )
        )


async def _ask_by_form(connection: Connection, call: IncomingCall, accounts: Accounts, *, provider: str) -> None:
    """Have a provider chosen, and explain how to give its key: forms must not ask for secrets (ACP).

    Raises:
        AuthRequired: With the instructions; also when nothing was chosen and no session could be started.
    """
    profiles = accounts.candidates()
    options = [FieldOption(value=name, label=label) for name, label in labels(profiles).items()]
    if provider == "":
        options.append(FieldOption(value=OFFLINE.name, label="None: the built-in offline assistant"))
    names = [option.value for option in options]
    form = Form(
        session="",
        message="Which model provider do you want to use? You will be told how to give its key.",
        inputs=(
            ChoiceField(
                key=PROVIDER,
                title="Provider",
                options=tuple(options),
                default=provider if provider in names else names[0],
            ),
        ),
    )
    answer = await Forms(connection.peer, connection.client).ask(form, request=call.id)
    chosen = None if answer is None else answer.values.get(PROVIDER)
    profile = next((profile for profile in profiles if profile.name == chosen), None)
    if profile is not None:
        raise AuthRequired(how_to_give_a_key(profile))


def how_to_give_a_key(profile: ProviderProfile) -> str:
    """The instructions for giving a provider its key, without the protocol."""
    variable = profile.service.key_variable if profile.service else ""
    ways = [f"run `claw-acp login {profile.name}` in a terminal"]
    if variable:
        ways.append(f"set {variable} in the environment of the agent")
    ways.append(f"set api_key under [providers.{profile.name}] in config.toml")
    return f"{_called(profile)} needs a key: {', or '.join(ways)}; then try again"


def labels(profiles: Sequence[ProviderProfile]) -> Mapping[str, str]:
    """The label of each profile in a choice: its vendor; with name and host if a vendor has several."""
    vendors = Counter(_called(profile) for profile in profiles)
    return {
        profile.name: vendor
        if vendors[vendor] == 1
        else f"{vendor}: {profile.name} ({urlsplit(profile.base_url).hostname})"
        for profile in profiles
        for vendor in (_called(profile),)
    }


def _called(profile: ProviderProfile) -> str:
    return profile.service.vendor if profile.service else profile.name


# ------------------------------------------------------------------ telling


async def auth_status(connection: Connection, _call: IncomingCall, _params: JsonObject) -> JsonValue:
    """`auth/status`. From now on this client is notified of changes."""
    engine = await connection.engine()
    return connection.part(StatusSubscription, lambda: StatusSubscription(connection, engine)).current()


class StatusSubscription:
    """Notifies one client when its last `auth/status` is outdated.

    Only clients that asked are notified: the notification is unstable, and nothing else shows that a client supports
    it.
    """

    def __init__(self, connection: Connection, engine: Engine) -> None:
        self._connection = connection
        self._engine = engine
        self._told: JsonObject = {}
        engine.configuration.listeners.append(self._look)
        connection.on_close(lambda: engine.configuration.listeners.remove(self._look))

    def current(self) -> JsonObject:
        """The status, as it is sent to the client next."""
        self._told = _status(self._engine.accounts)
        return self._told

    def _look(self) -> None:
        status = _status(self._engine.accounts)  # looking may notice another change, and tell of it first
        if status != self._told:
            self._told = status
            self._connection.tasks.start_soon(
                self._connection.peer.notify, "auth/status_update", status, name="auth status"
            )


def _status(accounts: Accounts) -> JsonObject:
    status = accounts.status()
    shown: list[JsonValue] = [{"label": account.label, "active": account.active} for account in status.accounts]
    return {"state": status.state} | ({"accounts": shown} if shown else {})
