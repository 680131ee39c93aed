"""Dropout layers of MindSpore's nets with masks that are given, for scenarios with SAME_DROPOUT."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import mindspore as ms
from mindspore import mint, nn

from explorer.model.errors import UsageError
from explorer.numeric.dropout_masks import dropout_mask
from explorer.scenario.contract import Scenario
from explorer.scenario.load import load

DROPOUTS = (nn.Dropout, mint.nn.Dropout)

Calls = list[tuple[str, tuple[int, ...]]]
"""The path and the shape of each dropout that a forward calls, in the order of the calls."""


class FixedDropout(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Dropout by a mask that is a constant."""

    def __init__(self, mask: Any) -> None:
        super().__init__()
        self.mask = mask

    def construct(self, x):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN001  # compiled
        """What is left of ``x``, enlarged."""
        return x * self.mask


class NotedDropout(nn.Cell):  # type: ignore[misc]  # likewise
    """A dropout that drops nothing and notes that it was called."""

    def __init__(self, path: str, calls: Calls) -> None:
        super().__init__()
        self._path = path
        self._calls = calls

    def construct(self, x: Any) -> Any:
        """The input itself."""
        self._calls.append((self._path, tuple(x.shape)))
        return x


def fix_dropout(cell: Any, scenario: Scenario) -> None:
    """Put fixed masks in the place of the dropout layers of a Cell, which is in its mode already.

    ``nn.Dropout`` and ``mint.nn.Dropout`` are such layers. Raises UsageError for one that is called
    more than once.
    """
    calls = dropout_calls(str(scenario.path), scenario.path.stat().st_mtime_ns)
    dropouts = _dropouts(cell)
    for call, (path, shape) in enumerate(calls):
        mask = dropout_mask(call, shape, _rate(dropouts[path]))
        _replace(cell, path, FixedDropout(ms.Tensor(mask)))


@lru_cache
def dropout_calls(scenario: str, _changed: int) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The dropouts that a forward calls, which is run once in PYNATIVE_MODE.

    ``_changed`` is when the scenario's file was last written.
    """
    ms.set_context(mode=ms.PYNATIVE_MODE)
    loaded = load(Path(scenario))
    assert loaded.mindspore_net is not None
    cell = loaded.mindspore_net()
    if not isinstance(cell, nn.Cell):
        return ()
    cell.set_train(loaded.train)
    calls: Calls = []
    for path, dropout in _dropouts(cell).items():
        if dropout.training and _rate(dropout) > 0:
            _replace(cell, path, NotedDropout(path, calls))
    cell(*(ms.Tensor(array) for array in loaded.inputs().values()))

    paths = [path for path, _ in calls]
    for path in paths:
        if paths.count(path) > 1:
            raise UsageError(
                f"SAME_DROPOUT: the dropout {path!r} of MindSpore's net is called"
                f" {paths.count(path)} times in one forward; give each call a layer of its own"
            )
    return tuple(calls)


def _dropouts(cell: Any) -> dict[str, Any]:
    """The dropout layers within a Cell, by path."""
    cells = cell.cells_and_names()
    return {path: inner for path, inner in cells if path and isinstance(inner, DROPOUTS)}


def _rate(dropout: Any) -> float:
    """The share of elements that a dropout drops."""
    # nn.Dropout takes keep_prob where it is given no p (2.10.0).
    rate = 1 - dropout.keep_prob if dropout.p is None else dropout.p
    return float(rate)


def _replace(cell: Any, path: str, replacement: Any) -> None:
    owner_path, _, attribute = path.rpartition(".")
    owner = dict(cell.cells_and_names())[owner_path]
    owner._cells[attribute] = replacement
    if hasattr(owner, "cell_list"):
        # A SequentialCell runs this list, not its Cells by name (2.10.0).
        owner.cell_list = list(owner._cells.values())
