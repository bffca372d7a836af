"""HTML made readable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.tools.web.html import html_to_text
from claw_acp.tools.web.markup import EndTag, StartTag, Text, tokens

BASE = "https://example.org/docs/page"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("just text", "just text"),
        ("<head><title>A &amp; B</title><meta x></head><body>hi", "# A & B\n\nhi"),
        ("<h1>One</h1><h3>Three <em>x</em></h3>", "# One\n\n### Three x"),
        ("<p>a\n  b</p><p>c<br>d</p>", "a b\n\nc\nd"),
        ("<a href='/x?a=1&amp;b=2'> the <b>link</b> </a>.", "[the link](https://example.org/x?a=1&b=2) ."),
        ("<a href='#top'>up</a> <a href='javascript:x()'>js</a> <a>bare</a>", "up js bare"),
        ("<a href='http://[bad'>x</a>", "x"),
        ("<a href=one>1<a href=two>2</a>", "[1](https://example.org/docs/one)[2](https://example.org/docs/two)"),
        ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>", "- a\n- b\n  - c\n- d"),
        ("<ol><li>a</li><li>b</li></ol>after", "1. a\n2. b\n\nafter"),
        ("<pre><code>a = 1\n  b &lt; 2</code></pre>", "```\na = 1\n  b < 2\n```"),
        ("call <code>f()</code>", "call `f()`"),
        ("<table><tr><th>A<th>B<tr><td>1<td>2</table>", "| A | B\n| 1 | 2"),
        ("<img alt='a  cat' src=x><img alt=''>", "[image: a cat]"),
        ("<script>if (a<!b) '</p>'</script>seen<style>p{}</style>", "seen"),
        ("<nav>menu</nav>text<noscript>no</noscript><svg><text>x</text></svg>", "text"),
        ("<nav>all <p>of it", "all\n\nof it"),
        ("a<!-- <p>hidden --> b<!DOCTYPE html><?php x ?>c", "a bc"),
        ("a <!-- never closed b", "a never closed b"),
        ("1 < 2 <3 &lt; &#x41; &nosuch; &#99999999999999;", "1 < 2 <3 < A &nosuch; \ufffd"),
        ("cut <a href='x", "cut"),
        ("</p></ul></a></pre>x", "x"),
    ],
)
def test_a_page_reads_as_text(html: str, text: str) -> None:
    assert html_to_text(html, base_url=BASE) == text


def test_attributes_are_read_in_every_spelling() -> None:
    found = list(tokens("""<A Href="x y" b='c"d' e=f/g h i="" / j='>' h=2>text</A >"""))
    attributes = {"href": "x y", "b": 'c"d', "e": "f/g", "h": "", "i": "", "j": ">"}
    assert found == [StartTag(name="a", attributes=attributes), Text(text="text"), EndTag(name="a")]


def test_a_character_number_of_thousands_of_digits_is_left_alone() -> None:
    text = f"&#{'1' * 5000};"
    assert html_to_text(text, base_url=BASE) == text


_MARKUP = st.lists(
    st.sampled_from(["<", ">", "</", "<!", "<!--", "-->", "<![", "<?", "<a ", "href=", "'", '"', "=", "/", " ", "\n"])
    | st.sampled_from(
        ["<script>", "</script", "<nav>", "</nav>", "<li>", "<ul>", "</ul>", "<pre>", "</pre>", "<title>"]
    )
    | st.text(max_size=3),
    max_size=30,
).map("".join)


@given(html=_MARKUP)
def test_no_markup_however_broken_raises(html: str) -> None:
    html_to_text(html, base_url=BASE)


@pytest.mark.parametrize(
    "piece",
    ["<a ", "<a href=' ", "<!--", "<![", "</", "<nav>", "<script></", "<ul><li>", '<a x="', "<svg></x>", "&#", "<p  "],
)
def test_broken_markup_takes_no_more_than_linear_time(piece: str) -> None:
    html_to_text(piece * 30_000, base_url=BASE)  # with quadratic time the suite's own limit would end this
