"""What a sample of pairs stands for: one collection, or two between which pairs go."""

from __future__ import annotations


class Collected:
    """Of so many items, and of so many others if there is a second collection."""

    items: int
    other_items: int | None

    @property
    def total_pairs(self) -> int:
        """How many pairs there are."""
        if self.other_items is not None:
            return self.items * self.other_items
        return self.items * (self.items - 1) // 2

    @property
    def keyed_items(self) -> int:
        """How many items need signatures and bucket keys."""
        return self.items + (self.other_items or 0)
