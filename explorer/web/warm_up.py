"""What a server does before its first visitor asks: it loads the pages, and starts the workers."""

import importlib
import os
import threading
from contextlib import suppress

from explorer.exploration.installed import about, nothing_runs
from explorer.model.engines import Framework, WorkerKind
from explorer.model.errors import ExplorerError
from explorer.web.offered_scenarios import offered, scenario
from explorer.web.shared_runs import shared_runs
from explorer.workers.workers import Workers

VARIABLE = "EXPLORER_START_WORKERS"
"""With "no", workers are started when they are needed, and not before."""

KINDS: dict[WorkerKind, Framework] = {
    "torch": "torch",
    "mindspore": "mindspore",
    "mindspore-capture": "mindspore",
    "mindspore-second": "mindspore",
}
"""The workers that a scenario needs, by the framework that each imports."""

EXAMPLE = "mlp_cross_entropy"
"""The scenario of which the workers run one case: a net of the usual layers."""


def warm_up() -> threading.Thread:
    """Begin in a thread, while the server serves."""
    thread = threading.Thread(target=_warm_up, daemon=True)
    thread.start()
    return thread


def _warm_up() -> None:
    # The first visitor would wait for these imports, and for what is read for the first page.
    for module in ("explorer.web.entry", "pandas"):  # Streamlit asks pandas of what components show
        importlib.import_module(module)
    from explorer.web.home_page import read_ahead

    read_ahead()
    if os.environ.get(VARIABLE, "").casefold() != "no" and not nothing_runs():
        with suppress(ExplorerError):  # pages report what is missing
            start_workers(shared_runs().workers)


def start_workers(workers: Workers) -> None:
    """Have the workers import their frameworks, and run one case.

    Raises MissingFrameworkError or WorkerFaultError.
    """
    # One after another, so that a core is left for the pages; who asks meanwhile starts the rest.
    for kind, framework in KINDS.items():
        about(workers, {kind: framework})
    # Frameworks load much of themselves only when a gradient is computed.
    from explorer.exploration.explore import explore

    explore(scenario(offered()[EXAMPLE]), workers, selection="main")
