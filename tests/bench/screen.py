"""What a rater waits for: from the key that submits until the next pair is on the screen."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.bench import world
from tests.bench.figures import Figure, latencies
from tests.bench.site import Site
from tests.e2e.chromium import launch

PAIRS = 120
# Each web process has first times of its own: templates, a connection, what it keeps.
WARMING = 40
BAR_MS = 100.0

# In the page, by its own clock: from the key press to the first frame that shows another seat.
_MEASURE = """
() => new Promise((resolve) => {
  const seat = () => document.getElementById("task")?.dataset.seat;
  const before = seat();
  let begin;
  addEventListener("keydown", (event) => {
    if (event.key === "Enter") begin = event.timeStamp;
  }, { capture: true, once: true });
  new MutationObserver((_, observer) => {
    if (!seat() || seat() === before) return;
    observer.disconnect();
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve(performance.now() - begin);
      port2.postMessage(null);
    });
  }).observe(document.body, { childList: true, subtree: true });
})
"""


def screen(site: Site, folder: Path) -> list[Figure]:
    """One rater in Chromium, with the keyboard."""
    made = world.campaign("screen", folder)
    world.with_raters(made, 1)
    seen: list[float] = []
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(base_url=f"http://127.0.0.1:{site.port}")
        page.goto(f"/accounts/login/?next=/campaigns/{made.slug}/task/")
        page.get_by_label("User name").fill("rater-00")
        page.get_by_label("Password").fill(world.PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_selector("#task[data-seat]")
        for _ in range(WARMING + PAIRS):
            seen.append(_next(page))
        browser.close()
    return latencies("screen", "next pair shown", seen[WARMING:], bar=BAR_MS)


def _next(page: Page) -> float:
    """Seconds for one pair."""
    # Whoever reads leaves it the time; that of a rater who does not is the trip of "reading".
    page.wait_for_selector("#task[data-has-next]")
    page.keyboard.press("1")
    page.keyboard.press("w")
    page.evaluate(f"() => {{ window.shown = ({_MEASURE})(); }}")
    page.keyboard.press("Enter")
    return float(page.evaluate("() => window.shown")) / 1000
