"""Tables as files to download."""

from __future__ import annotations

import csv
import io
import json
from typing import Literal

from django.http import HttpResponse
from django.utils.http import content_disposition_header

from annotation.domain.tables import Table, as_json, csv_header, csv_rows

Format = Literal["csv", "json"]

CONTENT_TYPES: dict[Format, str] = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
}

# Without it spreadsheets read UTF-8 as the machine's own code page.
_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"


def table_response(table: Table, *, format: Format, filename: str) -> HttpResponse:
    """``table`` as an attachment; ``filename`` is without its ending.

    CSV has a BOM and one header line, JSON no NaN. Several thousand rows are a few megabytes.
    """
    body = _csv(table) if format == "csv" else _json(table)
    response = HttpResponse(body, content_type=CONTENT_TYPES[format])
    disposition = content_disposition_header(True, f"{filename}.{format}")
    assert disposition is not None
    response["Content-Disposition"] = disposition
    return response


def _csv(table: Table) -> str:
    out = io.StringIO(newline="")
    out.write(_BOM)
    writer = csv.writer(out)
    writer.writerow(csv_header(table))
    writer.writerows(csv_rows(table))
    return out.getvalue()


def _json(table: Table) -> str:
    return json.dumps(as_json(table), ensure_ascii=False, allow_nan=False)
