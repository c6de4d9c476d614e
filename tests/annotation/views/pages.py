"""What the tests of pages share: signed-in browsers, and pages taken apart."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Membership

HTMX = {"HX-Request": "true"}
ANSWER = {"helpfulness": "1", "personalization": "2"}
_VOID = {"input", "br", "hr", "meta", "link", "img"}


def browser(membership: Membership, **options: Any) -> Client:
    client = Client(**options)
    client.force_login(membership.user)
    return client


class Page(HTMLParser):
    """A page's elements with their attributes, its texts, and the forms' values."""

    def __init__(self, response: HttpResponse | Any) -> None:
        super().__init__()
        self.html: str = response.content.decode()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(self.html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not {"script", "style", "template"} & set(self._open) and data.strip():
            self.texts.append(" ".join(data.split()))

    @property
    def text(self) -> str:
        return " ".join(self.texts)

    def having(self, **attributes: str) -> list[dict[str, str]]:
        """Attributes of the elements that have all of these; "_" in a name stands for "-"."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [found for _, found in self.elements if wanted.items() <= found.items()]

    def checked(self) -> dict[str, str]:
        """The radio buttons that are chosen."""
        return {
            found["name"]: found["value"]
            for tag, found in self.elements
            if tag == "input" and found.get("type") == "radio" and "checked" in found
        }

    @property
    def is_whole(self) -> bool:
        return self.html.lstrip().lower().startswith("<!doctype html>")

    @property
    def csrf_token(self) -> str:
        return self.having(name="csrfmiddlewaretoken")[0]["value"]


def plain(html: str) -> str:
    """The page without what differs between any two requests."""
    html = re.sub(r'(csrfmiddlewaretoken" value=)"\w+"', r"\1", html)
    html = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "SEAT", html)
    return re.sub(r'X-CSRFToken(&quot;|"): (&quot;|")\w+', "TOKEN", html)


def task_address(membership: Membership) -> str:
    return reverse("task", args=[membership.campaign.slug])


def open_seat(membership: Membership) -> Assignment:
    """The one at work."""
    return Assignment.objects.get(membership=membership, state="open", is_ahead=False)


def submit_address(held: Assignment) -> str:
    return reverse("submit", args=[held.pk])
