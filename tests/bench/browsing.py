"""A rater over HTTP: session and CSRF cookies, whole pages, one connection that is kept open."""

from __future__ import annotations

import http.client
import random
import re
import time
from http.cookies import SimpleCookie
from urllib.parse import urlencode

from tests.bench.crowd import Client

_SEAT = re.compile(r'action="/seats/([0-9a-f-]{36})/"')
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')
_FORM = "application/x-www-form-urlencoded"
_REOPENED = 0.2


class Browser(Client):
    """Judges pair after pair, reading each for ``pause`` seconds."""

    def __init__(
        self, *, port: int, slug: str, username: str, password: str, pause: float, seed: int
    ) -> None:
        super().__init__()
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._cookies: dict[str, str] = {}
        self._task = f"/campaigns/{slug}/task/"
        self._login = {"username": username, "password": password}
        self._pause = pause
        self._draw = random.Random(seed)
        self._page = ""
        # The pair after it, where one was to be had.
        self._following = ""

    def prepare(self) -> None:
        """Sign in and look at the first pair."""
        _, page = self._request("GET", "/accounts/login/")
        status, _ = self._request(
            "POST", "/accounts/login/", self._login | {"csrfmiddlewaretoken": _token(page)}
        )
        if status != 302:
            self.seen.unexpected.append(f"sign-in: status {status}")
            return
        self._next()

    def work(self, deadline: float) -> None:
        # When the clock starts, everybody is somewhere in the middle of a text.
        pause = self._pause * self._draw.random()
        while time.perf_counter() + pause < deadline:
            # Who does not read answers before it is there.
            if pause and not self._look_ahead():
                return
            time.sleep(pause)
            pause = self._pause
            if not self._submit():
                return
            self.seen.trips += 1
            # Now and then somebody opens the page anew.
            if self._draw.random() < _REOPENED and not self._next():
                return
        self._connection.close()

    def _next(self) -> bool:
        begin = time.perf_counter()
        status, self._page = self._request("GET", self._task)
        self.seen.next.append(time.perf_counter() - begin)
        return self._expect("next", status, 200) and bool(_SEAT.search(self._page))

    def _look_ahead(self) -> bool:
        """Ask for the pair that will be shown when this one is answered."""
        found = _SEAT.search(self._page)
        assert found
        begin = time.perf_counter()
        status, page = self._request(
            "POST",
            f"/seats/{found[1]}/ahead/",
            {"csrfmiddlewaretoken": _token(self._page)},
            {"HX-Request": "true"},
        )
        self.seen.ahead.append(time.perf_counter() - begin)
        self._following = page if status == 200 else ""
        return status == 204 or self._expect("ahead", status, 200)

    def _submit(self) -> bool:
        """Answer what the page asks, as its script does: the next pair comes with the reply.

        Where that is at hand, the reply is the task bar alone.
        """
        found = _SEAT.search(self._page)
        assert found
        following = _SEAT.search(self._following)
        answer = {key: self._draw.choice("12") for key in ("helpfulness", "personalization")}
        begin = time.perf_counter()
        status, page = self._request(
            "POST",
            f"/seats/{found[1]}/",
            answer | {"comment": "", "csrfmiddlewaretoken": _token(self._page)},
            {"HX-Request": "true"} | ({"X-Ahead": following[1]} if following else {}),
        )
        self.seen.submit.append(time.perf_counter() - begin)
        if status == 200:
            self.seen.acknowledged[found[1]] = answer
            self._page = page if _SEAT.search(page) else self._following
            self._following = ""
        return self._expect("submit", status, 200) and bool(_SEAT.search(self._page))

    def _expect(self, what: str, status: int, expected: int) -> bool:
        if status != expected:
            self.seen.unexpected.append(f"{what}: status {status}")
        return status == expected

    def _request(
        self,
        method: str,
        path: str,
        form: dict[str, str] | None = None,
        more: dict[str, str] | None = None,
    ) -> tuple[int, str]:
        cookies = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        headers = {"Cookie": cookies, **(more or {})}
        if form is not None:
            headers["Content-Type"] = _FORM
        try:
            return self._send(method, path, form, headers)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            # The server had closed the idle connection; browsers try again, too.
            self._connection.close()
            return self._send(method, path, form, headers)

    def _send(
        self, method: str, path: str, form: dict[str, str] | None, headers: dict[str, str]
    ) -> tuple[int, str]:
        self._connection.request(method, path, urlencode(form) if form else None, headers)
        response = self._connection.getresponse()
        body = response.read().decode()
        for line in response.headers.get_all("Set-Cookie", []):
            for name, morsel in SimpleCookie(line).items():
                self._cookies[name] = morsel.value
        return response.status, body


def _token(page: str) -> str:
    found = _TOKEN.search(page)
    return found[1] if found else ""
