"""The analysis of an aggregation that a lead asks for."""

from __future__ import annotations

from django.db import transaction

from annotation.models import Campaign, Event, User
from benchmark.models import Run
from benchmark.services import analyses


def start_analysis(*, campaign: Campaign, run: Run, actor: User) -> Run:
    """Queue the analysis of a finished aggregation; of one that is done or waits there is none."""
    with transaction.atomic():
        # Two presses of the button take turns.
        Run.objects.select_for_update(no_key=True).only("pk").get(pk=run.pk)
        before = Run.objects.filter(of=run).exclude(state=Run.State.FAILED).exists()
        analysis = analyses.start_analysis(run=run)
        if not before:
            Event.objects.create(
                campaign=campaign,
                actor=actor,
                action="analysis:started",
                data={"run": run.pk, "analysis": analysis.pk},
            )
    return analysis
