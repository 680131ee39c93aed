"""Where the steps of a program begin and end: its gradient calls, and the update of its parameters."""

import functools
from collections.abc import Callable
from typing import Any

from jax._src import api, core, pjit

from explorer.engines.jax.programs import called
from explorer.engines.jax.rule_numbers import is_transposed
from explorer.engines.jax.step_recorder import StepRecorder
from explorer.engines.jax.versions import check_records
from explorer.engines.jax.watched_calls import is_users

Original = Callable[..., Any]


class StepStarts:
    """Calls ``begins`` before a gradient is computed, and ``ends`` behind a step.

    A step begins with a gradient call, or with a function that jax.jit compiles and in which one is. One
    that is recorded ends once all parameters are updated, any other where the next one begins.
    """

    def __init__(self, begins: Callable[[], None], ends: Callable[[], None]) -> None:
        self._begins = begins
        self._ends = ends
        self._is_in_step = False
        self._is_starting = False
        self._recorder: StepRecorder | None = None
        self._compiled: dict[int, tuple[Any, bool]] = {}
        self._originals: list[tuple[Any, str, Original]] = []

    def watch(self) -> None:
        """Wait for the next step; raises NotRecordedError in a version of JAX in which none is recorded."""
        check_records()
        for owner, name, watched in (
            (api, "argnums_partial", self._differentiated),
            (pjit, "_infer_params", self._prepared),
            (pjit, "_python_pjit_helper", self._called),
            # With what JAX keeps to call a compiled function without Python, no later call would be seen.
            (pjit, "_get_fastpath_data", _nothing),
        ):
            original = getattr(owner, name)
            self._originals.append((owner, name, original))
            setattr(owner, name, functools.partial(watched, original))

    def leave(self) -> None:
        """Wait for nothing more."""
        while self._originals:
            setattr(*self._originals.pop())

    def _start(self) -> None:
        self._end()
        self._is_in_step = self._is_starting = True
        self._begins()
        self._recorder = StepRecorder.running_now()

    def _end(self) -> None:
        if self._is_in_step:
            self._is_in_step, self._recorder = False, None
            self._ends()

    def _end_if_updated(self) -> None:
        recorder = self._recorder
        if recorder is not None and self._is_outermost() and recorder.is_updated:
            self._end()

    def _is_outermost(self) -> bool:
        """Whether the program itself runs, and not what JAX or a recorder traces."""
        return core.trace_ctx.trace is (self._recorder or core.eval_trace)

    def _differentiated(self, original: Original, *args: Any, **options: Any) -> Any:
        """A gradient call begins."""
        if self._is_starting or not self._is_outermost():
            self._is_starting = False
            return original(*args, **options)
        self._start()
        return api.argnums_partial(*args, **options)

    def _prepared(self, original: Original, function: Any, *args: Any) -> Any:
        """A compiled function is about to be called."""
        made = original(function, *args)
        if self._is_starting:
            self._is_starting = False
        elif (
            self._is_outermost()
            and is_users(function)
            and self._has_gradient(made[0].params["jaxpr"])
        ):
            self._start()
            return pjit._infer_params(function, *args)
        return made

    def _called(self, original: Original, *args: Any, **kwargs: Any) -> Any:
        """A compiled function is called: a step that is over by then does not hold it."""
        self._end_if_updated()
        return original(*args, **kwargs)

    def _has_gradient(self, program: Any) -> bool:
        """Whether a gradient is computed in a program, which is kept: JAX hands on the same one again."""
        if id(program) not in self._compiled:
            self._compiled[id(program)] = program, _is_differentiated(program.jaxpr)
        return self._compiled[id(program)][1]


def _nothing(_original: Original, *_: Any) -> None:
    """Nothing is kept."""


def _is_differentiated(program: Any) -> bool:
    waiting = [program]
    while waiting:
        for equation in waiting.pop().eqns:
            if is_transposed(equation.source_info.name_stack.stack):
                return True
            inner = called(equation.primitive, equation.params)
            if inner is not None:
                waiting.append(inner.jaxpr)
    return False
