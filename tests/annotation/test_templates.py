"""Templates obey the content policy, and the error pages render when little else works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import get_template
from django.test import Client, RequestFactory

from annotation.step_contexts import FinishedView
from annotation.views.errors import csrf_failure

FOLDER = Path(settings.BASE_DIR) / "templates"
TEMPLATES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.html"))
# Attributes and elements that the policy blocks, or that htmx needs eval for.
INLINE = re.compile(
    r"""\sstyle=|\son[a-z]+=|<style|<script(?![^>]*\ssrc=)|hx-on|\bjs:|hx-trigger="[^"]*\["""
)


@pytest.mark.parametrize("name", TEMPLATES)
def test_nothing_is_inline(name: str) -> None:
    get_template(name)
    assert not INLINE.search((FOLDER / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", TEMPLATES)
def test_what_is_cached_has_no_moments(name: str) -> None:
    """They would be in the zone of whoever came first."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    for cached in re.findall(r"{% cache .*?{% endcache %}", text, re.DOTALL):
        parts = [cached]
        for part in parts:
            included = re.findall(r'{% include "([^"]+)"', part)
            parts += [(FOLDER / each).read_text(encoding="utf-8") for each in included]
        assert not re.search(r"{% (moment|now)\b|\|(date|time)", "".join(parts))


def test_a_refused_form_names_both_addresses() -> None:
    request = RequestFactory().post("/", headers={"origin": "https://proxy.example"})
    request.htmx = False  # type: ignore[attr-defined]
    page = csrf_failure(request).content.decode()
    assert "https://proxy.example" in page
    assert "http://127.0.0.1" in page
    assert "PUBLIC_URL" in page


def test_the_page_of_a_server_error_needs_nothing() -> None:
    page = get_template("500.html").render()
    assert "The server had an error" in page


def test_a_crowd_participant_gets_a_code_and_the_way_back() -> None:
    request = RequestFactory().get("/")
    request.htmx = False  # type: ignore[attr-defined]
    finished = FinishedView(
        "Done", "All saved.", code="C0DE", code_address="https://crowd.example/"
    )
    page = get_template("annotate/finished.html").render(
        {"finished": finished, "campaign": {"slug": "cups"}, "progress": {"done": 2}}, request
    )
    assert re.search(r'<input id="completion-code"[^>]*value="C0DE"[^>]*readonly', page)
    assert 'href="https://crowd.example/"' in page
    assert "You have judged 2 pairs" in page


@pytest.mark.django_db
def test_an_unknown_address_is_told_to_everybody() -> None:
    response = Client().get("/nothing/here/")
    assert response.status_code == 404
    assert "There is no such page" in response.content.decode()
