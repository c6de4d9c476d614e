"""Answers on their way to the server, held back or lost."""

from __future__ import annotations

from playwright.sync_api import Page, Route

from tests.conftest import wait_until

SEATS = "**/seats/*/"


class Gate:
    """Holds answers back until it is opened."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.held: list[Route] = []
        self.is_open = False
        page.route(SEATS, self.hold)

    def hold(self, route: Route) -> None:
        if route.request.method == "POST" and not self.is_open:
            self.held.append(route)
        else:
            route.continue_()

    def wait_for(self, number: int) -> None:
        # The page's events come in while Playwright waits for something.
        wait_until(
            lambda: self.page.evaluate("1") and len(self.held) == number, what=f"{number} held"
        )

    def open(self) -> None:
        self.is_open = True
        for route in self.held:
            route.continue_()


def lose_first_reply(page: Page) -> list[int]:
    """The server gets the first answer, and the page never learns it; the status of the reply."""
    lost: list[int] = []

    def lose(route: Route) -> None:
        if lost:
            route.continue_()
            return
        lost.append(route.fetch().status)
        route.abort()

    page.route(SEATS, lose)
    return lost
