"""Python's text is parsed by many threads without an error."""

import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Any

import pytest

from explorer.text.parsing import parsed

TEXT = f"a = {'(' * 50}1{')' * 50}\nb = [{'f(x)[1:2] + {3: g(y)}, ' * 300}]\n"


def nothing(*_: Any) -> None:
    """What is called at every collection of garbage, so that threads may change places there."""


@pytest.fixture
def restless_threads() -> Iterator[None]:
    """Threads that change places as often as can be, also inside a parse."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    gc.callbacks.append(nothing)
    yield
    gc.callbacks.remove(nothing)
    gc.set_threshold(*thresholds)
    sys.setswitchinterval(interval)


@pytest.mark.slow
@pytest.mark.usefixtures("restless_threads")
def test_threads_parse_side_by_side() -> None:
    with ThreadPoolExecutor(8) as threads:
        trees = list(threads.map(parsed, repeat(TEXT, 40)))
    assert len(trees) == 40
