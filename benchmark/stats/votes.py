"""Votes one by one, for what depends on who gave them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmark.stats.codes import Ints
from benchmark.stats.counts import check_categories, whole_numbers

_MAX_CODE = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Votes:
    """The votes of a set on one criterion, one a row: arrays of shape (V,). A skip is no vote.

    ``item`` in 0..n_items-1, ``rater`` in 0..n_raters-1, ``choice`` a column of ``categories``.
    At most one vote by a rater on an item.
    """

    item: Ints
    rater: Ints
    choice: Ints
    n_items: int
    n_raters: int
    categories: tuple[str, ...]

    @classmethod
    def of(
        cls,
        item: npt.ArrayLike,
        rater: npt.ArrayLike,
        choice: npt.ArrayLike,
        *,
        n_items: int,
        n_raters: int,
        categories: Sequence[str],
    ) -> "Votes":
        """Checked votes. Raises ValueError for codes out of range and for a second vote."""
        names = check_categories(categories)
        items = _codes(item, name="items", below=n_items)
        raters = _codes(rater, name="raters", below=n_raters)
        choices = _codes(choice, name="choices", below=len(names))
        if not len(items) == len(raters) == len(choices):
            raise ValueError(
                f"{len(items)} items, {len(raters)} raters and {len(choices)} choices are no table"
            )
        places = np.sort(items * max(n_raters, 1) + raters)
        repeated = places[1:][places[1:] == places[:-1]]
        if len(repeated):
            item_code, rater_code = divmod(int(repeated[0]), max(n_raters, 1))
            raise ValueError(f"rater {rater_code} voted more than once on item {item_code}")
        return cls(
            item=items,
            rater=raters,
            choice=choices,
            n_items=n_items,
            n_raters=n_raters,
            categories=names,
        )

    def __len__(self) -> int:
        return len(self.item)

    def counts(self) -> Ints:
        """Votes per item and category, shape (n_items, K)."""
        return self._table(self.item, self.n_items)

    def counts_by_rater(self) -> Ints:
        """Votes per rater and category, shape (n_raters, K)."""
        return self._table(self.rater, self.n_raters)

    def _table(self, rows: Ints, n_rows: int) -> Ints:
        k = len(self.categories)
        table = np.bincount(rows * k + self.choice, minlength=n_rows * k)
        return table.reshape(n_rows, k).astype(np.int64)


def _codes(values: npt.ArrayLike, *, name: str, below: int) -> Ints:
    codes = whole_numbers(values, name=name, maximum=_MAX_CODE)
    if len(codes) and codes.max() >= below:
        raise ValueError(f"{name} must be codes below {below}; found {codes.max()}")
    return codes
