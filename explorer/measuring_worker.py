"""The worker's side of a measurement: runs one measuring function and turns whatever comes of it into a record."""

import importlib
import inspect
import textwrap
import traceback
from typing import Any

from explorer.arrays import plain
from explorer.measuring import Ask, Found, Measured, Measurement
from explorer.records import Failure


def run(request: Measurement) -> Measured:
    """What the function called ``request.target`` found, with its source; what it raised is the outcome."""
    module, _, name = request.target.partition(":")
    function = getattr(importlib.import_module(module), name)
    code = textwrap.dedent(inspect.getsource(function))
    try:
        found: Found = function(Ask(request.scenario, request.device, request.options))
    except ImportError:
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        failure = Failure(type(error).__name__, str(error).strip(), f"{last.filename}:{last.lineno}")
        return Measured(outcome="raised", error=failure, code=code)
    return Measured(outcome="ok", figures=strict(found.figures), timings=found.timings, graphs=found.graphs, code=code)


def strict(value: Any) -> Any:
    """Figures as JSON has them: tuples become lists, keys strings, and numbers that are not finite strings."""
    if isinstance(value, dict):
        return {str(key): strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict(item) for item in value]
    return plain(value)
