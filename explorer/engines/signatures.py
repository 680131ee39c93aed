"""The signature of a net's forward, as far as it says how inputs reach it."""

import inspect
from collections.abc import Callable
from typing import Any

from explorer.model.errors import UsageError


def refuse_keyword_only(forward: Callable[..., Any]) -> None:
    """Raise UsageError where a forward has an argument that no position reaches, and no default."""
    try:
        parameters = inspect.signature(forward).parameters.values()
    except (TypeError, ValueError):
        return  # a callable of compiled code may have none
    for parameter in parameters:
        is_required = parameter.default is parameter.empty
        if parameter.kind is parameter.KEYWORD_ONLY and is_required:
            raise UsageError(
                f"{forward.__qualname__} takes {parameter.name!r} only by keyword, but inputs are passed"
                " by position, in the order of inputs(); remove the * from its signature"
            )
