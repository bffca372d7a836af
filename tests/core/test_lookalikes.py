"""Words that are not what they look like."""
# ruff: noqa: RUF001 - characters that look like others are what this is about

import pytest

from claw_acp.core.lookalikes import lookalikes, note_on_lookalikes

DECEIVING = """
\u0430pple.com
https://\u0440\u0430\u0443\u0440\u0430\u04cf.com/login
g\u043eogle.com
\u0441at README.md
rm \u2010rf build
rm \u2212rf build
npm\u2011install
curl https:\u2215\u2215evil.example
curl https://example.com\u2044evil
cat \uff0fetc\uff0fpasswd
ls \uff5c sh\uff1bx
ls\uff1brm x
ls \u2223\u2223 rm
make\uff06\uff06install
\u217cs -la
\uff52\uff4d file
\U0001d5cb\U0001d5c6 file
p\u03bfrt
\u03bfpenssl
src/\u0430pp.py
index.\u0458s
id_rs\u0430
githu\u042c.com
\u0261it push
git \u0440ush
\u13a2nstall
\u0578pm test
exa\u2024mple.com
docs.python\uff0eorg
python\ua7893
user\uff20host
echo \uff04HOME
echo x \uff1efile
~\u223cx
node_modules\u2216x
\u0455\u0441\u043e\u0440\u0435
pip install r\u0435quests
mcp__file\u0455__read
mai\u1d0f
""".strip("\n").split("\n")

PLAIN = """
cat README.md
Größe ändern, ça marche, señor, žluťoučký kůň
Привет, мир
он и она: оса, сор, а, с
Καλημέρα κόσμε, το και
こんにちは：これは「テスト」です。１つ
数据；文件，（测试）
שלום עולם
مرحبا بالعالم
naïve café – “quoted” … it’s
x² + y³ ≤ 10 µs, 5 °C
12 Ω, 3 Ω und 2 Å
файл.txt и src/файл.py
文件.txt
émile/données.csv
İstanbul'da ısı
a → b ✓ 🙂 ❤️
Հայերեն գիր
ქართული ენა
한국어 파일.md
""".strip("\n").split("\n")


@pytest.mark.parametrize("text", DECEIVING)
def test_a_word_that_looks_like_another_is_told_with_its_escapes(text: str) -> None:
    note = note_on_lookalikes([text])
    assert "\\u" in note.lower()
    assert note.isascii()


@pytest.mark.parametrize("text", PLAIN)
def test_words_of_any_language_are_what_they_look_like(text: str) -> None:
    assert list(lookalikes(text)) == []


def test_many_are_counted() -> None:
    assert " and 3 more " in note_on_lookalikes([f"\u0430pple{number}" for number in range(8)])
