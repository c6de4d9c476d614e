"""What waits for somebody to decide: pairs that the votes leave open, and pairs with flags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from django.db import connection
from django.db.models import QuerySet

from annotation.models import Campaign, Flag
from benchmark.models import Adjudication, Run, Status
from benchmark.selectors.pair_rows import QUERY_CHARACTERS

Kind = Literal["flagged", "conflict", "tied", "insufficient"]
# In the order in which a lead should look: too few votes may settle by themselves.
KINDS: tuple[Kind, ...] = get_args(Kind)
OPEN_STATUSES = (Status.CONFLICT, Status.TIED, Status.INSUFFICIENT)


def newest_aggregation(campaign: Campaign) -> Run | None:
    """The newest that is finished."""
    return (
        Run.objects.filter(pair_set=campaign.pair_set).aggregations().done().newest_first().first()
    )


def flagged_pairs(campaign: Campaign) -> list[int]:
    """Ids of the set's pairs with unresolved flags."""
    flags = Flag.objects.filter(
        campaign=campaign, resolved_at=None, assignment__pair__pair_set=campaign.pair_set
    )
    pairs = flags.order_by("assignment__pair").values_list("assignment__pair_id").distinct()
    return [pair for (pair,) in pairs]


def flags_of(campaign: Campaign, pair: int) -> list[Flag]:
    """Newest first, resolved ones last."""
    flags = Flag.objects.filter(campaign=campaign, assignment__pair=pair)
    found = flags.select_related("assignment__membership__rater", "resolved_by").order_by("-id")
    return sorted(found, key=lambda flag: flag.resolved_at is not None)


def adjudications_of(campaign: Campaign) -> QuerySet[Adjudication]:
    """All that were ever made, newest first."""
    return (
        Adjudication.objects.filter(pair__pair_set=campaign.pair_set)
        .select_related("pair")
        .defer("pair__response_a", "pair__response_b", "pair__meta", "pair__priors")
        .order_by("-id")
    )


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """Pairs by what is open about them; a pair with a flag may also be of another kind."""

    flagged: int = 0
    conflict: int = 0
    tied: int = 0
    insufficient: int = 0
    total: int = 0

    def of(self, kind: Kind | None) -> int:
        return self.total if kind is None else int(getattr(self, kind))


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A pair in the queue; ``status`` is empty for one that the run has not."""

    id: int
    pair_id: str
    query: str  # its beginning
    status: str
    pattern: int | None
    flags: int
    rank: int


# Pairs with something open and no decision in force. The verdict of a decided or withdrawn pair is
# looked at only where there is a flag.
_QUEUE = """
    WITH flagged AS (
        SELECT seat.pair_id, count(*) AS flags FROM annotation_flag flag
        JOIN annotation_assignment seat ON seat.id = flag.assignment_id
        WHERE flag.campaign_id = %(campaign)s AND flag.resolved_at IS NULL GROUP BY 1
    ), waiting AS (
        SELECT pair_id FROM benchmark_verdict
        WHERE run_id = %(run)s AND status = ANY(%(statuses)s)
        UNION SELECT pair_id FROM flagged
    ), queue AS (
        SELECT waiting.pair_id AS id, coalesce(verdict.status, '') AS status, verdict.pattern,
            coalesce(flagged.flags, 0) AS flags,
            CASE WHEN flagged.flags > 0 THEN 0
                ELSE array_position(%(statuses)s, verdict.status::text) END AS rank
        FROM waiting
        LEFT JOIN benchmark_verdict verdict
            ON verdict.pair_id = waiting.pair_id AND verdict.run_id = %(run)s
        LEFT JOIN flagged ON flagged.pair_id = waiting.pair_id
        WHERE NOT EXISTS (
            SELECT FROM benchmark_adjudication adjudication
            WHERE adjudication.pair_id = waiting.pair_id AND adjudication.revoked_at IS NULL)
    )
"""
_OF_KIND = "(%(kind)s = '' OR status = %(kind)s OR (%(kind)s = 'flagged' AND flags > 0))"


def queue_counts(campaign: Campaign, run: Run | None) -> QueueCounts:
    """One query."""
    with connection.cursor() as cursor:
        cursor.execute(
            _QUEUE
            + """
            SELECT count(*) FILTER (WHERE flags > 0), count(*) FILTER (WHERE status = 'conflict'),
                count(*) FILTER (WHERE status = 'tied'),
                count(*) FILTER (WHERE status = 'insufficient'), count(*)
            FROM queue JOIN benchmark_pair pair USING (id) WHERE pair.pair_set_id = %(pair_set)s
            """,
            _parameters(campaign, run),
        )
        return QueueCounts(*cursor.fetchone())


def queue(
    campaign: Campaign,
    run: Run | None,
    *,
    kind: Kind | None = None,
    after: QueueRow | None = None,
    limit: int,
) -> list[QueueRow]:
    """What a lead should look at first stands first: flags, conflicts, ties, too few votes."""
    return _rows(
        campaign,
        run,
        f"{_OF_KIND} AND (%(rank)s::int IS NULL OR (rank, pair.pair_id) > (%(rank)s, %(at)s))",
        kind=kind or "",
        rank=after.rank if after else None,
        at=after.pair_id if after else "",
        limit=limit,
    )


def queue_row(campaign: Campaign, run: Run | None, pair: int) -> QueueRow | None:
    """The pair as it stands in the queue; None where nothing about it is open."""
    rows = _rows(campaign, run, "queue.id = %(pair)s", pair=pair, limit=1)
    return rows[0] if rows else None


def _rows(
    campaign: Campaign, run: Run | None, where: str, **values: str | int | None
) -> list[QueueRow]:
    with connection.cursor() as cursor:
        cursor.execute(
            _QUEUE
            + f"""
            SELECT queue.id, pair.pair_id, left(pair.query, {QUERY_CHARACTERS + 1}), status,
                pattern, flags, rank
            FROM queue JOIN benchmark_pair pair USING (id)
            WHERE pair.pair_set_id = %(pair_set)s AND {where}
            ORDER BY rank, pair.pair_id, queue.id LIMIT %(limit)s
            """,
            {**_parameters(campaign, run), **values},
        )
        return [QueueRow(*row) for row in cursor.fetchall()]


def _parameters(campaign: Campaign, run: Run | None) -> dict[str, int | list[str]]:
    return {
        "campaign": campaign.pk,
        "pair_set": campaign.pair_set_id,
        "run": run.pk if run else 0,
        "statuses": [status.value for status in OPEN_STATUSES],
    }
