"""What measuring functions share: attempts whose exception is a figure, and timed calls.

No framework is imported here.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from explorer.model.errors import RecordedError
from explorer.model.failures import LACKING
from explorer.text.messages import first_sentence, first_statement, repeatable


def attempt(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What ``function`` returns, or {"raised": type, "message": text} of what it raised.

    The message has no addresses, no stack of C++, and nothing that is another at every run. What a
    version lacks is no figure: that is raised.
    """
    try:
        return function(*arguments, **options)
    except Exception as error:
        if isinstance(error, RecordedError) and error.failure.kind in LACKING:
            raise
        return {"raised": type(error).__name__, "message": repeatable(str(error))}


def attempt_briefly(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Like ``attempt``, with the first statement of a message alone.

    Left out are advice and the names of nodes, which change from version to version and from run to
    run.
    """
    figure = attempt(function, *arguments, **options)
    if raised(figure):
        return {**figure, "message": first_statement(figure["message"])}
    return figure


def raised(figure: Any) -> bool:
    """Whether a figure is an attempt that raised."""
    return isinstance(figure, dict) and "raised" in figure


def said(figure: Any) -> str:
    """ "Type: message" of an attempt that raised."""
    return f"{figure['raised']}: {figure['message']}"


def said_briefly(figure: Any) -> str:
    """ "Type: first sentence" of an attempt that raised; the record has the whole message."""
    return f"{figure['raised']}: {first_sentence(figure['message'])}"


def processor_seconds(calls: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The processor time of each call in seconds; the calls take turns.

    ``repeats`` runs follow a first one, which may compile and stands under "NAME, first call";
    under "NAME" is the least of the others.
    """
    # In turns, so that a slow moment of the machine falls on all calls alike.
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats + 1):
        for name, call in calls.items():
            start = time.process_time()
            call()
            seconds[name].append(time.process_time() - start)
    timings: dict[str, float] = {}
    for name, runs in seconds.items():
        timings[f"{name}, first call"] = runs[0]
    for name, runs in seconds.items():
        timings[name] = min(runs[1:])
    return timings
