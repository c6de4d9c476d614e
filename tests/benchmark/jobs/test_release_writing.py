"""How a release is written: the same bytes every time, complete or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from pytest_django import Settings

from annotation.models import Campaign
from annotation.services.jobs import CannotRelease, export_release, start_release
from benchmark.formats import zip_folder
from benchmark.jobs.recording import recorded
from benchmark.jobs.release import build_release
from benchmark.models import Pair, Persona, Release, Run
from tests.benchmark.jobs.releasing import files_of, judged, released
from tests.benchmark.jobs.runs import aggregated
from tests.conftest import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def campaign(transactional_db: None, tmp_path: Path) -> Campaign:
    return judged(tmp_path)


@pytest.fixture(autouse=True)
def releases_folder(tmp_path: Path, settings: Settings) -> Path:
    settings.RELEASES_DIR = tmp_path / "releases"
    return tmp_path / "releases"


def kept(campaign: Campaign) -> list[str]:
    """Everything that lies in the campaign's folder of releases, drafts too."""
    folder = Path(settings.RELEASES_DIR) / campaign.slug
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_written_again_it_is_the_same_to_the_byte(campaign: Campaign, tmp_path: Path) -> None:
    release = released(campaign, tmp_path / "first")
    archive = release.archive.read_bytes()
    with connection.cursor() as cursor:
        # Every row moves to another place of its table.
        for table in ("pair", "persona", "judgement", "verdict", "patternverdict", "rater"):
            cursor.execute(f"UPDATE benchmark_{table} SET id = id WHERE id % 2 = 0")
            cursor.execute(f"UPDATE benchmark_{table} SET id = id")

    again = export_release(campaign=campaign, version="1.0.0", out=tmp_path / "second")
    assert again == release
    assert files_of(tmp_path / "second") == files_of(tmp_path / "first")
    zip_folder(tmp_path / "second", tmp_path / "second.zip", prefix="cups-1.0.0/")
    assert (tmp_path / "second.zip").read_bytes() == archive
    assert kept(campaign) == ["cups-1.0.0", "cups-1.0.0.zip"]


def test_an_interrupted_attempt_is_made_good(campaign: Campaign, tmp_path: Path) -> None:
    release = released(campaign, tmp_path / "out")
    archive = release.archive.read_bytes()
    # As a killed worker leaves it: half a draft, an archive, no folder, and the run at work.
    draft = release.folder.with_name(f".{release.name}.draft")
    release.folder.rename(draft)
    (draft / "MANIFEST.json").unlink()
    release.archive.write_bytes(archive[:1_000])
    Release.objects.update(digest="", counts={}, size=0)
    Run.objects.filter(pk=release.job_id).update(state=Run.State.RUNNING)

    recorded(release.job_id, build_release)
    release.refresh_from_db()
    assert release.is_ready
    assert release.archive.read_bytes() == archive
    assert files_of(release.folder) == files_of(tmp_path / "out")
    assert kept(campaign) == ["cups-1.0.0", "cups-1.0.0.zip"]


def test_a_worker_writes_it(campaign: Campaign, celery_worker: object, tmp_path: Path) -> None:
    aggregated(campaign.pair_set)
    release = start_release(campaign=campaign, version="1.0.0")
    wait_until(lambda: Run.objects.get(pk=release.job_id).is_over, what="the release is written")
    job = Run.objects.get(pk=release.job_id)
    assert (job.state, job.error) == (Run.State.DONE, "")
    assert (job.done_steps, job.percent) == (8, 100)
    release.refresh_from_db()
    assert release.is_ready


def test_a_failure_in_the_middle_leaves_nothing(campaign: Campaign, tmp_path: Path) -> None:
    run = aggregated(campaign.pair_set)
    persona = Persona.objects.order_by("-persona_id").first()
    assert persona is not None
    Persona.objects.filter(pk=persona.pk).update(profile="{")
    with pytest.raises(json.JSONDecodeError):
        export_release(campaign=campaign, version="1.0.0", out=tmp_path / "out")

    release = Release.objects.select_related("job").get()
    assert (release.is_ready, release.job.state) == (False, Run.State.FAILED)
    assert release.job.error.startswith("JSONDecodeError: ")
    assert kept(campaign) == []
    assert not list(tmp_path.glob("*out*"))

    # The version was not used up.
    Persona.objects.filter(pk=persona.pk).update(profile=persona.profile)
    release = export_release(campaign=campaign, version="1.0.0", out=tmp_path / "out")
    assert (release.is_ready, release.aggregation) == (True, run)


def test_a_failure_at_the_very_end_leaves_nothing(
    campaign: Campaign, releases_folder: Path, tmp_path: Path
) -> None:
    aggregated(campaign.pair_set)
    folder = releases_folder / "cups"
    folder.mkdir(parents=True)
    (folder / "cups-1.0.0").write_text("in the way")
    with pytest.raises(NotADirectoryError):
        export_release(campaign=campaign, version="1.0.0", out=tmp_path / "out")
    assert not Release.objects.get().is_ready
    assert kept(campaign) == ["cups-1.0.0"]


def test_a_folder_that_cannot_be_written_fails_the_release(
    campaign: Campaign, releases_folder: Path, tmp_path: Path
) -> None:
    aggregated(campaign.pair_set)
    releases_folder.write_text("a file and no folder")
    with pytest.raises(NotADirectoryError):
        export_release(campaign=campaign, version="1.0.0", out=tmp_path / "out")
    release = Release.objects.select_related("job").get()
    assert (release.is_ready, release.job.state) == (False, Run.State.FAILED)
    assert "Not a directory" in release.job.error


def test_data_that_changed_under_a_release_is_noticed(campaign: Campaign, tmp_path: Path) -> None:
    release = released(campaign, tmp_path / "first")
    Pair.objects.filter(pair_id="pair-0").update(query="Another question?")
    with pytest.raises(CannotRelease) as refusal:
        export_release(campaign=campaign, version="1.0.0", out=tmp_path / "second")
    assert refusal.value.code == "differs"
    assert sorted(path.name for path in tmp_path.glob("*second*")) == []
    assert files_of(release.folder) == files_of(tmp_path / "first")


def test_a_folder_with_something_in_it_is_left_alone(campaign: Campaign, tmp_path: Path) -> None:
    aggregated(campaign.pair_set)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for out in (tmp_path / "full", tmp_path / "file"):
        with pytest.raises(CannotRelease) as refusal:
            export_release(campaign=campaign, version="1.0.0", out=out)
        assert refusal.value.code == "out_exists"
    assert not Release.objects.exists()

    (tmp_path / "empty").mkdir()
    export_release(campaign=campaign, version="1.0.0", out=tmp_path / "empty")
    assert (tmp_path / "empty" / "MANIFEST.json").is_file()


def test_the_present_folder_can_be_written_to(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    aggregated(campaign.pair_set)
    export_release(campaign=campaign, version="1.0.0", out=Path())
    assert (tmp_path / "here" / "MANIFEST.json").is_file()


@pytest.mark.parametrize(
    "version", ["", "..", "../1.0", "1/0", "1.0\n", ".1", "-1", "1 0", "eins·null", "1" * 41]
)
def test_a_version_that_is_no_file_name_is_refused(version: str, campaign: Campaign) -> None:
    aggregated(campaign.pair_set)
    with pytest.raises(CannotRelease) as refusal:
        start_release(campaign=campaign, version=version)
    assert refusal.value.code == "bad_version"
    assert not Release.objects.exists()
    assert not Run.objects.filter(kind=Run.Kind.RELEASE).exists()


def test_a_version_is_used_once(campaign: Campaign, empty_queue: None, tmp_path: Path) -> None:
    aggregated(campaign.pair_set)
    first = start_release(campaign=campaign, version="1.0.0")
    with pytest.raises(CannotRelease) as refusal:
        start_release(campaign=campaign, version="1.0.0")
    assert refusal.value.code == "version_taken"
    recorded(first.job_id, build_release)
    with pytest.raises(CannotRelease) as refusal:
        start_release(campaign=campaign, version="1.0.0")
    assert refusal.value.code == "version_taken"
    assert Run.objects.filter(kind=Run.Kind.RELEASE).count() == 1


def test_without_verdicts_there_is_no_release(campaign: Campaign) -> None:
    for state in (Run.State.QUEUED, Run.State.RUNNING, Run.State.FAILED):
        Run.objects.create(
            pair_set=campaign.pair_set, kind=Run.Kind.AGGREGATION, state=state, version="0"
        )
    with pytest.raises(CannotRelease) as refusal:
        start_release(campaign=campaign, version="1.0.0")
    assert refusal.value.code == "no_aggregation"
