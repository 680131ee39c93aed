"""Parameters of which ``make test`` takes a few, and ``--whole`` all."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def sampled(names: Iterable[Any], always: Collection[Any]) -> list[Any]:
    """Names as parameters; those that only ``--whole`` runs are marked."""
    return [pytest.param(name, marks=() if name in always else pytest.mark.whole) for name in names]
