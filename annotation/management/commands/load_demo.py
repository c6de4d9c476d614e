"""Load the demo campaigns and their logins, once."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from annotation.services.demo import LOGINS, load_demo


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--print-logins", action="store_true", help="print them, load nothing")
        parser.add_argument(
            "--if-local", action="store_true", help="elsewhere do nothing instead of refusing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        is_local = urlsplit(settings.PUBLIC_URL).hostname in ("localhost", "127.0.0.1", "::1")
        if not is_local and options["if_local"]:
            if not options["print_logins"]:
                self.stdout.write(f"No demo: {settings.PUBLIC_URL} is not this machine.")
            return
        if options["print_logins"]:
            for login in LOGINS:
                self.stdout.write(f"  {login.username:<12} {login.password:<18} {login.role}")
            return
        if not is_local:
            raise CommandError(
                f"The demo's passwords are public and {settings.PUBLIC_URL} may be too: the demo"
                " is loaded only where PUBLIC_URL is this machine."
            )
        self.stdout.write(
            "Demo loaded." if load_demo() else "The demo is there already: nothing changed."
        )
