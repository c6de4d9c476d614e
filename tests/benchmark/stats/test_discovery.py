import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.stats.discovery import Deviation, false_discoveries, flagged
from benchmark.stats.values import Reason
from tests.benchmark.stats.reference import untimed


def test_by_hand():
    """Sorted .01 .02 .03 .5: times 4/rank .04 .04 .04 .5."""
    assert false_discoveries([0.5, None, 0.03, 0.01, 0.02]) == [
        pytest.approx(0.5),
        None,
        *[pytest.approx(0.04)] * 3,
    ]
    assert flagged([0.5, None, 0.03, 0.01, 0.02]) == [False, False, True, True, True]


def test_the_example_of_the_paper():
    """Benjamini and Hochberg (1995), section 4.1: of fifteen p-values four are named at .05."""
    p = [
        *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344),
        *(0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0),
    ]
    assert flagged(p) == [True] * 4 + [False] * 11


def test_nothing_to_test():
    assert false_discoveries([]) == []
    assert false_discoveries([None, None]) == [None, None]
    with pytest.raises(ValueError, match="p"):
        false_discoveries([1.5])


@untimed
@given(st.lists(st.floats(0, 1) | st.none(), max_size=40))
def test_a_q_is_never_below_its_p_and_keeps_the_order(p):
    q = false_discoveries(p)
    pairs = sorted((one, other) for one, other in zip(p, q, strict=True) if one is not None)
    assert all(one <= other <= 1 for one, other in pairs)
    assert [other for _, other in pairs] == sorted(other for _, other in pairs)
    assert [one is None for one in p] == [other is None for other in q]


def test_deviations():
    assert Deviation.of(1.959963984540054).p == pytest.approx(0.05)
    assert Deviation.of(-1.959963984540054).p == pytest.approx(0.05)
    found = Deviation.of_sum(3.0, 2.25, compared=5, none=Reason.NO_OVERLAP)
    assert found.z == 2
    flat = Deviation.of_sum(0.0, 0.0, compared=5, none=Reason.NO_OVERLAP)
    assert flat.as_json() == {"z": None, "p": None, "reason": "zero_spread"}
    empty = Deviation.of_sum(0.0, 0.0, compared=0, none=Reason.NO_OVERLAP)
    assert empty.reason is Reason.NO_OVERLAP
