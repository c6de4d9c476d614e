"""Text of responses and guidelines as safe HTML, and the language it is in."""

from __future__ import annotations

from functools import lru_cache

import nh3
from markdown_it import MarkdownIt

# No images and no raw HTML: a response may not load or run anything. Links keep their text only,
# since an annotator should compare what is written and not leave the page.
_TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "del", "code", "pre", "blockquote"),
    *("ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6"),
    *("table", "thead", "tbody", "tr", "th", "td", "div", "span"),
}
_ATTRIBUTES = {"ol": {"start"}, "div": {"class", "tabindex", "role"}, "*": {"dir"}}


def _parser(*, breaks: bool) -> MarkdownIt:
    # What is nested deeper than maxNesting vanishes: CommonMark's 20 is only nine levels of lists.
    options = {"html": False, "breaks": breaks, "maxNesting": 100}
    parser = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    return parser.disable("image")


_parsers = {breaks: _parser(breaks=breaks) for breaks in (False, True)}


@lru_cache(maxsize=4096)
def to_html(text: str, *, breaks: bool = True) -> str:
    """Markdown (CommonMark with tables) as sanitised HTML; the cache bounds the memory.

    ``breaks`` keeps single line breaks, as models mean them; a document's lines are only wrapped.
    """
    html = _parsers[breaks].render(text)
    return nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, link_rel=None)


@lru_cache(maxsize=4096)
def language_of(text: str) -> str:
    """``zh-Hans`` when a fifth of the letters are Chinese, else ``en``: picks font and breaking."""
    letters = [character for character in text[:2000] if character.isalpha()]
    chinese = sum("\u3400" <= character <= "\u9fff" for character in letters)
    return "zh-Hans" if letters and 5 * chinese >= len(letters) else "en"
