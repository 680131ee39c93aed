"""Each argument of the API's functions reaches the run that it is about."""

import math
from collections.abc import Callable
from typing import Any

import pytest

import explorer
from explorer.exploration.options import Wanted
from explorer.scenario.declaration import Declaration
from explorer.store.store import Store
from explorer.workers.workers import REQUEST_SECONDS, Workers

NET = "dense_mse"

Run = Callable[..., object]


class AskedError(Exception):
    """A run was asked for."""


class Asked:
    """What is wanted of the run that was asked for, and how it is to be made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("explorer.exploration.stored.explored", self._explored)
        monkeypatch.setattr("explorer.exploration.stored.stored_report", lambda *_: None)

    def _explored(self, _: Declaration, wanted: Wanted, workers: Workers, store: Store) -> object:
        self.wanted, self.workers, self.store = wanted, workers, store
        raise AskedError

    def of(self, run: Run, **arguments: Any) -> Wanted:
        """What is wanted of a run with some arguments."""
        with pytest.raises(AskedError):
            run(NET, **arguments)
        return self.wanted


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(monkeypatch)


CASE = "grad(net, grad_position=0, weights=None, has_aux=False)"

EXPLORE: dict[str, tuple[Any, str, Any]] = {
    "engines": (("torch-tape",), "engines", ("torch-tape",)),
    "device": ("cuda:1", "device", "cuda:1"),
    "order": (2, "order", 2),
    "case": ("grad(0)", "graph_case", CASE),
    "cases": ("structure", "selection", "structure"),
    "prove": (True, "prove", "all"),
    "oracle": (False, "oracle", False),
}
"""Another value of each argument, and what is wanted then."""

COMMON = {name: EXPLORE[name] for name in ("device", "case")}

ARGUMENTS: dict[Run, dict[str, tuple[Any, str, Any]]] = {
    explorer.explore: EXPLORE,
    explorer.diff: {**COMMON, "prove": EXPLORE["prove"]},
    explorer.graph: COMMON,
}

EACH = [(run, name) for run, names in ARGUMENTS.items() for name in names]


@pytest.mark.parametrize(
    ("run", "name"), EACH, ids=[f"{run.__name__}-{name}" for run, name in EACH]
)
def test_an_argument_changes_what_is_wanted(run: Run, name: str, asked: Asked) -> None:
    value, field, wanted = ARGUMENTS[run][name]
    assert getattr(asked.of(run), field) != wanted
    assert getattr(asked.of(run, **{name: value}), field) == wanted


@pytest.mark.parametrize("run", ARGUMENTS, ids=lambda run: run.__name__)
def test_limits_and_fresh_reach_the_workers_and_the_store(run: Run, asked: Asked) -> None:
    asked.of(run)
    assert not asked.store.fresh
    assert asked.workers.request_seconds == REQUEST_SECONDS
    assert asked.workers.deadline == math.inf
    asked.of(run, fresh=True, timeout=60.0, request_timeout=30.0)
    assert asked.store.fresh
    assert asked.workers.request_seconds == 30.0
    assert asked.workers.deadline < math.inf
