"""Destinations: one form for each host, and none that a resolver or a server could read in another way."""

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.net.proxy.destination import BadDestination, Destination, destination_of, host_name, is_address, target_of

LABELS = st.from_regex(r"[a-z0-9_]([a-z0-9_-]{0,20}[a-z0-9_])?", fullmatch=True)
NAMES = st.lists(LABELS, min_size=1, max_size=4).map(".".join).filter(lambda name: not is_address(name))


@given(name=NAMES, port=st.integers(1, 65_535), dot=st.booleans())
def test_a_host_has_one_form_whatever_its_case_and_final_dot(name: str, port: int, *, dot: bool) -> None:
    written = name.upper() + "." * dot
    assert destination_of(f"{written}:{port}") == Destination(host=name, port=port)
    assert host_name(written) == name


NO_HOSTS = """a..b|.a|a..|a%00.b|a\0b|a\rb|a\nb|a\tb|a b|a%2eb|a@b|a/b|a:b|a:b:1|[::1|::1]|[::1%lo]|[fe80::1%25lo]|-a|a-
|*.a|a*b|a,b|a\n|a.\n|m\xfcnchen.de|\uff45xample.com|\u212aube.io"""
TOO_LONG = ["a" * 64, f"{'a' * 64}.b", ".".join(["abcd"] * 51), "a." * 128]


@pytest.mark.parametrize("text", ["", *NO_HOSTS.split("|"), *TOO_LONG])
def test_what_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(BadDestination):
        destination_of(f"{text}:443")
    with pytest.raises(BadDestination):
        host_name(text)


@pytest.mark.parametrize(
    "text", ["a", "a:", "a:0", "a:65536", "a:x", "a:-1", "a:+80", "a: 80", "a:80 ", "a:1e2", "a:\uff18\uff10"]
)
def test_a_port_has_to_be_there_and_to_exist(text: str) -> None:
    with pytest.raises(BadDestination):
        destination_of(text)


@given(address=st.ip_addresses())
def test_every_address_is_known_as_one(address: object) -> None:
    text = str(address)
    assert is_address(destination_of(f"[{text}]:443" if ":" in text else f"{text}:443").host)
    with pytest.raises(BadDestination):
        host_name(text)


@given(number=st.integers(0, 2**32 - 1), form=st.sampled_from(("{}", "0x{:x}", "0{:o}", "a.{}", "1.{}")))
def test_what_a_resolver_takes_for_an_address_is_no_name(number: int, form: str) -> None:
    text = form.format(number)
    try:
        socket.inet_aton(text)
    except OSError:
        return
    assert is_address(text)


@pytest.mark.parametrize(
    ("url", "host", "port", "target"),
    [
        ("http://a.test", "a.test", 80, "/"),
        ("HTTP://A.Test.:8080?q=1", "a.test", 8080, "/?q=1"),
        ("http://a.test/b/http://c.test/#part", "a.test", 80, "/b/http://c.test/"),
    ],
)
def test_an_address_of_plain_http_is_a_destination_and_a_target(url: str, host: str, port: int, target: str) -> None:
    assert target_of(url) == (Destination(host=host, port=port), target)


@pytest.mark.parametrize("url", ["/", "*", "a.test:80", "https://a.test/", "ftp://a.test/", "http:///", "http://u@a.test/",
    "http://u:p@a.test/", "http://a.test\\@b.test/", "http://a.test:80:80/", "http:/a.test/"])  # fmt: skip
def test_no_other_address_is_forwarded(url: str) -> None:
    with pytest.raises(BadDestination):
        target_of(url)
