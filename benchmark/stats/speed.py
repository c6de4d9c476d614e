"""Votes that came too fast for the text, and raters who are fast throughout.

log seconds = rater + slope * log characters + residual. The slope is fitted within raters, so that
a fast rater of short items does not bend it; a rater's own level is the median of what remains.
Medians and MAD rather than means: a few breaks must not hide the hasty votes. Cut-off and factor
are those of Iglewicz and Hoaglin (1993), How to detect and handle outliers.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmark.stats.codes import Bools, Floats, Ints
from benchmark.stats.discovery import Deviation
from benchmark.stats.proportions import proportion
from benchmark.stats.raters import sums_by_rater
from benchmark.stats.values import Reason, Value
from benchmark.stats.votes import Votes

RUSHED_BELOW: Final = -3.5

# Characters a second. Adults read English silently at 238 words a minute (Brysbaert 2019), some 24
# characters a second; nobody reads at two and a half times that, and Chinese takes longer still.
FASTEST_READING: Final = 60.0

# 0.6745 is the upper quartile of the standard normal, where the MAD of normal data lies.
_MAD_OF_NORMAL: Final = 0.6745
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterSpeed:
    """Times of one rater's ``timed`` votes.

    ``rushed`` is the share with a robust z below -3.5, given text length and the rater's own level;
    ``unread`` the share faster than anybody reads. ``pace`` compares the rater's level with those
    of the others, in robust z: negative is fast.
    """

    timed: int
    median_seconds: float | None
    rushed: Value
    unread: Value
    pace: Deviation

    def as_json(self) -> dict[str, object]:
        """JSON form."""
        return {
            "timed": self.timed,
            "median_seconds": self.median_seconds,
            "rushed": self.rushed.as_json(),
            "unread": self.unread.as_json(),
            "pace": self.pace.as_json(),
        }


def rater_speeds(
    votes: Votes,
    *,
    seconds: npt.ArrayLike,
    characters: npt.ArrayLike,
    fastest: float = FASTEST_READING,
) -> tuple[RaterSpeed, ...]:
    """Speed of each rater, from ``seconds`` (V,), nan where unknown, and ``characters`` (n_items,).

    A time of zero or less is no time. Raises ValueError for arrays of another shape.
    """
    time = np.asarray(seconds, dtype=np.float64)
    text = np.asarray(characters, dtype=np.float64)
    if time.shape != (len(votes),) or text.shape != (votes.n_items,):
        raise ValueError(
            f"{time.shape} seconds and {text.shape} characters "
            f"for {len(votes)} votes on {votes.n_items} items"
        )
    timed = np.isfinite(time) & (time > 0)
    rater, time = votes.rater[timed], time[timed]
    length = np.maximum(text[votes.item][timed], 1.0)
    level, residual = _fit(rater, np.log(time), np.log(length), n_raters=votes.n_raters)
    z = _robust_z(residual)
    pace = _robust_z(level[~np.isnan(level)])

    count = np.bincount(rater, minlength=votes.n_raters)
    medians = _grouped_median(time, rater, groups=votes.n_raters)
    unread = _marked(votes, timed, time * fastest < length)
    rushed = None if z is None else _marked(votes, timed, z < RUSHED_BELOW)
    places = np.cumsum(count > 0) - 1
    return tuple(
        RaterSpeed(
            timed=m,
            median_seconds=float(medians[r]) if m else None,
            rushed=(
                Value.undefined(Reason.ZERO_SPREAD if m else Reason.NO_VOTES)
                if rushed is None or not m
                else proportion(int(rushed[r]), m)
            ),
            unread=proportion(int(unread[r]), m),
            pace=(
                Deviation.undefined(Reason.NO_VOTES)
                if not m
                else Deviation.undefined(Reason.ZERO_SPREAD)
                if pace is None
                else Deviation.of(float(pace[places[r]]))
            ),
        )
        for r, m in enumerate(count.tolist())
    )


def _marked(votes: Votes, timed: Bools, marked: Bools) -> Floats:
    flags = np.zeros(len(votes))
    flags[timed] = marked
    return sums_by_rater(votes, flags, where=timed)


def _fit(
    rater: Ints, log_time: Floats, log_length: Floats, *, n_raters: int
) -> tuple[Floats, Floats]:
    """The level of each rater (nan without a time), shape (n_raters,), and the residuals."""
    count = np.maximum(np.bincount(rater, minlength=n_raters), 1)

    def within(values: Floats) -> Floats:
        means = np.bincount(rater, weights=values, minlength=n_raters) / count
        return values - means[rater]

    length = within(log_length)
    squares = float(length @ length)
    slope = float(length @ within(log_time)) / squares if squares > _ROUNDING else 0.0
    rest = log_time - slope * log_length
    level = _grouped_median(rest, rater, groups=n_raters)
    return level, rest - level[rater]


def _robust_z(values: Floats) -> Floats | None:
    """Distance from the median in MADs, scaled to the normal; None where the MAD is zero."""
    if not len(values):
        return None
    deviation = values - np.median(values)
    spread = float(np.median(np.abs(deviation)))
    return None if spread <= _ROUNDING else _MAD_OF_NORMAL * deviation / spread


def _grouped_median(values: Floats, group: Ints, *, groups: int) -> Floats:
    """Median of the values of each group, shape (groups,); nan where a group is empty."""
    order = np.lexsort((values, group))
    count = np.bincount(group, minlength=groups)
    start = np.cumsum(count) - count
    medians = np.full(groups, np.nan)
    filled = count > 0
    at, n = start[filled], count[filled]
    ordered = values[order]
    medians[filled] = (ordered[at + (n - 1) // 2] + ordered[at + n // 2]) / 2
    return medians
