"""Any history of claims, answers, corrections and lapses leaves exactly n, and what was stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from annotation.models import Assignment, Campaign, Membership
from annotation.services.answers import Outcome
from annotation.services.campaigns import move_campaign
from annotation.services.seats import (
    NothingLeft,
    claim_ahead,
    claim_seat,
    free_lapsed_seats,
    give_back,
    renew_lease,
)
from benchmark.models import Judgement
from tests.annotation.seating import (
    LEASE,
    NOW,
    answer,
    assert_sound,
    fresh,
    revise,
    seated_campaign,
    submit,
    votes_of,
)

PAIRS, PLACES, RATERS = 4, 2, 4
choices = st.sampled_from(["A", "B"])


@dataclass
class Held:
    """What the model knows of a seat."""

    pair: int
    rater: int
    state: str
    ends: datetime
    is_ahead: bool = False


class Histories(RuleBasedStateMachine):
    """The services beside a model of plain dictionaries; the rows of a run are rolled back."""

    campaign: Campaign
    raters: list[Membership]
    pairs: list[int]

    given = Bundle("given")

    def __init__(self) -> None:
        super().__init__()
        self.transaction = transaction.atomic()
        self.transaction.__enter__()
        self.now = NOW
        self.state = "open"
        self.held: dict[UUID, Held] = {}
        # All that was stored for a pair and a rater: the last one stands.
        self.answers: dict[tuple[int, int], list[str]] = {}

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.transaction.__exit__(None, None, None)

    # -- the model

    def open_seat(self, rater: int, *, is_ahead: bool = False) -> UUID | None:
        return next(
            (
                key
                for key, seat in self.held.items()
                if (seat.rater, seat.state, seat.is_ahead) == (rater, "open", is_ahead)
            ),
            None,
        )

    def open_seats(self) -> list[Held]:
        return [seat for seat in self.held.values() if seat.state == "open"]

    def give_up_ahead(self, pair: int) -> None:
        """One of those that hold this pair ahead has lost it; the database knows which."""
        lost = [
            seat
            for key, seat in self.held.items()
            if (seat.pair, seat.state, seat.is_ahead) == (pair, "open", True)
            and Assignment.objects.get(pk=key).state == "expired"
        ]
        assert len(lost) == 1
        lost[0].state = "expired"

    def left_for(self, rater: int) -> list[int]:
        return [pair for pair in self.pairs if (pair, rater) not in self.answers]

    def free(self, pair: int) -> int:
        judged = sum(1 for judged, _ in self.answers if judged == pair)
        return (
            PLACES
            - judged
            - sum(seat.pair == pair and seat.state == "open" for seat in self.held.values())
        )

    def sweep(self) -> int:
        lapsed = [
            seat
            for seat in self.held.values()
            if seat.state == "open" and seat.ends <= self.now  # type: ignore[operator]
        ]
        for seat in lapsed:
            seat.state = "expired"
        return len(lapsed)

    # -- what people do

    @rule(target=given, rater=st.integers(0, RATERS - 1))
    def claim(self, rater: int) -> object:
        claimed = claim_seat(membership=fresh(self.raters[rater]), now=self.now)
        if self.state != "open":
            assert claimed == NothingLeft(NothingLeft.NOT_OPEN)
            return multiple()
        held = self.open_seat(rater)
        if held is None:
            self.sweep()
            held = self.open_seat(rater, is_ahead=True)
        if held is not None:
            assert isinstance(claimed, Assignment)
            assert claimed.pk == held
            assert not claimed.is_ahead
            self.held[held].ends = self.now + LEASE
            self.held[held].is_ahead = False
            return held
        left = self.left_for(rater)
        if isinstance(claimed, Assignment):
            assert claimed.pair_id in left
            if not any(self.free(pair) for pair in left):
                self.give_up_ahead(claimed.pair_id)
            assert self.free(claimed.pair_id) > 0
            self.held[claimed.pk] = Held(claimed.pair_id, rater, "open", self.now + LEASE)
            return claimed.pk
        assert not any(self.free(pair) for pair in left)
        assert not any(seat.is_ahead and seat.pair in left for seat in self.open_seats())
        leases = [
            seat.ends for seat in self.held.values() if seat.state == "open" and seat.pair in left
        ]
        if not left:
            assert claimed == NothingLeft(NothingLeft.ALL_JUDGED)
        elif leases:
            assert claimed == NothingLeft(NothingLeft.ALL_TAKEN, min(leases))
        else:
            assert claimed == NothingLeft(NothingLeft.ALL_FULL)
        return multiple()

    @rule(target=given, rater=st.integers(0, RATERS - 1))
    def claim_ahead(self, rater: int) -> object:
        claimed = claim_ahead(membership=fresh(self.raters[rater]), now=self.now)
        current, ahead = self.open_seat(rater), self.open_seat(rater, is_ahead=True)
        if self.state != "open" or current is None:
            assert claimed is None
            return multiple()
        if ahead is not None:
            assert claimed is not None
            assert claimed.pk == ahead
            self.held[ahead].ends = self.now + LEASE
            return ahead
        free = [
            pair
            for pair in self.left_for(rater)
            if self.free(pair) > 0 and pair != self.held[current].pair
        ]
        if not free:
            assert claimed is None
            return multiple()
        assert claimed is not None
        assert claimed.is_ahead
        assert claimed.pair_id in free
        seat = Held(claimed.pair_id, rater, "open", self.now + LEASE, is_ahead=True)
        self.held[claimed.pk] = seat
        return claimed.pk

    @rule(key=given, helpfulness=choices, personalization=choices)
    def submit(self, key: UUID, helpfulness: str, personalization: str) -> None:
        """Any seat ever given, again and again."""
        seat = self.held[key]
        current = next(
            (
                other
                for other in self.held.values()
                if (other.pair, other.rater) == (seat.pair, seat.rater)
                and other.state in ("open", "submitted")
            ),
            seat,
        )
        if current.state == "submitted":
            expected = Outcome.ALREADY_SUBMITTED
        elif self.state != "open":
            expected = Outcome.CAMPAIGN_CLOSED
        elif current.state == "expired" and not self.free(seat.pair):
            expected = Outcome.EXPIRED
        elif current.ends > self.now:
            expected = Outcome.ACCEPTED
        else:
            expected = Outcome.KEPT_AFTER_EXPIRY
        outcome = submit(
            seat=Assignment.objects.get(pk=key),
            answer=answer(helpfulness, personalization),
            now=self.now,
        )
        assert outcome is expected
        if outcome in (Outcome.ACCEPTED, Outcome.KEPT_AFTER_EXPIRY):
            current.state = "submitted"
            self.answers[seat.pair, seat.rater] = [helpfulness + personalization]

    @rule(
        key=given,
        helpfulness=choices,
        personalization=choices,
        revision=st.none() | st.integers(1, 3),
    )
    def revise(
        self, key: UUID, helpfulness: str, personalization: str, revision: int | None
    ) -> None:
        """Any seat ever given; of the newest answer (None), or of some other one."""
        seat = self.held[key]
        stored = self.answers.get((seat.pair, seat.rater), [])
        newest = len(stored)
        if seat.state != "submitted":
            expected = Outcome.EXPIRED
        elif self.state != "open":
            expected = Outcome.CAMPAIGN_CLOSED
        elif stored[-1] == helpfulness + personalization:
            expected = Outcome.REVISED
        elif revision in (None, newest):
            expected = Outcome.REVISED
            stored.append(helpfulness + personalization)
        else:
            expected = Outcome.CHANGED_ELSEWHERE
        outcome = revise(
            seat=Assignment.objects.get(pk=key),
            answer=answer(helpfulness, personalization),
            revision=newest if revision is None else revision,
            now=self.now,
        )
        assert outcome is expected

    @rule(rater=st.integers(0, RATERS - 1))
    def give_back(self, rater: int) -> None:
        give_back(membership=fresh(self.raters[rater]))
        for seat in self.held.values():
            if seat.rater == rater and seat.state == "open":
                seat.state = "expired"

    @rule(key=given)
    def renew(self, key: UUID) -> None:
        renewed = renew_lease(assignment=Assignment.objects.get(pk=key), now=self.now)
        seat = self.held[key]
        others = [other for other in self.held.values() if other.rater == seat.rater]
        is_taken_back = (
            seat.state == "expired"
            and self.free(seat.pair) > 0
            and (seat.pair, seat.rater) not in self.answers
            and not any(other.state == "open" and not other.is_ahead for other in others)
            and not any(other.state == "open" and other.pair == seat.pair for other in others)
        )
        assert renewed is (self.state == "open" and (seat.state == "open" or is_taken_back))
        if renewed:
            if is_taken_back:
                seat.state, seat.is_ahead = "open", False
            seat.ends = self.now + LEASE
            for other in others:
                if other.state == "open" and other.is_ahead:
                    other.ends = self.now + LEASE

    @rule(minutes=st.sampled_from([1, 10, 21]))
    def time_passes(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule()
    def sweep_lapsed(self) -> None:
        assert free_lapsed_seats(campaign=self.campaign, now=self.now) == self.sweep()

    @rule(state=st.sampled_from(["paused", "closed"]), reopens=st.booleans())
    def stop_and_perhaps_go_on(self, state: str, reopens: bool) -> None:
        if self.state != "open":
            state, reopens = "open", False
        move_campaign(campaign=self.campaign, state=state)
        if reopens:
            move_campaign(campaign=self.campaign, state="open")
            state = "open"
        self.state = state

    # -- what always holds

    @invariant()
    def sound(self) -> None:
        assert_sound(self.campaign)

    @invariant()
    def what_was_stored_stands(self) -> None:
        """Every answer and correction in its order, and the last of them the current one."""
        number = {rater.rater_id: place for place, rater in enumerate(self.raters)}
        stored: dict[tuple[int, int], list[str]] = {}
        for judgement in Judgement.objects.order_by("revision"):
            votes = votes_of(judgement)
            revisions = stored.setdefault((judgement.pair_id, number[judgement.rater_id]), [])
            revisions.append(votes["helpfulness"] + votes["personalization"])
            assert judgement.revision == len(revisions)
        assert stored == self.answers
        current = Judgement.objects.current().values_list("pair_id", "rater_id", "revision")
        assert {(pair, number[rater]): revision for pair, rater, revision in current} == {
            key: len(revisions) for key, revisions in self.answers.items()
        }
        assert current.count() == len(self.answers)


@pytest.mark.django_db
def test_any_history(tmp_path: Path) -> None:
    campaign, raters = seated_campaign(
        tmp_path, pairs=PAIRS, annotators=RATERS, raters_per_pair=PLACES
    )

    class ThisCampaign(Histories):
        @initialize()
        def start(self) -> None:
            self.campaign = Campaign.objects.select_related("pair_set").get(pk=campaign.pk)
            self.raters = raters
            self.pairs = list(campaign.pair_set.pairs.values_list("id", flat=True))

    run_state_machine_as_test(
        ThisCampaign,
        settings=settings(
            max_examples=30,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
