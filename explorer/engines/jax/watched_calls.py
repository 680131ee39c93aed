"""Watches calls of jax.grad, jax.value_and_grad and jax.vjp, and of functions that jax.jit compiles."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
from jax._src import api, core, pjit
from jax.tree_util import Partial

from explorer.engines.jax.leaf_names import (
    Leaf,
    leaves,
    leaves_of_call,
    parts_of,
    path_of,
    role_of,
)
from explorer.engines.jax.marks import Note, NoteKind, marked
from explorer.model.trace import StartRole

REST = "nondiff_states"
"""Where flax.nnx keeps what it does not differentiate of a module, beside its function (0.10.7)."""

Guard = Callable[[Callable[..., Any]], Callable[..., Any]]


class CompiledCall(NamedTuple):
    """A call of a function of the program's own that jax.jit compiles: what it is called with."""

    function: Callable[..., Any]
    info: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class _Argnums(NamedTuple):
    partial: Any
    argnums: tuple[int, ...]
    args: tuple[Any, ...]


class WatchedCalls:
    """Marks the outermost gradient calls of a step, and hands on calls of compiled functions.

    A context manager. Calls count that run while ``trace`` gets the operations, or while a function
    is traced by program(). ``compiled`` is called with each CompiledCall before it runs; ``guard`` makes
    of a function one that does not raise.
    """

    def __init__(self, trace: Any, guard: Guard, compiled: Callable[[CompiledCall], None]) -> None:
        self._guard = guard
        self._traces: list[Any] = [trace]
        self._own = trace
        self._compiled = compiled
        self._depth = 0
        self._noted: _Argnums | None = None
        self._originals: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> "WatchedCalls":
        self._vjp: Callable[..., Any] = self._patch(api, "_vjp", self._differentiated)
        self._argnums: Callable[..., Any] = self._patch(api, "argnums_partial", self._chosen)
        self._infer: Callable[..., Any] = self._patch(pjit, "_infer_params", self._called)
        for module in (core, jax.core):
            self._patch(module, "get_opaque_trace_state", self._state)
        return self

    def __exit__(self, *_: object) -> None:
        while self._originals:
            setattr(*self._originals.pop())
        self._traces = []

    def _patch(self, owner: Any, name: str, replacement: Callable[..., Any]) -> Any:
        original = getattr(owner, name)
        self._originals.append((owner, name, original))

        @functools.wraps(original)
        def watched(*args: Any, **kwargs: Any) -> Any:
            return replacement(*args, **kwargs)

        setattr(owner, name, watched)
        return original

    def is_outermost(self) -> bool:
        """Whether what runs now may be marked: a step, or a function that is traced to be."""
        return not self._depth and any(core.trace_ctx.trace is trace for trace in self._traces)

    def _state(self, convention: Any = None) -> Any:
        """What is traced, by which flax knows whether a module is its own to change: nothing in the step."""
        del convention
        trace = core.trace_ctx.trace
        return core.OpaqueTraceState((core.eval_trace if trace is self._own else trace)._weakref)

    # Gradients

    def _chosen(self, function: Any, argnums: Any, args: Any, **options: Any) -> Any:
        made = self._argnums(function, argnums, args, **options)
        places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        self._noted = _Argnums(made[0], places, tuple(args))
        return made

    def _differentiated(self, function: Any, *primals: Any, has_aux: bool = False) -> Any:
        noted, self._noted = self._noted, None
        if not self.is_outermost():
            return self._vjp(function, *primals, has_aux=has_aux)
        if noted is None or noted.partial is not function:
            noted = _Argnums(function, tuple(range(len(primals))), primals)
        names = self._guard(self._begin)(function, noted, primals) or ()
        primals = self._marked("begins", names, primals)
        self._depth += 1
        try:
            value, pull, *aux = self._vjp(function, *primals, has_aux=has_aux)
        finally:
            self._depth -= 1
        value = self._marked("loss", ("loss",) * len(jax.tree.leaves(value)), value)
        if aux:
            self._guard(self._mark_aux)(aux[0])
        pulled = functools.partial(self._pulled, names, pull.func)
        return (value, Partial(pulled, *pull.args, **pull.keywords), *aux)

    def _pulled(self, names: tuple[str | None, ...], pull: Callable[..., Any], *args: Any) -> Any:
        is_outermost = self.is_outermost()
        self._depth += 1
        try:
            gradients = pull(*args)
        finally:
            self._depth -= 1
        return self._marked("gradients", names, gradients) if is_outermost else gradients

    def _marked(self, kind: NoteKind, names: tuple[str | None, ...], tree: Any) -> Any:
        """The arrays of a tree with a mark; in the step itself they stay the same ones."""
        values = jax.tree.leaves(tree)
        made = marked(Note(kind, names), values)
        if core.trace_ctx.trace is self._own:
            return tree
        return jax.tree.unflatten(jax.tree.structure(tree), made)

    def _begin(
        self, function: Any, called: _Argnums, primals: tuple[Any, ...]
    ) -> tuple[str | None, ...]:
        """Mark what is not differentiated; the names of what is."""
        args, kwargs = called.args, dict(function.params)
        by_place = dict(zip(called.argnums, primals, strict=False))
        args = tuple(by_place.get(place, value) for place, value in enumerate(args))
        of_primals = {id(leaf) for leaf in jax.tree.leaves(primals)}
        found = list(leaves_of_call(function.f, args, kwargs))
        differentiated = [leaf for leaf in found if id(leaf.value) in of_primals]
        is_alone = len({leaf.argument for leaf in differentiated}) == 1
        names = {
            id(leaf.value): leaf.own_name if is_alone else leaf.name for leaf in differentiated
        }
        given = [leaf for leaf in found if id(leaf.value) not in of_primals]
        roles: list[StartRole] = list(map(role_of, given))
        rest = [
            Leaf("", steps, value)
            for state in getattr(function.f, REST, ())
            for steps, value in leaves(state)
        ]
        roles += ["buffer"] * len(rest)
        note = Note(
            "given",
            tuple(leaf.name for leaf in (*given, *rest)),
            tuple(roles),
            tuple(leaf.own_name for leaf in (*given, *rest)),
        )
        marked(note, [leaf.value for leaf in (*given, *rest)])
        return tuple(names.get(id(leaf)) for leaf in jax.tree.leaves(primals))

    def _mark_aux(self, aux: Any) -> None:
        """Mark what a function returns beside its loss: running statistics among it."""
        found = [leaf for part in parts_of(aux) for leaf in leaves(part)]
        names = tuple(path_of(steps) or None for steps, _ in found)
        marked(Note("aux", names), [value for _, value in found])

    # Compiled functions

    def _called(self, function: Any, info: Any, args: Any, kwargs: Any) -> Any:
        if is_users(function):
            if core.trace_ctx.trace is self._own:
                self._compiled(CompiledCall(function, info, args, kwargs))
            elif self.is_outermost():
                function = self._fresh(function)
        return self._infer(function, info, args, kwargs)

    def program(self, call: CompiledCall) -> tuple[Any, Any]:
        """The program of a compiled function, traced anew, as what JAX keeps of it has no marks.

        Also the tree of its results.
        """
        function = self._fresh(call.function)
        made, _ = self._infer(function, call.info, call.args, call.kwargs)
        return made.params["jaxpr"], made.out_tree

    def _fresh(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of which nothing is kept from an earlier call, and in which gradient calls count."""

        @functools.wraps(function)
        def fresh(*args: Any, **kwargs: Any) -> Any:
            with self._tracing():
                return function(*args, **kwargs)

        return fresh

    @contextmanager
    def _tracing(self) -> Iterator[None]:
        self._traces.append(core.trace_ctx.trace)
        depth, self._depth = self._depth, 0
        try:
            yield
        finally:
            self._depth = depth
            self._traces.pop()


LIBRARIES = ("jax", "flax", "optax")
"""Packages whose own compiled functions are no program's."""


def is_users(function: Callable[..., Any]) -> bool:
    """Whether a function is the program's own."""
    return str(getattr(function, "__module__", "")).partition(".")[0] not in LIBRARIES
