#!/usr/bin/env python3
"""Django's command line."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotation.settings")
    try:
        from django.conf import settings
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
        from django.db.utils import OperationalError
    except ImportError:
        sys.exit("Django is not installed here: run `make setup` and use .venv/bin/python.")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"Settings: {error}")
    except OperationalError as error:
        # Only connecting: an error in the middle of work keeps its traceback.
        if not settings.DATABASE_URL:
            sys.exit("No database: run `make services`, or set DATABASE_URL (and REDIS_URL).")
        if "connection" not in str(error):
            raise
        sys.exit(f"The database of DATABASE_URL does not answer: {str(error).splitlines()[0]}")
    except BrokenPipeError:
        # `... | head` has seen enough; nothing more may be written, at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


if __name__ == "__main__":
    main()
