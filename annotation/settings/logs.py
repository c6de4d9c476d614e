"""How lines of the log are written."""

from __future__ import annotations

import copy
import logging


class LineFormatter(logging.Formatter):
    """A traceback where the server is at fault. A request that was refused is told in a line.

    Either says what was asked for: of what Django refuses as a threat, its message does not tell.
    """

    def format(self, record: logging.LogRecord) -> str:
        # Not the record itself: others may handle it, too.
        record = copy.copy(record)
        if record.exc_info and 400 <= getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
        _name_address(record)
        return super().format(record)


def _name_address(record: logging.LogRecord) -> None:
    request = getattr(record, "request", None)
    # The development server calls its socket a request.
    path, method = getattr(request, "path", None), getattr(request, "method", None)
    if not isinstance(path, str):
        return
    # Escaped as by Django, so that nobody writes lines of their own into the log.
    path = path.encode("unicode_escape").decode("ascii")
    message = record.getMessage()
    # Not merely in it: "/" is in many a message.
    if not message.endswith(f": {path}"):
        record.msg, record.args = f"{message}: {method} {path}", ()
