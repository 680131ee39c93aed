"""One package of a user's own, and one crew of workers that have it, for all tests of the API."""

import os
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from explorer.workers.workers import Workers
from tests.support.kept import place
from tests.support.own_package import write_package


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a user's package, which Python finds; whoever changes it puts it back."""
    process = os.environ.get("PYTEST_XDIST_WORKER", "")
    with place(f"own{process}", tmp_path_factory) as own, pytest.MonkeyPatch.context() as patch:
        folder = write_package(own)
        patch.setattr(sys, "path", [str(folder), *sys.path])
        yield folder


@pytest.fixture(scope="session")
def crew() -> Iterator[Workers]:
    """Workers of the API's tests: starting them takes seconds."""
    with Workers(request_seconds=300) as workers:
        yield workers


@pytest.fixture
def warm(package: Path, crew: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions of the API use the crew."""
    monkeypatch.setattr("explorer.api.functions.Workers", lambda *_: nullcontext(crew))
