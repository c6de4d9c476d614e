"""Every page in both themes, both languages and two widths into var/screenshots/.

The two pictures of the README are among them and are copied to docs/screenshots/.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.e2e.chromium import launch
from tests.screenshots.server import ROOT, demo_server

FOLDER = ROOT / "var" / "screenshots"
README_PICTURES = {"task": "task", "campaign-judged": "campaign"}
README_LIMIT = 300_000
# A limit, never a wait.
LIMIT_MS = 60_000

SIZES = {1440: 900, 375: 812}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LANGUAGES = {"en": "en", "zh": "zh-hans"}


def _refuse(page: Page) -> None:
    # Without the script, which would say what is missing before anything is sent.
    page.locator("form.answer").evaluate("form => form.submit()")
    expect(page.locator("#task .field-error").first).to_be_visible()


def _open(panel: str) -> Callable[[Page], None]:
    return lambda page: page.locator(f"{panel} > summary").click()


def _press(key: str, shown: str) -> Callable[[Page], None]:
    def before(page: Page) -> None:
        page.keyboard.press(key)
        expect(page.locator(shown)).to_be_visible()

    return before


@dataclass(frozen=True, slots=True)
class Picture:
    name: str
    address: str
    who: str = ""
    before: Callable[[Page], None] = lambda page: None
    whole: bool = True


TASK = "/campaigns/demo-open/task/"
PICTURES = (
    Picture("login", "/accounts/login/"),
    Picture("invite", "{invite}"),
    Picture("consent", "{consent}"),
    Picture("home", "/", "regular"),
    Picture("home-lead", "/", "lead"),
    Picture("guidelines", "/campaigns/demo-open/guidelines/", "annotator"),
    Picture("training", TASK, "trainee", whole=False),
    Picture("training-explained", "{explained}", "learner"),
    Picture("qualification", TASK, "candidate", whole=False),
    Picture("task", TASK, "regular", whole=False),
    Picture("task-whole", TASK, "regular"),
    Picture("task-refused", TASK, "regular", _refuse),
    Picture("task-skip", TASK, "regular", _open("#skip")),
    Picture("task-flag", TASK, "regular", _open("#flags")),
    Picture(
        "task-guidelines", TASK, "regular", _press("g", "#guidelines-dialog .prose"), whole=False
    ),
    Picture("task-help", TASK, "regular", _press("?", "#help"), whole=False),
    Picture("task-correction", "{correction}", "regular", whole=False),
    Picture("my-page", "/campaigns/demo-open/me/", "regular"),
    Picture("my-answers", "/campaigns/demo-open/history/", "regular"),
    Picture("password", "/accounts/password/", "regular"),
    Picture("paused", TASK, "paused"),
    Picture("leave", "/campaigns/demo-open/leave/", "participant"),
    Picture("crowd-task", TASK, "participant", whole=False),
    Picture("people", "/campaigns/demo-open/people/", "lead"),
    Picture("settings", "/campaigns/demo-open/settings/", "lead"),
    Picture("campaign-open", "/campaigns/demo-open/", "lead"),
    Picture("campaign-judged", "/campaigns/demo-judged/", "lead"),
    Picture("audit", "/campaigns/demo-judged/audit/", "researcher"),
    Picture("run", "{run}", "researcher"),
    Picture("run-tiers", "{run}tiers/", "researcher"),
    Picture("run-breakdowns", "{run}breakdowns/", "researcher"),
    Picture("run-biases", "{run}biases/", "researcher"),
    Picture("run-raters", "{run}raters/", "researcher"),
    Picture("run-rater", "{rater}", "lead"),
    Picture("run-pairs", "{run}pairs/", "researcher"),
    Picture("run-pair", "{pair}", "lead"),
    Picture("run-compare", "{run}compare/", "researcher"),
    Picture("run-quality", "{run}quality/", "researcher"),
    Picture("policies", "/campaigns/demo-judged/policies/", "lead"),
    Picture("adjudication", "/campaigns/demo-judged/adjudication/", "lead"),
    Picture("exclusion", "{exclusion}", "lead"),
    Picture("not-found", "/campaigns/nothing/", "annotator"),
    Picture("not-allowed", "/campaigns/demo-open/", "annotator"),
)
# Taken last: the campaign is paused for it.
PAUSED = Picture("campaign-paused", TASK, "regular")


class Photographer:
    def __init__(self, browser: Browser, address: str, addresses: dict[str, str]) -> None:
        self.browser = browser
        self.address = address
        self.addresses = addresses

    def signed_in(self, who: str, **options: object) -> Page:
        """A page in a fresh profile; nobody is signed in where ``who`` is empty."""
        context = self.browser.new_context(base_url=self.address, **options)  # type: ignore[arg-type]
        context.set_default_timeout(LIMIT_MS)
        page = context.new_page()
        if who:
            page.goto("/accounts/login/")
            page.locator("#id_username").fill(who)
            page.locator("#id_password").fill(f"demo-{who}")
            page.locator("form.card button").click()
            page.wait_for_url("/")
        return page

    def prepare(self) -> None:
        """What a campaign's life leaves behind: verdicts and a release."""
        page = self.signed_in("lead")
        page.goto("/campaigns/demo-judged/")
        if not page.locator("#verdicts-table").is_visible():
            page.locator("#aggregate").click()
        expect(page.locator("#verdicts-table")).to_be_visible()
        self.addresses["run"] = page.locator("#verdicts-table a").first.get_attribute("href") or ""
        self._find(page)
        page.goto("/campaigns/demo-judged/")
        page.locator("#build").click()
        expect(page.locator("#releases-table")).to_be_visible()
        page.context.close()

    def _find(self, page: Page) -> None:
        """Addresses of a rater's and a pair's page, when the analysis is done; a second run."""
        run = self.addresses["run"]
        page.goto(f"{run}raters/")
        first = page.locator(f'a[href^="{run}raters/"]').filter(has_text="simulated").first
        while not first.count():
            page.wait_for_timeout(500)
            page.reload()
        self.addresses["rater"] = first.get_attribute("href") or ""
        number = self.addresses["rater"].rstrip("/").rpartition("/")[2]
        self.addresses["exclusion"] = f"/campaigns/demo-judged/raters/{number}/exclusion/"
        page.goto(f"{run}pairs/")
        pair = page.locator(f'tbody a[href^="{run}pairs/"]').first
        self.addresses["pair"] = pair.get_attribute("href") or ""

    def pause(self) -> None:
        page = self.signed_in("lead")
        page.goto("/campaigns/demo-open/")
        page.locator("#move-paused").click()
        expect(page.locator("#move-open")).to_be_visible()
        page.context.close()

    def take(self, pictures: tuple[Picture, ...]) -> None:
        for who in sorted({picture.who for picture in pictures}):
            for (short, language), theme, width in product(LANGUAGES.items(), THEMES, SIZES):
                page = self.signed_in(
                    who,
                    color_scheme=theme,
                    viewport={"width": width, "height": SIZES[width]},
                    has_touch=width < 500,
                    timezone_id="Asia/Shanghai",
                )
                page.context.add_cookies(
                    [{"name": "django_language", "value": language, "url": self.address}]
                )
                for picture in pictures:
                    if picture.who == who:
                        page.goto(picture.address.format(**self.addresses))
                        picture.before(page)
                        page.screenshot(
                            path=FOLDER / f"{picture.name}-{width}-{theme}-{short}.png",
                            full_page=picture.whole,
                        )
                page.context.close()


def make_scene() -> dict[str, str]:
    """Not here: Django refuses its database in a thread with an event loop, as Playwright's."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.screenshots.scene"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return dict(json.loads(done.stdout))


def main() -> int:
    shutil.rmtree(FOLDER, ignore_errors=True)
    expect.set_options(timeout=LIMIT_MS)
    fonts = Path(__file__).with_name("fonts.conf")
    with demo_server() as address, sync_playwright() as playwright:
        photographer = Photographer(launch(playwright, fonts=fonts), address, make_scene())
        photographer.prepare()
        photographer.take(PICTURES)
        photographer.pause()
        photographer.take((PAUSED,))
        photographer.browser.close()
    for name, copied_as in README_PICTURES.items():
        picture = FOLDER / f"{name}-1440-light-en.png"
        if picture.stat().st_size > README_LIMIT:
            raise ValueError(f"{picture} is larger than {README_LIMIT} bytes")
        target = ROOT / "docs" / "screenshots" / f"{copied_as}.png"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, target)
    taken = len(list(FOLDER.iterdir()))
    sys.stdout.write(f"{taken} pictures in {FOLDER.relative_to(ROOT)}/\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
