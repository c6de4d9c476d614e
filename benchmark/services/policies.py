"""Policies of a set: the built-in ones, and those that were made for it."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Max

from benchmark.models import PairSet, SavedPolicy
from benchmark.stats.policy import POLICIES, Policy, PolicyError


def find_policy(pair_set: PairSet, name: str) -> Policy:
    """A policy by its name (the newest version) or as name@version.

    Raises PolicyError, listing the names there are.
    """
    plain, _, version = name.partition("@")
    saved = SavedPolicy.objects.filter(pair_set=pair_set, name=plain)
    if version:
        saved = saved.filter(version=int(version)) if version.isdecimal() else saved.none()
    row = saved.order_by("-version").first()
    if row is not None:
        return row.policy
    built_in = POLICIES.get(plain)
    if built_in is not None and version in ("", str(built_in.version)):
        return built_in
    names = sorted(
        set(SavedPolicy.objects.filter(pair_set=pair_set).values_list("name", flat=True))
    )
    raise PolicyError(f"no policy {name!r}; there are {', '.join([*POLICIES, *names])}")


def policies_of(pair_set: PairSet) -> list[Policy]:
    """The built-in policies, then the newest version of each that was made, by name."""
    newest: dict[str, SavedPolicy] = {}
    for row in SavedPolicy.objects.filter(pair_set=pair_set).order_by("name", "version", "id"):
        newest[row.name] = row
    return [*POLICIES.values(), *(row.policy for row in newest.values())]


def save_policy(
    *, pair_set: PairSet, name: str, by: str, note: str = "", **rules: Any
) -> SavedPolicy:
    """Keep rules under a name: version 1, or the next of those there are.

    ``rules`` are the other fields of `Policy`. The rules of the newest version again give that
    version back. Raises PolicyError for a built-in's name or rules that cannot be followed.
    """
    if name in POLICIES:
        raise PolicyError(f"name: {name} is built in and never changes; choose another")
    with transaction.atomic():
        # Two leads take turns.
        PairSet.objects.select_for_update(no_key=True).get(pk=pair_set.pk)
        rows = SavedPolicy.objects.filter(pair_set=pair_set, name=name)
        last = rows.aggregate(last=Max("version"))["last"] or 0
        newest = rows.filter(version=last).first()
        if newest is not None and newest.policy == Policy(name=name, version=last, **rules):
            return newest
        policy = Policy(name=name, version=last + 1, **rules)
        return SavedPolicy.objects.create(
            pair_set=pair_set,
            name=name,
            version=policy.version,
            rules=policy.as_json(),
            note=note,
            by=by,
        )
