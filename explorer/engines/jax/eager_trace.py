"""What JAX hands every operation to that runs outside of its own transformations."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jax._src import core


class EagerTrace(core.Trace):  # type: ignore[misc]  # jax is untyped here
    """Is given operations one by one; functions with rules of their own run as they are (0.6.2)."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Get what runs inside."""
        with core.set_current_trace(self):
            yield

    def stage_value(self, value: Any) -> Any:
        """A value stays what it is (asked for since 0.10)."""
        return value

    def process_custom_jvp_call(
        self, primitive: Any, function: Any, rule: Any, operands: Any, **_: Any
    ) -> Any:
        """Run a function with a rule of its own where nothing is differentiated."""
        del primitive, rule
        with self.running():
            return function.call_wrapped(*operands)

    def process_custom_vjp_call(
        self, primitive: Any, function: Any, forward: Any, backward: Any, operands: Any, **_: Any
    ) -> Any:
        """The same of one with a backward of its own."""
        del primitive, forward, backward
        with self.running():
            return function.call_wrapped(*operands)
