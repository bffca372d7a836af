"""The page on which a key is entered: plain HTML, no script, no external resources."""

from collections.abc import Sequence
from html import escape

from claw_acp.net.loopback_form import LoopbackForm

PROVIDER, KEY, UNTRIED = "provider", "key", "untried"
"""The names of the form's fields."""

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 34rem; margin: 12vh auto; padding: 0 1.5rem }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600 }
select, input, button { box-sizing: border-box; width: 100%; padding: .6rem; font: inherit }
button { margin-top: 1.25rem; cursor: pointer }
.problem { border-left: 4px solid #c33; padding: .25rem .75rem }
small { opacity: .75 }
"""


def form_page(
    providers: Sequence[tuple[str, str]], *, chosen: str, ticket: str, unencrypted: str = "", problem: str = "",
    may_skip_trial: bool = False,
) -> str:  # fmt: skip
    """The form.

    Args:
        providers: Names with labels.
        chosen: The one that is selected.
        ticket: Shows that an answer comes from this form.
        unencrypted: The file that keeps the key as it is; empty: the keyring keeps it.
        problem: What was wrong with the answer before.
        may_skip_trial: Offer to store a key untested.
    """
    place = "in the system's keyring"
    if unencrypted:
        place = (
            f"<strong>unencrypted</strong> in {escape(unencrypted)}, which only you can read, because no keyring of "
            "the system works here and CLAW_ACP_PASSPHRASE is not set (<code>claw-acp login</code> in a terminal can "
            "encrypt it with a passphrase)"
        )
    options = "".join(
        f'<option value="{escape(name)}"{" selected" if name == chosen else ""}>{escape(label)}</option>'
        for name, label in providers
    )
    told = f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else ""
    skip = f'<button name="{UNTRIED}" value="yes">Keep it without trying it</button>' if may_skip_trial else ""
    return _page(
        "Log in to a model provider",
        f"""{told}
<form method="post" autocomplete="off">
<input type="hidden" name="{LoopbackForm.TICKET}" value="{escape(ticket)}">
<label for="{PROVIDER}">Provider</label>
<select id="{PROVIDER}" name="{PROVIDER}">{options}</select>
<label for="{KEY}">API key</label>
<input id="{KEY}" name="{KEY}" type="password" required autofocus autocomplete="off" spellcheck="false">
<button>Try it and keep it</button>
{skip}
</form>
<p><small>The key is sent to the provider and kept on this computer, {place}.
Your editor does not see it. <code>claw-acp logout</code> forgets it.</small></p>""",
    )


def done_page(text: str) -> str:
    """The final page."""
    return _page("Logged in", f"<p>{escape(text)}</p><p>You can close this page and go back to your editor.</p>")


def _page(title: str, body: str) -> str:
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)} · claw-acp</title>'
        '<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">'
        f"<style>{_STYLE}</style><h1>{escape(title)}</h1>{body}</html>"
    )
