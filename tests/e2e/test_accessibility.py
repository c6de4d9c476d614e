"""WCAG 2.2 AA on every page of an annotator, in both themes and both languages, at every size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page
from pytest_django.live_server_helper import LiveServer

from annotation.models import User
from tests.e2e.conftest import PATIENCE_MS, sign_in
from tests.e2e.scenes import Scene, make_scenes

RULES = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    },
    "resultTypes": ["violations"],
}
ON_A_PHONE = {"runOnly": ["color-contrast", "target-size"], "resultTypes": ["violations"]}
CONTRAST = {"runOnly": ["color-contrast"], "resultTypes": ["violations"]}

# Everything that can be pressed, with its size. Links inside of a sentence may be smaller (WCAG
# 2.5.8), and what lies under a label that is large enough.
_SMALL = """
(least) => [...document.querySelectorAll(
  "a[href], button, summary, select, textarea, input:not([type=hidden])")]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }))
  .filter((element) => !element.closest("p, dd, li, .prose, .breadcrumb, td, footer")
    || element.matches("button, summary, .button"))
  .filter((element) => !element.matches(".visually-hidden, .skip-link"))
  .map((element) => element.closest("label") ?? element)
  .map((element) => [element, element.getBoundingClientRect()])
  .filter(([, { width, height }]) => width && height)
  .filter(([, { width, height }]) => width < least - 0.5 || height < least - 0.5)
  .map(([element, { width, height }]) =>
    `${element.tagName}.${element.className} ${element.textContent.trim().slice(0, 30)}`
    + ` ${Math.round(width)}x${Math.round(height)}`)
"""

# What sticks out to the right of the window, but for what scrolls inside of its own box.
_WIDE = """
() => document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.querySelectorAll("body *")]
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
    .map((element) => `${element.tagName}.${element.className}`).slice(0, 5)
"""

WINDOW = {"width": 1280, "height": 800}
# 200 % of that, and the smallest size of WCAG 1.4.10.
SMALL_WINDOWS = ({"width": 640, "height": 400}, {"width": 320, "height": 568})


class Visitor:
    """Goes from scene to scene, in a browser profile for each person in it."""

    def __init__(self, browser: Browser, address: str, language: str, **options: Any) -> None:
        self._browser = browser
        self._address = address
        self._options = options
        self._cookie: Any = {"name": "django_language", "value": language, "url": address}
        self._contexts: dict[User | None, BrowserContext] = {}

    def close(self) -> None:
        for context in self._contexts.values():
            context.close()

    def visit(self, scene: Scene) -> Page:
        if scene.user not in self._contexts:
            context = self._browser.new_context(
                base_url=self._address, reduced_motion="reduce", **self._options
            )
            context.set_default_timeout(PATIENCE_MS)
            context.add_cookies([self._cookie])
            if scene.user:
                sign_in(context, scene.user, self._address)
            self._contexts[scene.user] = context
        page = self._contexts[scene.user].new_page()
        answer = page.goto(scene.address)
        assert answer
        assert answer.status < 500, scene
        scene.before(page)
        return page


@pytest.fixture
def scenes(transactional_db: None, tmp_path: Path) -> list[Scene]:
    return make_scenes(tmp_path)


@pytest.fixture
def visitor(browser: Browser, live_server: LiveServer) -> Iterator[Callable[..., Visitor]]:
    made: list[Visitor] = []

    def make(language: str = "en", **options: Any) -> Visitor:
        made.append(Visitor(browser, live_server.url, language, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


def violations(page: Page, options: dict[str, Any]) -> list[str]:
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in Axe().run(page, options=options).response["violations"]
        for node in violation["nodes"]
    ]


def test_in_english_and_the_light(scenes: list[Scene], visitor: Callable[..., Visitor]) -> None:
    """All rules of axe, and contrasts in the dark; sizes; nothing scrolls sideways."""
    person = visitor("en", viewport=WINDOW, color_scheme="light")
    found: dict[str, list[str]] = {}
    for scene in scenes:
        page = person.visit(scene)
        wrong = violations(page, RULES)
        page.emulate_media(color_scheme="dark")
        wrong += [f"dark: {line}" for line in violations(page, CONTRAST)]
        wrong += [f"small: {line}" for line in page.evaluate(_SMALL, 24)]
        for size in SMALL_WINDOWS:
            page.set_viewport_size(size)  # type: ignore[arg-type]
            wrong += [f"wide at {size['width']}: {line}" for line in page.evaluate(_WIDE)]
        if wrong:
            found[scene.name] = wrong
        page.close()
    assert not found, as_text(found)


def test_in_chinese_and_the_dark(scenes: list[Scene], visitor: Callable[..., Visitor]) -> None:
    """All rules of axe; sizes; nothing scrolls sideways in the smallest window."""
    person = visitor("zh-hans", viewport=WINDOW, color_scheme="dark")
    found: dict[str, list[str]] = {}
    for scene in scenes:
        page = person.visit(scene)
        wrong = violations(page, RULES)
        wrong += [f"small: {line}" for line in page.evaluate(_SMALL, 24)]
        page.set_viewport_size(SMALL_WINDOWS[-1])  # type: ignore[arg-type]
        wrong += [f"wide: {line}" for line in page.evaluate(_WIDE)]
        if wrong:
            found[scene.name] = wrong
        page.close()
    assert not found, as_text(found)


def test_with_a_finger(scenes: list[Scene], visitor: Callable[..., Visitor]) -> None:
    """On a phone: contrasts and targets of 44 px; the rest is as with a mouse."""
    person = visitor(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    found: dict[str, list[str]] = {}
    for scene in scenes:
        page = person.visit(scene)
        wrong = violations(page, ON_A_PHONE)
        wrong += [f"small: {line}" for line in page.evaluate(_SMALL, 44)]
        if wrong:
            found[scene.name] = wrong
        page.close()
    assert not found, as_text(found)


def as_text(found: dict[str, list[str]]) -> str:
    return "\n".join(f"{scene}: {line}" for scene, lines in found.items() for line in lines)
