"""Whether anything can be run here, seen without starting a process or importing a framework."""

from importlib.util import find_spec

from explorer.model.engines import FRAMEWORKS


def nothing_runs() -> bool:
    """Whether no framework is here: then faces show what was recorded elsewhere."""
    return not any(map(_is_here, FRAMEWORKS))


def _is_here(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):  # something has put half a package into sys.modules
        return False
