"""How lines of the log are written."""

from __future__ import annotations

import copy
import logging


class LineFormatter(logging.Formatter):
    """A traceback where the server is at fault. A request that was refused is told in a line."""

    def format(self, record: logging.LogRecord) -> str:
        if record.exc_info and 400 <= getattr(record, "status_code", 500) < 500:
            # Not the record itself: others may handle it, too.
            record = copy.copy(record)
            record.exc_info = record.exc_text = None
        return super().format(record)
