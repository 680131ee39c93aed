"""The worker's side of a measurement: runs one measuring function and records its outcome."""

import ast
import inspect
import re
import textwrap
import traceback
from collections.abc import Callable
from typing import Any

from explorer.model.errors import MissingNetError
from explorer.model.measurement import Ask, Found, Measured, Measurement
from explorer.model.results import Failure
from explorer.text.numbers import plain
from explorer.workers.garbage_collection import imported


def run(request: Measurement) -> Measured:
    """The figures of the function called ``request.target``, or what it raised; with its source.

    Raises ImportError when a framework is missing: the worker answers for that.
    """
    name_of_module, _, name = request.target.partition(":")
    module = imported(name_of_module)
    function = getattr(module, name)
    # First, so that a program that raises is shown too.
    code = source(function)
    printed = listing(getattr(module, request.printed)) if request.printed else ""
    meant = listing(getattr(module, request.meant)) if request.meant else ""
    try:
        found: Found = function(Ask(request.scenario, request.device, request.options))
    except ImportError:
        raise  # a framework is missing, which is the worker's business
    except MissingNetError as error:
        failure = Failure(type(error).__name__, str(error))
        return Measured(outcome="not_defined", error=failure, code=code)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{frame.filename}:{frame.lineno}"
        failure = Failure(type(error).__name__, str(error).strip(), place)
        return Measured(outcome="raised", error=failure, code=code, printed=printed, meant=meant)
    return Measured(
        outcome="ok",
        figures=plain(found.figures),
        timings=found.timings,
        graphs=found.graphs,
        code=code,
        printed=printed,
        meant=meant,
    )


def source(function: Callable[..., Any]) -> str:
    """The source of a function and of the helpers in its module, in the order of first use."""
    # Words are looked up in the module rather than names in the syntax tree: a word in a comment may
    # bring in a helper too many, and none is missing.
    return _with_helpers(function, _words)


def listing(function: Callable[..., Any]) -> str:
    """The source of a function, and of the helpers that its code names, and nothing else.

    Code that a guide prints must have no helper too many.
    """
    return _with_helpers(function, _names)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _names(text: str) -> list[str]:
    nodes = ast.walk(ast.parse(text))
    return [node.id for node in nodes if isinstance(node, ast.Name)]


def _with_helpers(function: Callable[..., Any], words_of: Callable[[str], list[str]]) -> str:
    home = vars(inspect.getmodule(function))
    sources: dict[str, str] = {}
    waiting: list[Any] = [function]
    while waiting:
        current = waiting.pop(0)
        if current.__name__ in sources:
            continue
        text = textwrap.dedent(inspect.getsource(current))
        sources[current.__name__] = text
        for name in words_of(text):
            used = home.get(name)
            is_code = inspect.isroutine(used) or inspect.isclass(used)
            if is_code and used.__module__ == function.__module__:
                waiting.append(used)
    return "\n\n".join(sources.values())
