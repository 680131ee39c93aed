"""What one version of JAX has where another has it elsewhere."""

from collections.abc import Iterable, Mapping
from typing import Any

import jax
from jax import experimental
from jax._src import api

from explorer.model.trace import Missing, NotRecordedError

RECORDED = "JAX 0.6"
"""The version in which steps of programs are recorded: later ones compute gradients by other functions."""

enable_x64 = jax.enable_x64 if hasattr(jax, "enable_x64") else experimental.enable_x64
"""Moved to ``jax`` in 0.8."""

__all__ = ["bound", "check_records", "enable_x64"]


def bound(primitive: Any, operands: Iterable[Any], params: Mapping[str, Any]) -> Any:
    """What ``primitive.bind`` returns for the parameters that an equation has."""
    given = primitive.get_bind_params(dict(params))
    functions: Iterable[Any] = ()
    if isinstance(given, tuple):  # before 0.9
        functions, given = given
    return primitive.bind(*functions, *operands, **given)


def check_records() -> None:
    """Raises NotRecordedError in a version in which steps of programs are not recorded."""
    if not (hasattr(api, "_vjp") and hasattr(api, "argnums_partial")):
        raise NotRecordedError(Missing("other_version", RECORDED))
