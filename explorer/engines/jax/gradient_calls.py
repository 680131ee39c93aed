"""How a case is put to JAX: the function, its arguments, and the transformation of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from explorer.engines.jax.net import Net, flat, named, returned_tree
from explorer.engines.jax.tensors import dtype_of
from explorer.model.cases import GradCase
from explorer.model.results import Leaf
from explorer.model.trees import TUPLE, Branch, Tree, names_in
from explorer.numeric.cotangents import cotangent

Function = Callable[..., Any]


@dataclass(frozen=True)
class Question:
    """What a case differentiates: ``function`` of ``arguments``, by those at ``places``.

    With weights the first argument are the weights, by name, and the second everything else that
    the net holds; without them the first one is everything. ``argnums`` are the places as jax.grad takes
    them. ``returned`` has the names of the net's outputs, nested as it returns them; with has_aux
    the function returns a pair, of which the first is differentiated. ``roots`` are what is
    differentiated, or its forms; ``is_scalar`` says that it is a number, as jax.grad wants it.
    """

    net: Net
    case: GradCase
    function: Function
    arguments: tuple[Any, ...]
    places: tuple[int, ...]
    argnums: int | tuple[int, ...]
    returned: Tree
    roots: Any
    is_scalar: bool
    is_split: bool
    has_integers: bool

    @property
    def leaves(self) -> tuple[Any, ...]:
        """The arrays that are differentiated."""
        return tuple(self.net.leaves(self.case).values())

    @property
    def held(self) -> tuple[Any, ...]:
        """The arguments that hold parameters: weights and all else, or everything."""
        return self.arguments[: len(self.arguments) - len(self.net.inputs)]

    @property
    def is_refused(self) -> bool:
        """Whether jax.grad refuses the case: nothing is differentiated, or an integer."""
        return self.case.must_fail or any(map(_is_integer, self.leaves))

    @property
    def is_pulled(self) -> bool:
        """Whether the case takes jax.vjp: jax.grad has cotangents of ones, and is for one number."""
        of_number = self.is_scalar
        if self.case.order > 1:
            of_number = not self.leaves[0].shape
        return not self.is_refused and (self.case.sens_param or not of_number)

    def gradients(self, cotangents: Any) -> list[Any]:
        """The gradients in the order of the case's leaves, of those of the ``places``."""
        weights = self.net.weights(self.case)
        found = list(cotangents)
        if not weights:
            return found
        by_name = found.pop()
        return [*found, *(by_name[name] for name in weights)]

    def named(self, outputs: Mapping[str, Any], gradients: Iterable[Any]) -> Any:
        """MindSpore's structure of the case, and its leaves."""
        answer: tuple[Tree, tuple[Leaf, ...]]
        answer = named(self.net, self.case, self.returned, dict(outputs), gradients)
        return answer


def question(net: Net, case: GradCase, outputs: Any) -> Question:
    """What a case asks of a net that returns ``outputs``, or arrays of such forms."""
    weights = net.weights(case)
    function, arguments = _called(net, weights)
    first = len(arguments) - len(net.inputs)
    places = tuple(first + position for position in case.positions) + ((0,) if weights else ())
    is_bare = len(places) == 1 and not isinstance(case.grad_position, tuple)
    returned = returned_tree(net, outputs)
    is_split = case.has_aux and _splits(returned)
    if is_split:
        function = _with_auxiliary(function)
    differentiated = outputs[0] if case.has_aux and _is_tuple(returned) else outputs
    roots = list(flat(differentiated))
    return Question(
        net=net,
        case=case,
        function=function,
        arguments=arguments,
        places=places,
        argnums=places[0] if is_bare else places,
        returned=returned,
        roots=differentiated,
        is_scalar=len(roots) == 1 and not roots[0].shape and not _is_integer(roots[0]),
        is_split=is_split,
        has_integers=any(map(_is_integer, roots)),
    )


def _called(net: Net, weights: Sequence[str]) -> tuple[Function, tuple[Any, ...]]:
    """The function that is differentiated and its arguments: weights apart, where there are some."""
    if not weights:
        return net.call, (dict(net.parameters), *net.arguments)
    trained = {name: net.parameters[name] for name in weights}
    others = {name: net.parameters[name] for name in net.parameters if name not in trained}
    return _of_weights(net.call), (trained, others, *net.arguments)


def _of_weights(call: Function) -> Function:
    def of_weights(weights: Mapping[str, Any], others: Mapping[str, Any], *inputs: Any) -> Any:
        return call({**others, **weights}, *inputs)

    return of_weights


def _with_auxiliary(function: Function) -> Function:
    """A function that returns what is differentiated, and a tuple of all else."""

    def with_auxiliary(*arguments: Any) -> Any:
        first, *rest = function(*arguments)
        return first, tuple(rest)

    return with_auxiliary


def _is_tuple(returned: Tree) -> bool:
    return isinstance(returned, Branch) and returned.kind == TUPLE and len(returned.parts) > 1


def _splits(returned: Tree) -> bool:
    """Whether a net returns more than the pair that has_aux=True takes."""
    return isinstance(returned, Branch) and _is_tuple(returned) and len(returned.parts) > 2


def _is_integer(value: Any) -> bool:
    return not jnp.issubdtype(value.dtype, jnp.inexact)


# The cotangents


def seeds(asked: Question) -> Any:
    """The cotangents of a case, nested like what is differentiated: ones, or what ``sens_param`` brings."""
    roots = asked.roots if asked.case.order == 1 else asked.leaves[0]
    leaves, tree = jax.tree.flatten(roots)
    made = [_seed(asked.case, *numbered) for numbered in enumerate(leaves)]
    return jax.tree.unflatten(tree, made)


def _seed(case: GradCase, index: int, root: Any) -> Any:
    if _is_integer(root):
        return np.zeros(root.shape, jax.dtypes.float0)  # what JAX takes for an integer
    if case.sens_param:
        return np.asarray(cotangent(index, root.shape, dtype_of(root)), root.dtype)
    return np.ones(root.shape, root.dtype)


# What is differentiated, and what differentiates it


def innermost(asked: Question) -> Function:
    """The function that the outermost gradient is taken of.

    A nested gradient is taken of the gradient of one order less.
    """
    function, is_scalar = asked.function, asked.is_scalar
    for _ in range(asked.case.order - 1):
        function = first_gradient(function, asked.places[0], is_scalar)
        is_scalar = not asked.leaves[0].shape
    return function


def first_gradient(function: Function, place: int, is_scalar: bool) -> Function:
    """The gradient of a function, by the argument at a place."""
    if is_scalar:
        of_number: Function = jax.grad(function, place)
        return of_number

    def gradient(*arguments: Any) -> Any:
        def of_leaf(leaf: Any) -> Any:
            return function(*arguments[:place], leaf, *arguments[place + 1 :])

        value, pull = jax.vjp(of_leaf, arguments[place])
        ones = jax.tree.map(lambda root: np.ones(root.shape, root.dtype), value)
        return pull(ones)[0]

    return gradient


def transformed(asked: Question) -> Function:
    """The function that answers a case: of the question's arguments, to be called or compiled.

    It returns the value or None, what is set aside or (), and the cotangents of the places.
    """
    if asked.is_pulled:
        return partial(pulled(asked), seeds(asked))

    function = innermost(asked)
    transform = jax.value_and_grad if asked.case.api == "value_and_grad" else jax.grad
    differentiate = transform(function, asked.argnums, has_aux=asked.case.has_aux)

    def answered(*arguments: Any) -> tuple[Any, Any, Any]:
        returned = differentiate(*arguments)
        value: Any = None
        aux: Any = ()
        if asked.case.api == "value_and_grad":
            value, returned = returned
            if asked.case.has_aux:
                value, aux = value
        elif asked.case.has_aux:
            returned, aux = returned
        cotangents = returned if isinstance(asked.argnums, tuple) else (returned,)
        return value, aux, cotangents

    return answered


def pulled(asked: Question) -> Function:
    """The same by jax.vjp: a function of the cotangents too, which returns all that the net returns."""
    function = innermost(asked)

    def answered(cotangents: Any, *arguments: Any) -> tuple[Any, Any, Any]:
        def of_leaves(*leaves: Any) -> Any:
            given = list(arguments)
            for place, leaf in zip(asked.places, leaves, strict=True):
                given[place] = leaf
            return function(*given)

        leaves = [arguments[place] for place in asked.places]
        value, pull, *aux = jax.vjp(of_leaves, *leaves, has_aux=asked.case.has_aux)
        return value, tuple(aux), pull(cotangents)

    return answered


def outputs_of(asked: Question, value: Any, aux: Any) -> Iterator[tuple[str, Any]]:
    """The outputs that a call returned, by name."""
    assert isinstance(asked.returned, Branch) or not asked.case.has_aux
    names = list(names_in(asked.returned))
    roots = list(flat(value))
    if asked.case.has_aux and isinstance(asked.returned, Branch):
        of_first = len(names_in(asked.returned.parts[0]))
        yield from zip(names[:of_first], roots, strict=False)
        yield from zip(names[of_first:], flat(aux), strict=True)
    else:
        yield from zip(names, roots, strict=False)
