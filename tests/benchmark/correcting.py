"""A rater's correction of an imported judgement, as the platform stores one."""

from __future__ import annotations

from django.db import connection, transaction

from benchmark.models import Judgement, PairSet, Tally, Vote


def correct(
    pair_set: PairSet, *, pair: str, rater: str, choice: str, comment: str = ""
) -> Judgement:
    """The same choice on every criterion."""
    former = Judgement.objects.current().get(
        pair__pair_set=pair_set, pair__pair_id=pair, rater__pseudonym=rater
    )
    with transaction.atomic(), connection.cursor() as cursor:
        # The seat is free for the new row only when the former one is superseded.
        cursor.execute("SELECT nextval(pg_get_serial_sequence('benchmark_judgement', 'id'))")
        (number,) = cursor.fetchone()
        Judgement.objects.filter(pk=former.pk).update(superseded_by=number)
        made = Judgement.objects.create(
            pk=number,
            pair=former.pair,
            rater=former.rater,
            seat=former.seat,
            raters_per_pair=former.raters_per_pair,
            revision=former.revision + 1,
            comment=comment,
        )
        votes = list(Vote.objects.filter(judgement=former))
        Tally.objects.uncount_votes(
            (former.pair_id, vote.criterion_id, vote.choice) for vote in votes
        )
        for vote in votes:
            Vote.objects.create(judgement=made, criterion=vote.criterion, choice=choice)
        Tally.objects.count_votes((former.pair_id, vote.criterion_id, choice) for vote in votes)
    return made
