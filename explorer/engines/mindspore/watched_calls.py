"""Operators seen where Python calls them: what stands in for dispatch modes before MindSpore 2.9.

Python reaches the kernels through few doors: a function of C++ for each operator, overloaded functions
and methods of tensors, and one call for all older operators (2.7, 2.8). Within a mode, each door hands
its calls to the mode. What C++ calls by itself, as it does in backward, is not seen.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial, wraps
from typing import Any, NamedTuple

import mindspore as ms
from mindspore._c_expression import TensorPy
from mindspore.common.api import _pynative_executor
from mindspore.ops.auto_generate import pyboost_inner_prim

from explorer.engines.mindspore.versions import provided
from explorer.engines.nested import replaced

OPERATOR, OVERLOADED = "pyboost_", "Functional_"
"""How functions of C++ that run one operator are called, and how the classes of overloaded ones end."""

INNER = re.compile("_Pyboost(\\w+)Prim")
"""The classes of further operators, whose objects are called."""

LAST_OF_OTHERS = ("_load", "set_")
"""The last methods of tensors that run no operator, in the order of their class (2.7, 2.8)."""


node_of: Callable[[Any], Any] = provided("Tensor._grad_node")


class _Mode:
    """What the doors know of the mode in force: the innermost one, and what is to be left alone."""

    def __init__(self) -> None:
        self.modes: list[Any] = []
        self.is_quiet = False
        self.calls: list[bool] = []  # of each overloaded call: whether it has called an operator

    @property
    def watches(self) -> bool:
        """Whether a mode wants to see what is called now."""
        return bool(self.modes) and not self.is_quiet

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Show nothing to a mode meanwhile."""
        before, self.is_quiet = self.is_quiet, True
        try:
            yield
        finally:
            self.is_quiet = before

    def note_call(self) -> None:
        """Note that the overloaded functions around are no operators: they have called one."""
        self.calls = [True] * len(self.calls)


MODE = _Mode()


class WatchedFunction:
    """An operator as a mode sees it: its name, and how it is called.

    ``result`` is that of the call that is seen, where it has run already.
    """

    def __init__(self, name: str, call: Callable[..., Any], result: Any = None) -> None:
        self.name = name
        self._call = call
        self._result = result

    def __call__(self, *args: Any) -> Any:
        """The result of the operator."""
        if self._result is not None:
            result, self._result = self._result, None
            return result
        with MODE.quiet():
            return self._call(*args)


class WatchedCalls:
    """A mode with ``__ms_dispatch__``, like those derived from MsDispatchMode.

    Modes do not stack: the innermost alone sees an operator.
    """

    def __enter__(self) -> Any:
        if not MODE.modes:
            for door in _doors():
                setattr(door.owner, door.name, door.watched)
        MODE.modes.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        MODE.modes.remove(self)
        if not MODE.modes:
            for door in _doors():
                door.restore()

    def operator_starts(self) -> None:
        """A call starts that may be an operator, and is shown when it has run."""


# Doors


class Door(NamedTuple):
    """An attribute through which Python calls operators; ``original`` is None where it is inherited."""

    owner: Any
    name: str
    watched: Callable[..., Any]
    original: Any

    def restore(self) -> None:
        """Put back what was there."""
        if self.original is None:
            delattr(self.owner, self.name)
        else:
            setattr(self.owner, self.name, self.original)


@cache
def _doors() -> tuple[Door, ...]:
    """All doors of this process."""
    older = partial(_older, _pynative_executor.run_op_async)
    doors = [Door(_pynative_executor, "run_op_async", older, None)]
    for name in _methods():
        watched = _method(getattr(ms.Tensor, name), name)
        doors.append(Door(ms.Tensor, name, watched, vars(ms.Tensor).get(name)))
    for kind in vars(pyboost_inner_prim).values():
        match = INNER.fullmatch(getattr(kind, "__name__", ""))
        if match:
            doors.append(Door(kind, "__call__", _inner(kind.__call__, match[1]), kind.__call__))
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "mindspore":
            doors += _functions(module)
    return tuple(doors)


def _functions(module: Any) -> Iterator[Door]:
    """The functions of C++ that a module of MindSpore's calls operators by."""
    for name, value in list(vars(module).items()):
        if name.startswith(OPERATOR):
            yield Door(module, name, partial(_single, value), value)
        elif type(value).__name__.endswith(OVERLOADED):
            yield Door(module, name, partial(_overloaded, value, value.name), value)


def _methods() -> list[str]:
    """The methods of tensors that are overloaded functions of C++."""
    names = list(vars(TensorPy))
    last = max(names.index(name) for name in LAST_OF_OTHERS if name in names)
    later = names[last + 1 :]
    return [name for name in later if callable(vars(TensorPy)[name]) and name != "__metaclass__"]


def _method(original: Any, name: str) -> Any:
    @wraps(original)
    def method(*args: Any, **kwargs: Any) -> Any:
        return _overloaded(original, name, *args, **kwargs)

    return method


def _inner(original: Any, name: str) -> Any:
    @wraps(original)
    def call(primitive: Any, *args: Any, **kwargs: Any) -> Any:
        if not MODE.watches:
            return original(primitive, *args, **kwargs)
        MODE.note_call()
        named = partial(_by_name, partial(original, primitive), tuple(kwargs))
        given = (*args, *kwargs.values())
        return MODE.modes[-1].__ms_dispatch__(WatchedFunction(name, named), given, {})

    return call


def _single(function: Any, primitive: Any, *given: Any) -> Any:
    """A function of C++ that runs the operator of one primitive."""
    if not MODE.watches:
        return function(primitive, *given)
    MODE.note_call()
    if len(given) == 1 and isinstance(given[0], list):
        call, args = partial(_listed, function, primitive), tuple(given[0])
    else:
        call, args = partial(function, primitive), given
    return MODE.modes[-1].__ms_dispatch__(WatchedFunction(primitive.name, call), args, {})


def _listed(function: Any, primitive: Any, *args: Any) -> Any:
    return function(primitive, list(args))


def _older(function: Any, primitive: Any, name: str, args: Any) -> Any:
    """The call of an older operator, whose arguments are the third one."""
    if not MODE.watches:
        return function(primitive, name, args)
    MODE.note_call()
    watched = WatchedFunction(name, function)
    return MODE.modes[-1].__ms_dispatch__(watched, (primitive, name, args), {})


def _overloaded(function: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """An overloaded function or method: an operator, unless it calls one or more in Python."""
    if not MODE.watches:
        return function(*args, **kwargs)
    mode = MODE.modes[-1]
    call = partial(_by_name, function, tuple(kwargs))
    given = (*args, *kwargs.values())
    if _is_in_place(name):
        MODE.note_call()
        return mode.__ms_dispatch__(WatchedFunction(_in_place_name(name), call), given, {})
    mode.operator_starts()
    MODE.calls.append(False)
    try:
        result = function(*args, **kwargs)
    finally:
        called = MODE.calls.pop()
    if called or not _is_new(result, given):
        return result
    MODE.note_call()
    return mode.__ms_dispatch__(WatchedFunction(_name(result, name), call, result), given, {})


def _by_name(function: Any, names: tuple[str, ...], *args: Any) -> Any:
    """The result of a function whose last arguments have ``names``."""
    place = len(args) - len(names)
    return function(*args[:place], **dict(zip(names, args[place:], strict=True)))


def _is_in_place(name: str) -> bool:
    is_method = name.endswith("_") and not name.endswith("__")
    return is_method or (name.startswith("__i") and name not in ("__invert__", "__index__"))


def _in_place_name(name: str) -> str:
    return f"Inplace{_camel(name.removeprefix('__i') if name.startswith('__i') else name)}"


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.strip("_").split("_"))


def _tensors(values: Any) -> list[Any]:
    found: list[Any] = []

    def note(value: Any) -> Any:
        if isinstance(value, ms.Tensor):
            found.append(value)
        return value

    replaced(tuple(values), note)
    return found


def _is_new(result: Any, given: tuple[Any, ...]) -> bool:
    """Whether a call has made tensors, and not only handed one of its own on."""
    tensors = _tensors((result,))
    if not tensors:
        return False
    one = tensors[0]
    for other in _tensors(given):
        if one is other or (
            one.data_ptr() == other.data_ptr()
            and tuple(one.shape) == tuple(other.shape)
            and _node(one) == _node(other)
        ):
            return False
    return True


def _node(tensor: Any) -> Any:
    node = node_of(tensor)
    return node and (node.name(), node._sequence_nr())


def _name(result: Any, name: str) -> str:
    """The name of an overload: that of the tape's node, if it has one."""
    node = node_of(_tensors((result,))[0])
    if node is None or node.is_leaf():
        return _camel(name)
    overload: str = node.name()
    return overload
