"""Random numbers that a net draws although the masks of its dropout layers are given."""

from typing import Any

from mindspore.utils.ms_dispatch import MsDispatchMode

from explorer.engines.failures import UNREACHED_DRAW
from explorer.engines.mindspore.operators import draws_random_numbers
from explorer.model.errors import UsageError


class RefusedDraws(MsDispatchMode):  # type: ignore[misc]  # mindspore ships no types
    """Raises UsageError where an operator draws random numbers."""

    def __ms_dispatch__(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        if draws_random_numbers(func.name):
            raise UsageError(UNREACHED_DRAW.format(framework="MindSpore", operator=func.name))
        return func(*args, **(kwargs or {}))
