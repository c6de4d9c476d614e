"""What a test needs to say "nothing changed": every row of every table of the project."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.db import connection


def row_counts() -> dict[str, int]:
    """Rows by table."""
    return {table: _scalar(f'SELECT count(*) FROM "{table}"') for table in _tables()}


def row_digests() -> dict[str, str]:
    """A digest of all rows by table, whatever their order on the disk."""
    return {
        table: _scalar(
            f"SELECT md5(coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), ''))"
            f' FROM "{table}" t'
        )
        for table in _tables()
    }


def _tables() -> list[str]:
    return sorted(
        model._meta.db_table
        for label in ("annotation", "benchmark")
        for model in apps.get_app_config(label).get_models(include_auto_created=True)
    )


def _scalar(sql: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]
