"""Whether anything can be run here, seen without starting a process or importing a framework."""

from explorer.environments.known import has, home_of
from explorer.model.engines import FRAMEWORKS, Framework
from explorer.model.errors import UsageError
from explorer.workers.system import can_run_workers


def nothing_runs() -> bool:
    """Whether no net can be run here: then faces show what was recorded elsewhere."""
    return not can_run_workers() or not any(map(_is_here, FRAMEWORKS))


def _is_here(framework: Framework) -> bool:
    """Whether a framework is installed beside the explorer, or in an environment that it knows."""
    try:
        return has(home_of(framework), framework)
    except UsageError:  # whoever runs the framework is told what is the matter
        return True
