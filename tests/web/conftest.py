"""Pages in this process: each app of a test has a Streamlit of its own."""

import pytest
import streamlit

from explorer.web import cards, code_page, pair_view

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
