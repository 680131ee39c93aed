"""What a server does before its first visitor asks: it loads the pages, and starts the workers."""

import importlib
import os
import threading
from contextlib import suppress

from explorer.exploration.about import start
from explorer.model.engines import Framework, WorkerKind
from explorer.model.errors import ExplorerError
from explorer.web.askings import askings
from explorer.web.offered_scenarios import offered, scenario
from explorer.workers.workers import Workers

VARIABLE = "EXPLORER_START_WORKERS"
"""With "no", workers are started when something is asked of them, and not before."""

KINDS: dict[WorkerKind, Framework] = {
    "torch": "torch",
    "mindspore": "mindspore",
    "mindspore-capture": "mindspore",
    "mindspore-second": "mindspore",
}
"""The workers that a scenario needs, by the framework that each imports."""

EXAMPLE = "mlp_cross_entropy"
"""The scenario of which the workers are asked one case: a net of the usual layers."""


def warm_up() -> threading.Thread:
    """Begin, aside: a server answers meanwhile."""
    thread = threading.Thread(target=_warm_up, daemon=True)
    thread.start()
    return thread


def _warm_up() -> None:
    # The first visitor would wait for these imports, and for what is read for the first page.
    for module in ("explorer.web.entry", "pandas"):  # Streamlit asks pandas of what components show
        importlib.import_module(module)
    from explorer.web.home_page import read_ahead

    read_ahead()
    if os.environ.get(VARIABLE, "").casefold() != "no":
        with suppress(ExplorerError):  # whoever asks something is told what is missing
            start_workers(askings().workers)


def start_workers(workers: Workers) -> None:
    """Have the workers import their frameworks, and answer one case.

    Raises MissingFrameworkError or WorkerFaultError.
    """
    # One after another, so that a core is left for the pages; who asks meanwhile starts the rest.
    for kind, framework in KINDS.items():
        start(workers, {kind: framework})
    # Frameworks load much of themselves only when a gradient is asked.
    from explorer.exploration.explore import explore

    explore(scenario(offered()[EXAMPLE]), workers, selection="main")
