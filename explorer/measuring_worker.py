"""The worker's side of a measurement: runs one measuring function and turns whatever comes of it into a record."""

import importlib
import inspect
import re
import textwrap
import traceback
from collections.abc import Callable
from typing import Any

from explorer.arrays import plain
from explorer.measuring import Ask, Found, Measured, Measurement
from explorer.records import Failure


def run(request: Measurement) -> Measured:
    """What the function called ``request.target`` found, with its source; what it raised is the outcome."""
    module, _, name = request.target.partition(":")
    function = getattr(importlib.import_module(module), name)
    code = source(function)
    try:
        found: Found = function(Ask(request.scenario, request.device, request.options))
    except ImportError:
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        failure = Failure(type(error).__name__, str(error).strip(), f"{last.filename}:{last.lineno}")
        return Measured(outcome="raised", error=failure, code=code)
    return Measured(outcome="ok", figures=strict(found.figures), timings=found.timings, graphs=found.graphs, code=code)


def source(function: Callable[..., Any]) -> str:
    """The source of a function, and of what it uses of its own module, in the order of first use."""
    parts, waiting, home = {}, [function], vars(inspect.getmodule(function))
    while waiting:
        each = waiting.pop(0)
        parts[each.__name__] = textwrap.dedent(inspect.getsource(each))
        used = (home.get(name) for name in re.findall(r"\w+", parts[each.__name__]))
        own = [item for item in used if inspect.isroutine(item) or inspect.isclass(item)]
        waiting += [item for item in dict.fromkeys(own) if item.__module__ == function.__module__ and item not in waiting]
        waiting = [item for item in waiting if item.__name__ not in parts]
    return "\n\n".join(parts.values())


def strict(value: Any) -> Any:
    """Figures as JSON has them: tuples become lists, keys strings, and numbers that are not finite strings."""
    if isinstance(value, dict):
        return {str(key): strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict(item) for item in value]
    return plain(value)
