"""Give a person a place in a campaign; a new account gets a password asked for or in PASSWORD."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from getpass import getpass
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import IntegrityError, transaction

from annotation.models import Campaign, Membership, User
from annotation.services.accounts import create_account
from annotation.services.members import add_member


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG")
        parser.add_argument("username", metavar="USERNAME")
        parser.add_argument("--role", choices=Membership.Role.values, default="annotator")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = (
            Campaign.objects.filter(pair_set__slug=options["slug"])
            .select_related("pair_set")
            .first()
        )
        if campaign is None:
            raise CommandError(f"There is no campaign {options['slug']}.")
        username = User.normalize_username(options["username"])
        with transaction.atomic():
            user = User.objects.filter(username=username).first() or self._new_user(username)
            try:
                membership = add_member(campaign=campaign, user=user, role=options["role"])
            except IntegrityError as error:
                raise CommandError(f"{username} is in {options['slug']} already.") from error
        self.stdout.write(f"{username} is in {options['slug']} as {membership.role}.")

    def _new_user(self, username: str) -> User:
        password = os.environ.get("PASSWORD", "")
        if not password:
            if not sys.stdin.isatty():
                raise CommandError(
                    f"{username} has no account yet: set PASSWORD, or call this from a terminal,"
                    " which asks for it."
                )
            password = getpass(f"Password for {username}: ")
        try:
            return create_account(username=username, password=password)
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
