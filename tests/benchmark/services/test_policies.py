"""Policies that are made for a set: versions, names, and that they never change."""

from __future__ import annotations

import pytest

from benchmark.models import SavedPolicy
from benchmark.services.policies import find_policy, policies_of, save_policy
from benchmark.stats.policy import PERSONAFEEDBACK_V1, PolicyError
from benchmark.stats.tiers import Bands
from tests.factories import make_campaign

pytestmark = pytest.mark.django_db


def test_the_same_name_is_the_next_version() -> None:
    pair_set = make_campaign().pair_set
    other = make_campaign("mugs").pair_set
    first = save_policy(pair_set=pair_set, name="strict", by="lead", decide="both_agree", minimum=9)
    again = save_policy(pair_set=pair_set, name="strict", by="lead", decide="both_agree", minimum=9)
    assert (first.version, again.pk) == (1, first.pk)
    bands = Bands(easy_above=(7, 10), medium_from=(1, 2))
    second = save_policy(
        pair_set=pair_set, name="strict", by="lead", decide="both_agree", bands=bands, note="why"
    )
    assert second.version == 2
    assert find_policy(pair_set, "strict") == second.policy
    assert find_policy(pair_set, "strict").bands == bands
    assert find_policy(pair_set, "strict@1").minimum == 9
    assert find_policy(pair_set, "personafeedback-v1") == PERSONAFEEDBACK_V1
    assert find_policy(pair_set, "personafeedback-v1@1") == PERSONAFEEDBACK_V1
    assert [policy.name for policy in policies_of(pair_set)][-1] == "strict"
    assert "strict" not in [policy.name for policy in policies_of(other)]
    with pytest.raises(PolicyError, match=r"no policy 'strict'; there are personafeedback-v1, "):
        find_policy(other, "strict")
    for name in ("strict@3", "strict@x", "strict@", "@1", "personafeedback-v1@2", ""):
        if name == "strict@":
            continue
        with pytest.raises(PolicyError, match="no policy"):
            find_policy(pair_set, name)


def test_built_in_names_and_broken_rules_are_refused() -> None:
    pair_set = make_campaign().pair_set
    with pytest.raises(PolicyError, match="built in"):
        save_policy(pair_set=pair_set, name="personafeedback-v1", by="lead", decide="both_agree")
    with pytest.raises(PolicyError, match="name must be lower-case"):
        save_policy(pair_set=pair_set, name="My Policy", by="lead", decide="both_agree")
    with pytest.raises(PolicyError, match="minimum must be between"):
        save_policy(pair_set=pair_set, name="none", by="lead", decide="both_agree", minimum=0)
    assert not SavedPolicy.objects.exists()
