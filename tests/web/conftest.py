"""Pages in this process, each with a Streamlit of its own; servers for browsers, one for all tests."""

from collections.abc import Iterator

import pytest
import streamlit

from explorer.web import cards, code_page, pair_view
from tests.support.servers import serving_app, serving_samples

KNOWS_IN_EVERY_RUNTIME = (1, 66)
"""The first version of Streamlit that knows a component in a runtime that started after it was declared."""


@pytest.fixture(autouse=True)
def components_of_each_app(monkeypatch: pytest.MonkeyPatch) -> None:
    """Declare the components anew in every run, for the Streamlit that goes with Python 3.10.

    Outside of tests a process has one runtime.
    """
    version = tuple(int(part) for part in streamlit.__version__.split(".")[:2])
    if version < KNOWS_IN_EVERY_RUNTIME:
        for module in (cards, code_page, pair_view):
            monkeypatch.setattr(module, "_component", module._component.__wrapped__)


@pytest.fixture(scope="session")
def samples() -> Iterator[str]:
    """A server of the pages on records made by hand."""
    with serving_samples() as url:
        yield url


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """A server of the whole app, as `make app` starts it."""
    with serving_app({}) as url:
        yield url
