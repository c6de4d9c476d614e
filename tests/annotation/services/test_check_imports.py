"""Checks out of files: into a set of their own, all or nothing, each flaw with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from annotation.models import Campaign, CheckItem, Event, PairSeats
from annotation.services.campaigns import import_pairs_into
from annotation.services.check_imports import CheckImportReport, import_checks
from annotation.services.demo import CHECKS, FILES
from annotation.services.seats import lock_member
from benchmark.models import Pair, PairSet, Persona
from benchmark.services.staging import LISTED_PROBLEMS
from tests.annotation.checking import add_checks, check_row, checked_campaign, take_gold
from tests.annotation.threads import together
from tests.benchmark.services.files import Rows, published, write_rows
from tests.factories import add_pairs, make_campaign, make_member, pair_row, write_jsonl
from tests.tables import row_digests

pytestmark = pytest.mark.django_db

MIXED: Rows = [
    check_row(0, "gold"),
    check_row(1, "training", expected_helpfulness="B"),
    check_row(2, "qualification", expected_personalization=""),
    check_row(3, "training", expected_helpfulness=""),
    check_row(4, "gold", expected_helpfulness="B", explanation="Nobody sees this."),
]


@pytest.fixture
def campaign() -> Campaign:
    return make_campaign()


def run(campaign: Campaign, path: Path, **options: Any) -> CheckImportReport:
    return import_checks(campaign=campaign, path=path, **options)


def items(campaign: Campaign) -> list[tuple[str, int, str, dict[str, str], str]]:
    return list(
        CheckItem.objects.filter(campaign=campaign)
        .order_by("purpose", "position")
        .values_list("purpose", "position", "pair__pair_id", "expected", "explanation")
    )


@pytest.mark.parametrize("extension", [".jsonl", ".csv", ".parquet"])
def test_every_format_gives_the_same_checks(
    campaign: Campaign, tmp_path: Path, extension: str
) -> None:
    # A table has each column in each row.
    rows = [{"explanation": ""} | row for row in MIXED]
    report = run(campaign, write_rows(tmp_path / f"checks{extension}", rows))
    assert not report.problems
    counts = (report.rows, report.training, report.qualification, report.gold, report.new_checks)
    assert counts == (5, 2, 1, 2, 5)
    both = {"helpfulness": "A", "personalization": "A"}
    assert items(campaign) == [
        ("gold", 1, "check-0", both, ""),
        ("gold", 2, "check-4", {"helpfulness": "B", "personalization": "A"}, "Nobody sees this."),
        ("qualification", 1, "check-2", {"helpfulness": "A"}, ""),
        (
            *("training", 1, "check-1"),
            {"helpfulness": "B", "personalization": "A"},
            "Why **A** is right in 1.",
        ),
        ("training", 2, "check-3", {"personalization": "A"}, "Why **A** is right in 3."),
    ]
    pair = Pair.objects.get(pair_id="check-4")
    assert (pair.response_a, pair.source_a) == ("Response of one kind to 904.", "full")
    event = Event.objects.get(action="checks:imported")
    assert event.data == {"file": f"checks{extension}", "new_checks": 5}


def test_checks_are_in_a_set_of_their_own(campaign: Campaign, tmp_path: Path) -> None:
    add_pairs(campaign, tmp_path, 2)
    before = set(campaign.pair_set.pairs.values_list("pk", flat=True))
    # The same id in both sets, with other content.
    path = write_jsonl(tmp_path / "checks.jsonl", [check_row(7, pair_id="pair-1")])
    assert run(campaign, path).changed
    checks = campaign.checks
    assert checks is not None
    assert (checks.slug, checks.seed) == ("cups-checks", campaign.pair_set.seed)
    assert (checks.raters_per_pair, checks.allows_tie) == (1, False)
    assert Campaign.objects.get().checks == checks
    assert set(campaign.pair_set.pairs.values_list("pk", flat=True)) == before
    assert set(PairSeats.objects.values_list("pair_id", flat=True)) == before
    assert checks.pairs.get().query == "Query 907?"


def test_the_slug_is_shortened_and_another_one_where_it_is_taken(tmp_path: Path) -> None:
    slug = "c" * 79
    campaign = make_campaign(slug, seed="s")
    PairSet.objects.create(slug="c" * 73 + "-checks", name="taken", seed="s")
    PairSet.objects.create(slug="c" * 71 + "-checks-2", name="taken too", seed="s")
    add_checks(campaign, tmp_path, [check_row(0)])
    assert campaign.checks is not None
    assert campaign.checks.slug == "c" * 71 + "-checks-3"


def test_importing_again_changes_nothing(campaign: Campaign, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "checks.jsonl", MIXED)
    run(campaign, path)
    before = row_digests()
    report = run(Campaign.objects.get(), path)
    assert (report.changed, report.new_checks, report.rows, report.gold) == (False, 0, 5, 2)
    assert row_digests() == before


def test_further_checks_come_behind_those_there_are(campaign: Campaign, tmp_path: Path) -> None:
    add_checks(campaign, tmp_path, MIXED[:2])
    add_checks(campaign, tmp_path, [check_row(9, "training"), *MIXED])
    places = [(use, position, pair) for use, position, pair, *_ in items(campaign)]
    assert places == [
        ("gold", 1, "check-0"),
        ("gold", 2, "check-4"),
        ("qualification", 1, "check-2"),
        ("training", 1, "check-1"),
        ("training", 2, "check-9"),
        ("training", 3, "check-3"),
    ]
    assert PairSet.objects.count() == 2


def test_a_row_that_stands_twice_is_one_check(campaign: Campaign, tmp_path: Path) -> None:
    report = run(campaign, write_jsonl(tmp_path / "checks.jsonl", [check_row(0), check_row(0)]))
    assert (report.rows, report.gold, report.new_checks) == (2, 1, 1)


def test_a_dry_run_leaves_nothing(campaign: Campaign, tmp_path: Path) -> None:
    before = row_digests()
    report = run(campaign, write_jsonl(tmp_path / "checks.jsonl", MIXED), dry_run=True)
    assert (report.new_checks, report.changed, report.dry_run) == (5, True, True)
    assert row_digests() == before
    assert campaign.checks is None


def test_personas_are_those_of_the_campaign_unless_the_file_has_them(
    campaign: Campaign, tmp_path: Path
) -> None:
    add_pairs(campaign, tmp_path, 3)
    bare = {name: value for name, value in check_row(0).items() if name != "persona"}
    own = check_row(1, persona={"Name": "Somebody else"})
    add_checks(campaign, tmp_path, [bare, own])
    assert campaign.checks is not None
    copied, given = campaign.checks.personas.order_by("persona_id")
    original = campaign.pair_set.personas.get(persona_id="persona-0")
    assert (copied.name, copied.profile, copied.digest) == (
        original.name,
        original.profile,
        original.digest,
    )
    assert (copied.pk == original.pk, given.name) == (False, "Somebody else")
    # And once more from there.
    add_checks(campaign, tmp_path, [bare | {"pair_id": "check-9", "query": "Another?"}])
    assert Persona.objects.filter(pair_set=campaign.checks).count() == 2


# name, rows, (line, field, words of the reason)
BAD: list[tuple[str, Rows, list[tuple[int | None, str | None, str]]]] = [
    ("no use", [check_row(0, use="")], [(1, "use", "is empty")]),
    (
        "another use",
        [check_row(0), check_row(1, use="exam")],
        [(2, "use", "must be training, qualification or gold")],
    ),
    ("a number for a use", [check_row(0, use=3)], [(1, "use", "must be text")]),
    (
        "a plain file of pairs",
        [pair_row(0)],
        [(1, "use", "is missing")],
    ),
    (
        "no expectation",
        [check_row(0, expected_helpfulness=None, expected_personalization="")],
        [(1, "expected_helpfulness, expected_personalization", "at least one is needed")],
    ),
    (
        "expectations that are none",
        [check_row(0, expected_helpfulness="tie"), check_row(1, expected_personalization="a")],
        [
            (1, "expected_helpfulness", "must be A, B or empty"),
            (2, "expected_personalization", "must be A, B or empty"),
        ],
    ),
    (
        "an expectation that is no text",
        [check_row(0, expected_helpfulness=True)],
        [(1, "expected_helpfulness", "must be text, not true or false")],
    ),
    (
        "another criterion, said once",
        [check_row(0, expected_tone="A"), check_row(1, expected_tone="A")],
        [(1, "expected_tone", "no criterion tone; there is helpfulness or personalization")],
    ),
    (
        "training without an explanation",
        [check_row(0, "training", explanation=" ")],
        [(1, "explanation", "is empty")],
    ),
    (
        "training with an explanation that nobody sees",
        [
            check_row(0, "training", explanation="&#8203; &nbsp;"),
            check_row(1, "training", explanation="[a]: http://a.example"),
            check_row(2, "gold", explanation="[a]: http://a.example"),
        ],
        [(1, "explanation", "is empty"), (2, "explanation", "shows nothing once it is rendered")],
    ),
    (
        "the same pair with another expectation",
        [check_row(0), check_row(1), check_row(0, expected_helpfulness="B")],
        [(3, "expected_helpfulness", "check-0 stands with another one in bad.jsonl:1")],
    ),
    (
        "the same pair for another use",
        [check_row(0), check_row(0, "qualification")],
        [(2, "use", "check-0 stands with another one in bad.jsonl:1")],
    ),
    (
        "flaws of pairs and of checks together",
        [check_row(0, response_b=""), check_row(1, use="exam")],
        [(1, "response_b", "is empty"), (2, "use", "must be training")],
    ),
    (
        "a persona that is nowhere",
        [{name: value for name, value in check_row(0).items() if name != "persona"}],
        [(1, "persona_id", "persona persona-0 is in no file and not in the campaign")],
    ),
    (
        "personas alone",
        [{"persona_id": "p", "persona": {"Name": "P"}}],
        [(None, None, "holds no pairs")],
    ),
]


@pytest.mark.parametrize(
    ("rows", "expected"), [bad[1:] for bad in BAD], ids=[bad[0] for bad in BAD]
)
def test_what_is_wrong_is_said_with_its_place_and_nothing_is_written(
    campaign: Campaign,
    tmp_path: Path,
    rows: Rows,
    expected: list[tuple[int | None, str | None, str]],
) -> None:
    path = write_jsonl(tmp_path / "bad.jsonl", rows)
    before = row_digests()
    report = run(campaign, path)
    assert row_digests() == before
    assert campaign.checks is None
    assert report.rejected == len(expected)
    assert not report.changed
    for problem, (line, field, words) in zip(report.problems, expected, strict=True):
        assert (problem.file, problem.line, problem.field) == ("bad.jsonl", line, field)
        assert words in problem.reason


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"expected_helpfulness": "B"}, "expected_helpfulness"),
        ({"expected_personalization": ""}, "expected_personalization"),
        ({"use": "qualification"}, "use"),
        ({"explanation": "Another."}, "explanation"),
        ({"query": "Another?"}, "pair_id"),
    ],
)
def test_what_is_known_already_cannot_be_changed(
    campaign: Campaign, tmp_path: Path, changes: dict[str, str], field: str
) -> None:
    add_checks(campaign, tmp_path, MIXED)
    before = row_digests()
    changed = [check_row(8), check_row(0, **changes)]
    report = run(campaign, write_jsonl(tmp_path / "changed.jsonl", changed))
    [problem] = report.problems
    assert (problem.line, problem.field) == (2, field)
    assert "already" in problem.reason
    assert row_digests() == before


def test_a_refused_import_leaves_earlier_checks_in_use(campaign: Campaign, tmp_path: Path) -> None:
    add_checks(campaign, tmp_path, [check_row(0)])
    assert run(campaign, write_jsonl(tmp_path / "bad.jsonl", [check_row(1, use="")])).rejected
    rater = make_member(campaign, pseudonym="r-1")
    assert take_gold(rater).pair.pair_id == "check-0"


def test_a_file_that_is_not_there(campaign: Campaign, tmp_path: Path) -> None:
    report = run(campaign, tmp_path / "none.jsonl")
    assert [str(problem) for problem in report.problems] == ["none.jsonl: does not exist"]
    assert not PairSet.objects.filter(slug="cups-checks").exists()


def test_all_problems_are_counted_and_the_first_kept(campaign: Campaign, tmp_path: Path) -> None:
    rows = [check_row(n, use="exam") for n in range(LISTED_PROBLEMS + 5)]
    report = run(campaign, write_jsonl(tmp_path / "bad.jsonl", rows))
    assert (report.rejected, len(report.problems)) == (LISTED_PROBLEMS + 5, LISTED_PROBLEMS)


def test_a_published_folder_says_nothing_of_checks(campaign: Campaign, tmp_path: Path) -> None:
    (tmp_path / "general").mkdir()
    path = write_jsonl(tmp_path / "general" / "easy.jsonl", [published(0)])
    assert run(campaign, path).rejected


@pytest.mark.django_db(transaction=True)
def test_imports_at_once_take_turns(tmp_path: Path) -> None:
    """Both raters are at work meanwhile: the import does not wait for them, nor they for it."""
    campaign, [rater, _] = checked_campaign(tmp_path, gold=1, annotators=2)
    path = write_jsonl(tmp_path / "more.jsonl", MIXED[1:])
    with transaction.atomic():
        lock_member(rater)
        reports = together(
            *[lambda: run(Campaign.objects.get(pk=campaign.pk), path) for _ in range(3)]
        )
    assert sorted(report.new_checks for report in reports) == [0, 0, 4]
    assert CheckItem.objects.count() == 5
    assert PairSet.objects.count() == 2


def test_the_demo_has_checks_of_each_kind(campaign: Campaign) -> None:
    import_pairs_into(campaign=campaign, paths=FILES)
    report = run(campaign, CHECKS)
    assert not report.problems
    assert (report.training, report.qualification, report.gold) == (4, 3, 6)
    sides = [side for item in CheckItem.objects.all() for side in item.expected.values()]
    # Always choosing one side must not pass.
    assert 0.3 <= sides.count("A") / len(sides) <= 0.7
    assert not Pair.objects.filter(
        pair_set=campaign.checks, query__in=campaign.pair_set.pairs.values("query")
    ).exists()
