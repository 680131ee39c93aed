"""Samples of what is costly to try: the same ones in every run, and all of them with --whole."""

import random
from collections.abc import Iterable
from typing import Any

import pytest


def some(parameters: Iterable[Any], *always: Any) -> list[Any]:
    """All parameters, of which those that are not among ``always`` are marked ``whole``."""
    everything = list(parameters)
    assert all(parameter in everything for parameter in always), always
    return [
        pytest.param(parameter, marks=() if parameter in always else pytest.mark.whole)
        for parameter in everything
    ]


def some_rows(rows: Iterable[tuple[Any, ...]], *always: tuple[Any, ...]) -> list[Any]:
    """As ``some``, of rows that each hold the values of several names."""
    return [pytest.param(*it.values[0], marks=it.marks) for it in some(rows, *always)]


def sampled(parameters: Iterable[Any], size: int, always: tuple[Any, ...] = ()) -> list[Any]:
    """All parameters, of which those outside a sample of ``size`` are marked ``whole``.

    Those of ``always`` are not.
    """
    everything = list(parameters)
    return some(everything, *random.Random(10).sample(everything, size), *always)
