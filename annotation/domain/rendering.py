"""Text of responses and guidelines as safe HTML, and the language it is in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from benchmark.formats.checks import is_blank

# No images and no raw HTML: a response may not load or run anything. Links keep their text only,
# since an annotator should compare what is written and not leave the page.
_TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "del", "code", "pre", "blockquote"),
    *("ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6"),
    *("table", "thead", "tbody", "tr", "th", "td", "div", "span"),
}
_ATTRIBUTES = {"ol": {"start"}, "div": {"class", "tabindex", "role", "aria-label"}, "*": {"dir"}}

# In the language of the text around it, since that is the voice it is read in.
_TABLE_NAMES = {"en": "Table", "zh-Hans": "表格"}


def _table_open(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    env: EnvType,
) -> str:
    """A wide table scrolls in a region of its own, which a keyboard can reach."""
    name = _TABLE_NAMES[env["language"]]
    return (
        f'<div class="prose-table" tabindex="0" role="region" aria-label="{name}">'
        + renderer.renderToken(tokens, index, options, env)
    )


def _table_close(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    env: EnvType,
) -> str:
    return renderer.renderToken(tokens, index, options, env) + "</div>\n"


def _parser(*, breaks: bool) -> MarkdownIt:
    # What is nested deeper than maxNesting vanishes: CommonMark's 20 is only nine levels of lists.
    options = {"html": False, "breaks": breaks, "maxNesting": 100}
    parser = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    return parser.disable("image")


_parsers = {breaks: _parser(breaks=breaks) for breaks in (False, True)}


@lru_cache(maxsize=4096)
def to_html(text: str, *, breaks: bool = True) -> str:
    """Markdown (CommonMark with tables) as sanitised HTML; the cache bounds the memory.

    ``breaks`` keeps single line breaks, as models mean them; a document's lines are only wrapped.
    """
    html = _parsers[breaks].render(text, {"language": language_of(text)})
    return nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, link_rel=None)


def shows_nothing(text: str) -> bool:
    """Whether a page has nothing to read of it: marks alone, link targets, entities of spaces."""
    return is_blank(nh3.clean(to_html(text), tags=set()))


@lru_cache(maxsize=4096)
def language_of(text: str) -> str:
    """``zh-Hans`` when a fifth of the letters are Chinese, else ``en``: picks font and breaking."""
    letters = [character for character in text[:2000] if character.isalpha()]
    chinese = sum("\u3400" <= character <= "\u9fff" for character in letters)
    return "zh-Hans" if letters and 5 * chinese >= len(letters) else "en"
