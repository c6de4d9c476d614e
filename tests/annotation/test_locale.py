"""The Chinese catalogue: complete, compiled, well set, and in use.

After a change of words (GNU gettext is needed for this alone):

    python manage.py makemessages -l zh_Hans --ignore .venv --ignore var --ignore tests \
        --no-location --no-wrap --no-obsolete

then translate what is empty or fuzzy, leave the dates and names out of the header, and run
``python manage.py compilemessages --ignore .venv``.
"""

from __future__ import annotations

import ast
import gettext
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils.translation.template import templatize

ROOT = Path(settings.BASE_DIR)
FOLDER = ROOT / "annotation" / "locale" / "zh_Hans" / "LC_MESSAGES"

# Where each function has its context, message and plural.
PLACES = {
    "_": (None, 0, None),
    "gettext": (None, 0, None),
    "ngettext": (None, 0, 1),
    "pgettext": (0, 1, None),
    "npgettext": (0, 1, 2),
}
HAN = r"[\u3400-\u9fff]"
WIDE = "，。：；？！（）、《》“”"
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd%]|\{\w*\}")
TAG = re.compile(r"<[^>]+>")


@dataclass(frozen=True, slots=True, order=True)
class Message:
    text: str
    context: str = ""
    plural: str = ""


@dataclass(slots=True)
class Entry:
    flags: set[str] = field(default_factory=set)
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def message(self) -> Message:
        return Message(
            self.fields["msgid"],
            self.fields.get("msgctxt", ""),
            self.fields.get("msgid_plural", ""),
        )

    @property
    def translation(self) -> str:
        """Chinese has one form for all numbers."""
        return self.fields["msgstr[0]" if self.message.plural else "msgstr"]


def read_po(path: Path) -> Iterator[Entry]:
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        entry, name = Entry(), ""
        for line in block.strip().splitlines():
            if line.startswith("#,"):
                entry.flags |= {flag.strip() for flag in line[2:].split(",")}
            elif line.startswith("#"):
                assert not line.startswith("#~"), f"obsolete: {line}"
            else:
                keyword, quote, rest = line.partition('"')
                name = keyword.strip() or name
                entry.fields[name] = entry.fields.get(name, "") + ast.literal_eval(quote + rest)
        yield entry


HEADER, *ENTRIES = read_po(FOLDER / "django.po")


def _calls(tree: ast.AST, functions: dict[str, str]) -> Iterator[Message]:
    """The messages of translating calls; ``functions`` are the names that they go by."""
    for node in ast.walk(tree):
        if not (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in functions
        ):
            continue
        context, text, plural = (
            "" if place is None else ast.literal_eval(node.args[place])
            for place in PLACES[functions[node.func.id]]
        )
        yield Message(text, context, plural)


def _in_python(source: str) -> Iterator[Message]:
    tree = ast.parse(source)
    functions = {
        alias.asname or alias.name: name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation"
        for alias in node.names
        if (name := alias.name.removesuffix("_lazy").removesuffix("_noop")) in PLACES
    }
    return _calls(tree, functions)


def _in_template(source: str) -> Iterator[Message]:
    """By Django's own reading of templates: calls of gettext among blotted-out markup."""
    text = templatize(source)
    for match in re.finditer(r"(?<=\s)(?:n?p?gettext|_)\(", text):
        for end in re.finditer(r"\)", text[match.end() :]):
            try:
                tree = ast.parse(text[match.start() : match.end() + end.end()])
            except SyntaxError:
                continue
            # What follows a plural is a name, which is no message.
            yield from _calls(tree, {name: name for name in PLACES})
            break


def _sources() -> Iterator[Message]:
    for package in ("annotation", "benchmark"):
        for path in (ROOT / package).rglob("*.py"):
            yield from _in_python(path.read_text(encoding="utf-8"))
    for path in (ROOT / "templates").rglob("*.html"):
        yield from _in_template(path.read_text(encoding="utf-8"))


def _names(messages: Iterable[Message]) -> set[tuple[str, str]]:
    """What tells messages apart: a plural belongs to its singular, which may stand alone, too."""
    return {(message.context, message.text) for message in messages}


def test_the_readers_find_every_kind_of_message() -> None:
    python = """
from django.utils.translation import gettext_lazy as _, ngettext, pgettext_lazy
_("one " "text"); ngettext("%(n)s cup", "%(n)s cups", n); pgettext_lazy("of tea", "cup")
gettext("not imported")
"""
    assert set(_in_python(python)) == {
        Message("one text"),
        Message("%(n)s cup", plural="%(n)s cups"),
        Message("cup", context="of tea"),
    }
    template = """
{% trans "95% (of 'all')" %} {% translate "tea" context "drink" %} {{ a|default:_("none") }}
{% include "x.html" with label=_("A label") %}
{% blocktrans trimmed count n=cups %}
  One
  {{ n }} cup{% plural %}{{ n }} cups{% endblocktrans %}
"""
    assert set(_in_template(template)) == {
        Message("95%% (of 'all')"),
        Message("tea", context="drink"),
        Message("none"),
        Message("A label"),
        Message("One %(n)s cup", plural="%(n)s cups"),
    }


def test_every_text_of_the_interface_is_in_the_catalogue() -> None:
    assert _names(_sources()) - _names(entry.message for entry in ENTRIES) == set()


def test_the_catalogue_holds_no_text_that_is_gone() -> None:
    assert _names(entry.message for entry in ENTRIES) - _names(_sources()) == set()


def test_plurals_are_those_of_the_sources() -> None:
    wanted = {message for message in _sources() if message.plural}
    assert wanted == {entry.message for entry in ENTRIES if entry.message.plural}


def test_the_header_says_no_more_than_it_must() -> None:
    assert HEADER.message.text == ""
    assert "fuzzy" not in HEADER.flags
    names = [line.partition(":")[0] for line in HEADER.translation.splitlines()]
    assert names == [
        "Project-Id-Version",
        "Language",
        "MIME-Version",
        "Content-Type",
        "Content-Transfer-Encoding",
        "Plural-Forms",
    ]
    assert "nplurals=1; plural=0;" in HEADER.translation


def _has_words(text: str) -> bool:
    return any(character.isalpha() for character in PLACEHOLDER.sub("", text))


def test_everything_is_translated() -> None:
    assert [entry.message for entry in ENTRIES if "fuzzy" in entry.flags] == []
    # Names of data and of formats are the same in every language; punctuation has no characters.
    assert [
        entry.message
        for entry in ENTRIES
        if entry.message.text not in ("A", "B", "CSV", "JSON", "< 0.001")
        and not re.search(HAN if _has_words(entry.message.text) else f"[{WIDE}]", entry.translation)
    ] == []


@pytest.mark.parametrize("pattern", [PLACEHOLDER, TAG], ids=["placeholders", "markup"])
def test_nothing_is_lost_in_translation(pattern: re.Pattern[str]) -> None:
    for entry in ENTRIES:
        source = entry.message.plural or entry.message.text
        kept = sorted(pattern.findall(entry.translation))
        assert kept == sorted(pattern.findall(source)), entry.message


def test_it_is_set_as_chinese_is() -> None:
    """Full-width punctuation, no space beside it, one between Chinese and Latin letters."""
    wrong = re.compile(
        rf"""
        {HAN}[,.:;?!()] | [,.:;?!()]{HAN}      # half-width punctuation
        | \s[{WIDE}] | [{WIDE}]\s | ^\s | \s$  # space beside full-width punctuation, or at an end
        | {HAN}\s{HAN} | \s\s                 # needless space
        | {HAN}[A-Za-z0-9] | [A-Za-z0-9]{HAN}  # none between the scripts
        | \.\.\. | (?<!…)…(?!…)                # an ellipsis has six dots
        """,
        re.VERBOSE,
    )
    # What stands for a placeholder may be of either script.
    texts = [PLACEHOLDER.sub("*", TAG.sub("", entry.translation)) for entry in ENTRIES]
    assert [text for text in texts if wrong.search(text)] == []


def test_the_compiled_catalogue_is_the_same() -> None:
    path = FOLDER / "django.mo"
    with path.open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for entry in ENTRIES:
        message = entry.message
        if message.plural:
            found = compiled.ngettext(message.text, message.plural, 2)
        elif message.context:
            found = compiled.pgettext(message.context, message.text)
        else:
            found = compiled.gettext(message.text)
        assert found == entry.translation, message
    magic, _, count = struct.unpack("<3I", path.read_bytes()[:12])
    assert magic == 0x950412DE
    assert count == len(ENTRIES) + 1, "the header and the messages, no more"


@pytest.mark.django_db
@pytest.mark.parametrize("wanted", ["zh", "zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"])
def test_a_browser_that_asks_for_chinese_gets_it(wanted: str) -> None:
    response = Client().get(reverse("login"), headers={"accept-language": wanted})
    page = response.content.decode()
    assert '<html lang="zh-hans">' in page
    assert response["Content-Language"] == "zh-hans"
    for words in ("登录", "用户名", "密码", "跳到正文"):
        assert words in page
    assert "Sign in" not in page


@pytest.mark.django_db
def test_other_browsers_get_english() -> None:
    page = Client().get(reverse("login"), headers={"accept-language": "fr"}).content.decode()
    assert '<html lang="en">' in page
    assert "Sign in" in page
