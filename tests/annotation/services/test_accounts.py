"""Accounts: whose name can be seen, and whose password will do."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.utils import timezone

from annotation.models import User
from annotation.services.accounts import check_username, create_account
from annotation.services.invites import join_with_new_account
from tests.annotation.ways import make_invite
from tests.factories import PASSWORD, UserFactory, make_campaign

UNSEEN = ["", "\u3164", "\u115f", "\u1160\uffa0", "\u17b4"]


@pytest.mark.parametrize("name", UNSEEN)
def test_a_name_that_cannot_be_seen_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="nothing in this name that can be seen"):
        check_username(name)
    check_username(f"{name}ada")


@pytest.mark.django_db
@pytest.mark.parametrize("name", UNSEEN)
def test_no_account_is_made_of_one(name: str) -> None:
    with pytest.raises(ValidationError, match="nothing in this name"):
        create_account(username=name, password=PASSWORD)
    # Nor past the form.
    invite = make_invite(make_campaign())
    with pytest.raises(ValidationError, match="nothing in this name"):
        join_with_new_account(invite=invite, username=name, password=PASSWORD, now=timezone.now())
    invite.refresh_from_db()
    assert (invite.uses, User.objects.filter(username=name).exists()) == (0, False)


@pytest.mark.django_db
def test_an_account_is_made_by_the_rules_of_names_and_passwords() -> None:
    user = create_account(username="ﬁona", password=PASSWORD)
    assert User.objects.get(username="fiona") == user
    assert user.check_password(PASSWORD)
    assert not user.is_staff
    for name, password in (("two words", PASSWORD), ("ada", "12345"), ("x" * 151, PASSWORD)):
        with pytest.raises(ValidationError):
            create_account(username=name, password=password)
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_the_database_says_that_a_name_is_taken() -> None:
    UserFactory.create(username="ada")
    with pytest.raises(IntegrityError):
        create_account(username="ada", password=PASSWORD)
