"""Whether anything can be run here, seen without starting a process or importing a framework."""

from explorer.environments.known import is_found
from explorer.model.engines import FRAMEWORKS
from explorer.workers.system import can_run_workers


def nothing_runs() -> bool:
    """Whether no net can be run here: then faces show what was recorded elsewhere."""
    return not can_run_workers() or not any(map(is_found, FRAMEWORKS))
