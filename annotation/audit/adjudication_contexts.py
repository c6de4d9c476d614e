"""What the adjudication desk is given: the queue, one pair without sources, what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import Http404, QueryDict
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.audit.pair_texts import TextsView, flags_table, texts_view, vote_dots
from annotation.audit.pair_words import read_id, shortened, split_words, status_tag
from annotation.domain.plots.marks import VoteDots
from annotation.domain.tables import Column, Table, Tag
from annotation.models import Campaign, Membership
from annotation.selectors.adjudication import (
    KINDS,
    Kind,
    QueueRow,
    adjudications_of,
    flags_of,
    newest_aggregation,
    queue,
    queue_counts,
    queue_row,
)
from annotation.templatetags.figures import criterion_name
from benchmark.models import Adjudication, Pair, Run
from benchmark.selectors.pair_history import pair_judgements, pair_of, verdict_of
from benchmark.selectors.pair_rows import decided

Text = str | Promise

QUEUE_SHOWN = 25
DECIDED_SHOWN = 25

KIND_WORDS: dict[Kind, Text] = {
    "flagged": _("Flagged by raters"),
    "conflict": _("Criteria disagree"),
    "tied": _("Tied"),
    "insufficient": _("Too few votes"),
}

NOTICES: dict[str, Text] = {
    "decided": _("The decision is kept. It takes effect in the next aggregation."),
    "undone": _("The decision is undone: from the next aggregation on the votes speak again."),
    "unchanged": _("It was undone already: nothing has changed."),
}


@dataclass(frozen=True, slots=True)
class KindView:
    label: Text
    count: int
    address: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class WaitingView:
    """A line of the queue."""

    address: str
    pair_id: str
    query: str
    tags: list[Tag]
    is_current: bool


@dataclass(frozen=True, slots=True)
class CaseView:
    """The pair to decide on. ``splits`` do not say for which response: ``dots`` do."""

    id: int
    pair_id: str
    texts: TextsView
    tags: list[Tag]
    splits: list[tuple[Text, str]]
    flags: Table | None
    dots: list[tuple[Text, VoteDots]]
    votes_decide: str  # the response that the votes name; empty while they leave it open
    in_force: Adjudication | None
    pair_address: str  # of its page in the run; empty without a run
    later_address: str  # of the next in the queue; empty for the last


@dataclass(frozen=True, slots=True)
class DeskView:
    campaign: Campaign
    run: Run | None
    may_lead: bool
    kind: str
    kinds: list[KindView]
    total: int
    waiting: list[WaitingView]
    more: int
    case: CaseView | None
    decided: Sequence[Adjudication]
    decided_count: int
    notice: Text


def read_kind(text: str) -> Kind | None:
    return next((kind for kind in KINDS if kind == text), None)


def desk_view(membership: Membership, query: QueryDict, *, pair: Pair | None = None) -> DeskView:
    """``pair`` is that of a refused decision, else the query names it.

    A fixed number of queries. Raises Http404 for a pair of another set.
    """
    campaign = membership.campaign
    kind = read_kind(query.get("kind", ""))
    run = newest_aggregation(campaign)
    counts = queue_counts(campaign, run)
    waiting = queue(campaign, run, kind=kind, limit=QUEUE_SHOWN)
    if pair is None:
        pair = _asked(campaign, query.get("pair", ""), waiting)
    decisions = adjudications_of(campaign)
    return DeskView(
        campaign=campaign,
        run=run,
        may_lead=membership.may_lead,
        kind=kind or "",
        kinds=[
            KindView(
                label=KIND_WORDS[each] if each else _("All"),
                count=counts.of(each),
                address=_address(campaign, kind=each),
                is_current=each == kind,
            )
            for each in (None, *KINDS)
        ],
        total=counts.total,
        waiting=[
            WaitingView(
                address=_address(campaign, kind=kind, pair=row.id),
                pair_id=row.pair_id,
                query=shortened(row.query),
                tags=_tags(row),
                is_current=pair is not None and row.id == pair.pk,
            )
            for row in waiting
        ],
        more=max(counts.of(kind) - len(waiting), 0),
        case=_case(campaign, run, pair, kind) if pair else None,
        decided=list(decisions[:DECIDED_SHOWN]),
        decided_count=decisions.count(),
        notice=NOTICES.get(query.get("notice", ""), ""),
    )


def _asked(campaign: Campaign, text: str, waiting: Sequence[QueueRow]) -> Pair | None:
    """The pair that the query names, else the first of the queue."""
    asked = read_id(text)
    if asked is not None:
        pair = pair_of(campaign.pair_set, asked)
        if pair is None:
            raise Http404
        return pair
    return pair_of(campaign.pair_set, waiting[0].id) if waiting else None


def following_address(
    campaign: Campaign, *, pair: Pair, kind: Kind | None, notice: str = ""
) -> str:
    """Of the pair that comes after this one in the queue; without one, of the whole queue.

    To be asked before the pair is decided, since it leaves the queue then.
    """
    run = newest_aggregation(campaign)
    row = queue_row(campaign, run, pair.pk)
    rows = queue(campaign, run, kind=kind, after=row, limit=1) if row else []
    return _address(campaign, kind=kind, pair=rows[0].id if rows else None, notice=notice)


def _address(
    campaign: Campaign, *, kind: Kind | None, pair: int | None = None, notice: str = ""
) -> str:
    named = {"kind": kind or "", "pair": str(pair) if pair else "", "notice": notice}
    query = QueryDict(mutable=True)
    query.update({name: value for name, value in named.items() if value})
    address = reverse("adjudication", args=[campaign.slug])
    return f"{address}?{query.urlencode()}" if query else address


def _tags(row: QueueRow) -> list[Tag]:
    tags = [status_tag(row.status)] if row.status else []
    if row.flags:
        tags.append(Tag(words=_("flagged"), kind="warn"))
    return tags


def _case(campaign: Campaign, run: Run | None, pair: Pair, kind: Kind | None) -> CaseView:
    verdict = verdict_of(run, pair) if run else None
    judgements = pair_judgements(run, pair) if run else []
    found = decided(run) if run and verdict else None
    row = queue_row(campaign, run, pair.pk)
    following = queue(campaign, run, kind=kind, after=row, limit=1) if row else []
    in_force = Adjudication.objects.in_force().filter(pair=pair).first()
    splits: list[tuple[Text, str]] = []
    if found and verdict:
        for key, counts in found.patterns.counts.items():
            a, b, tie, _skip = counts[verdict.pattern].tolist()
            splits.append((criterion_name(key), split_words(max(a, b), min(a, b), tie)))
    return CaseView(
        id=pair.pk,
        pair_id=pair.pair_id,
        texts=texts_view(pair),
        tags=[status_tag(verdict.status)] if verdict else [],
        splits=splits,
        flags=flags_table(flags_of(campaign, pair.pk)),
        dots=[
            (criterion_name(key), vote_dots(key, judgements))
            for key in (found.patterns.counts if found else ())
        ],
        votes_decide=verdict.chosen if verdict and not verdict.adjudication_id else "",
        in_force=in_force,
        pair_address=reverse("run_pair", args=[campaign.slug, run.pk, pair.pk]) if run else "",
        later_address=_address(campaign, kind=kind, pair=following[0].id) if following else "",
    )


def adjudications_table(membership: Membership, run: Run, query: QueryDict) -> Table:
    """Every decision that was ever made on the set's pairs, newest first."""
    return Table(
        name="adjudications",
        title=_("Adjudications"),
        columns=(
            Column(key="pair", title=_("Pair")),
            Column(key="decision", title=_("Decision")),
            Column(key="reason", title=_("Reason")),
            Column(key="by", title=_("By")),
            Column(key="at", title=_("At"), kind="moment"),
            Column(key="revoked_by", title=_("Undone by")),
            Column(key="revoked_at", title=_("Undone at"), kind="moment"),
        ),
        rows=[
            {
                "pair": each.pair.pair_id,
                "decision": each.decision,
                "reason": each.reason,
                "by": each.by,
                "at": each.created_at,
                "revoked_by": each.revoked_by or None,
                "revoked_at": each.revoked_at,
            }
            for each in adjudications_of(membership.campaign)
        ],
    )
