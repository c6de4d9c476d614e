"""A pair for reading: its texts by letter, its votes as dots, what raters flagged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.domain.persona_card import PersonaCard, persona_card
from annotation.domain.plots.marks import DotRow, VoteDots, dots
from annotation.domain.rendering import language_of, to_html
from annotation.domain.tables import Column, Row, Table, Tag
from annotation.models import Flag
from annotation.templatetags.figures import criterion_name
from benchmark.models import Pair
from benchmark.selectors.pair_history import PairJudgement

Text = str | Promise

TARGETS: dict[str, Text] = {
    Flag.Target.PERSONA: _("The profile"),
    Flag.Target.QUERY: _("The question"),
    Flag.Target.A: _("Response A"),
    Flag.Target.B: _("Response B"),
}


@dataclass(frozen=True, slots=True)
class TextView:
    """A response under its letter."""

    letter: str
    source: str
    html: str
    lang: str
    characters: int
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class TextsView:
    """What is judged."""

    persona: PersonaCard
    persona_id: str
    persona_lang: str
    query: str
    query_lang: str
    responses: list[TextView]


def texts_view(pair: Pair, *, chosen: str = "") -> TextsView:
    """The texts as a rater sees them, but by letter."""
    card = persona_card(name=pair.persona.own_name, body=pair.persona.body)
    return TextsView(
        persona=card,
        persona_id=pair.persona.persona_id,
        persona_lang=language_of(card.all_text),
        query=pair.query,
        query_lang=language_of(pair.query),
        responses=[
            TextView(
                letter=letter,
                source=source,
                html=to_html(text),
                lang=language_of(text),
                characters=len(text),
                is_chosen=letter == chosen,
            )
            for letter, text, source in (
                ("A", pair.response_a, pair.source_a),
                ("B", pair.response_b, pair.source_b),
            )
        ],
    )


def vote_dots(key: str, judgements: Sequence[PairJudgement]) -> VoteDots:
    return dots(
        [
            DotRow(choice=each.choices[key], label=each.judgement.rater.pseudonym)
            for each in judgements
            if each.counted == "counted" and key in each.choices
        ],
        label=criterion_name(key),
    )


def flags_table(flags: Sequence[Flag]) -> Table | None:
    if not flags:
        return None
    return Table(
        name="flags",
        title=_("Flags by raters"),
        columns=(
            Column(key="target", title=_("About")),
            Column(key="kind", title=_("Kind")),
            Column(key="rater", title=_("By")),
            Column(key="at", title=_("At"), kind="moment"),
            Column(key="comment", title=_("Comment")),
            Column(key="state", title=_("State"), kind="tags"),
        ),
        rows=[_flag_row(flag) for flag in flags],
    )


def _flag_row(flag: Flag) -> Row:
    rater = flag.assignment.membership.rater
    return {
        "target": TARGETS[flag.target],
        "kind": flag.get_kind_display(),
        "rater": rater.pseudonym if rater else "",
        "at": flag.created_at,
        "comment": flag.comment,
        "state": [
            Tag(words=pgettext_lazy("flag", "resolved"))
            if flag.resolved_at
            else Tag(words=pgettext_lazy("flag", "open"), kind="warn")
        ],
    }
