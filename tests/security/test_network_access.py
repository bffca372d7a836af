"""Rules about the connections of confined commands, and the questions where there is none."""

import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core.errors import ConfigError
from claw_acp.net.proxy.destination import Destination
from claw_acp.net.proxy.verdict import Verdict
from claw_acp.security.network_access import MOST_ASKED, NetworkAccess
from claw_acp.security.rules import Rule, RuleVerdict, parse_rule
from claw_acp.security.verdicts import Decision


def rules(*texts: str, verdict: RuleVerdict = "allow") -> list[Rule]:
    """Rules with one verdict."""
    return [parse_rule(text, verdict=verdict) for text in texts]


async def verdict(host: str, *given: Rule, port: int = 443) -> Verdict:
    """The verdict where nobody is asked."""
    return await NetworkAccess(given).decide(Destination(host=host, port=port))


@pytest.mark.parametrize(
    ("rule", "host", "port", "allowed"),
    [
        ("network(a.org)", "a.org", 443, True),
        ("network(A.org.)", "a.org", 80, True),
        ("network(a.org)", "a.org", 22, False),
        ("network(a.org)", "b.a.org", 443, False),
        ("network(a.org)", "ba.org", 443, False),
        ("network(*.a.org)", "c.b.a.org", 443, True),
        ("network(*.a.org)", "a.org", 443, False),
        ("network(*.a.org)", "ba.org", 443, False),
        ("network(*.a.org:8443)", "b.a.org", 8443, True),
        ("network(*.a.org:8443)", "b.a.org", 443, False),
        ("network(a.org:22)", "a.org", 22, True),
        ("network(a.org:443)", "a.org", 80, False),
        ("network", "a.org", 5432, True),
        ("fetch(a.org)", "a.org", 443, False),
        ("shell", "a.org", 443, False),
    ],
)
async def test_a_permission_is_for_its_hosts_and_ports(rule: str, host: str, port: int, *, allowed: bool) -> None:
    assert (await verdict(host, *rules(rule), port=port)).allowed is allowed


LABELS = st.text("ab-", min_size=1, max_size=3).filter(lambda label: label.strip("-") == label)
NAMES = st.lists(LABELS, min_size=1, max_size=4).map(".".join)


@given(
    name=NAMES,
    host=NAMES,
    port=st.sampled_from((None, 22, 443)),
    asked=st.sampled_from((22, 80, 443)),
    below=st.booleans(),
)
async def test_a_rule_covers_its_host_or_what_is_below_it_label_by_label(
    name: str, host: str, port: int | None, asked: int, *, below: bool
) -> None:
    rule = f"network({'*.' * below}{name}{'' if port is None else f':{port}'})"
    labels, wanted = host.split("."), name.split(".")
    hosts = labels[-len(wanted) :] == wanted and (len(labels) > len(wanted)) is below
    found = await verdict(host, *rules(rule), port=asked)
    assert found.allowed is (hosts and (asked == port if port else asked != 22))


async def test_a_refusal_is_for_all_ports_and_comes_before_every_permission() -> None:
    given = (*rules("network", "network(b.a.org)"), *rules("network(*.a.org)", verdict="deny"))
    for port in (443, 80, 22):
        found = await verdict("b.a.org", *given, port=port)
        assert (found.allowed, found.rule, found.remedy) == (False, "network(*.a.org)", "")
        assert found.reason.startswith("The rule `network(*.a.org)` forbids connecting to b.a.org")
    assert (await verdict("a.org", *given)).allowed


async def test_without_rules_nothing_is_reached_and_the_rule_that_would_allow_it_is_named() -> None:
    assert await verdict("a.org", port=8443) == Verdict(
        allowed=False,
        remedy="network(a.org:8443)",
        reason="It connects to a.org:8443, which no rule allows.",
    )


@pytest.mark.parametrize(
    ("rule", "private"),
    [("network(private wiki.lan)", True), ("network(wiki.lan)", False), ("network", False), ("network(*.lan)", False)],
)
async def test_only_a_rule_that_says_so_opens_a_private_network(rule: str, *, private: bool) -> None:
    found = await verdict("wiki.lan", *rules(rule))
    assert (found.allowed, found.private) == (True, private)


@pytest.mark.parametrize("answer", [True, False])
@pytest.mark.parametrize("given", [[], rules("network(a.org)", verdict="ask")])
async def test_where_no_rule_decides_a_person_does_but_not_about_private_networks(
    given: list[Rule], *, answer: bool
) -> None:
    asked: list[Decision] = []

    async def ask(decision: Decision) -> bool:
        asked.append(decision)
        return answer

    found = await NetworkAccess(given, ask=ask).decide(Destination(host="a.org", port=443))
    assert (found.allowed, found.private, found.remedy) == (answer, False, "network(a.org)")
    assert [decision.verdict for decision in asked] == ["ask"]
    assert asked[0].remember == (() if given else ("network(a.org)",))


@pytest.mark.parametrize("host", ["localhost", "a.localhost"])
async def test_nobody_is_asked_about_this_machine_since_an_answer_would_not_open_it(host: str) -> None:
    async def ask(decision: Decision) -> bool:
        raise AssertionError(decision)

    found = await NetworkAccess([], ask=ask).decide(Destination(host=host, port=8080))
    assert (found.allowed, found.remedy) == (False, f"network(private {host}:8080)")
    assert parse_rule(found.remedy, verdict="allow")


async def test_one_answer_is_for_the_ports_that_one_rule_would_cover_and_questions_come_one_at_a_time() -> None:
    asked, most = list[str](), list[int]()

    async def ask(decision: Decision) -> bool:
        asked.append(decision.remember[0])
        most.append(len(asked))
        await anyio.lowlevel.checkpoint()
        assert most[-1] == len(asked)
        return True

    access = NetworkAccess([], ask=ask)
    async with anyio.create_task_group() as tasks:
        for port in (443, 80, 22, 443):
            tasks.start_soon(access.decide, Destination(host="a.org", port=port))
    assert asked == ["network(a.org)", "network(a.org:22)"]


async def test_a_person_is_not_asked_without_end_about_one_command() -> None:
    asked: list[Decision] = []

    async def ask(decision: Decision) -> bool:
        asked.append(decision)
        return True

    access = NetworkAccess([], ask=ask)
    found = [await access.decide(Destination(host=f"a{number}.org", port=443)) for number in range(MOST_ASKED + 5)]
    assert [verdict.allowed for verdict in found] == [True] * MOST_ASKED + [False] * 5
    assert len(asked) == MOST_ASKED


@pytest.mark.parametrize(
    "text",
    ["network()", "network(*)", "network(127.0.0.1)", "network(::1)", "network([::1]:443)", "network(0x7f.1)",
     "network(1)", "network(a.1)", "network(a.org:)", "network(a.org:0)", "network(a.org:70000)", "network(a.org:x)",
     "network(https://a.org)", "network(a.org/b)", "network(private *.lan)", "network(a b)", "network(a*.org)",
     "network(*.*.org)", "network(a..org)", "network(.a.org)"],
)  # fmt: skip
def test_a_rule_that_could_cover_no_host_or_is_about_an_address_is_none(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_rule(text, verdict="allow")
