"""Lines of the log name what was asked for, once."""

from __future__ import annotations

import logging
import socket

import pytest
from django.test import RequestFactory

from annotation.settings.logs import LineFormatter


def record(message: str, *arguments: object, request: object = None) -> logging.LogRecord:
    made = logging.LogRecord("django", logging.ERROR, __file__, 1, message, arguments, None)
    made.request = request
    return made


def line(message: str, *arguments: object, request: object = None) -> str:
    return LineFormatter().format(record(message, *arguments, request=request))


def test_method_and_path_are_added_where_they_are_missing() -> None:
    request = RequestFactory().post("/seats/1/?a=b")
    assert line("Too %s.", "big", request=request) == "Too big.: POST /seats/1/"
    assert line("Too 100% big.", request=request) == "Too 100% big.: POST /seats/1/"
    assert line("Not Found: %s", "/seats/1/", request=request) == "Not Found: /seats/1/"


def test_nobody_writes_a_line_of_their_own() -> None:
    request = RequestFactory().get("/a%0AERROR%20字/")
    assert line("Too big.", request=request) == r"Too big.: GET /a\nERROR \u5b57/"
    assert line("Not Found: %s", r"/a\nERROR \u5b57/", request=request).count("ERROR") == 1


@pytest.mark.parametrize("other", [None, "a task", socket.SocketType])
def test_what_is_no_request_of_a_page_is_left_out(other: object) -> None:
    assert line("Said.", request=other) == "Said."


def test_other_handlers_get_the_record_as_it_was() -> None:
    given = record("Too %s.", "big", request=RequestFactory().get("/"))
    LineFormatter().format(given)
    assert (given.msg, given.args) == ("Too %s.", ("big",))
