"""The code with which a reader gets the same from JAX."""

from collections.abc import Iterator, Sequence

from explorer.engines.jax.gradient_calls import Question
from explorer.engines.jax.net import WIDE
from explorer.engines.listing import (
    COTANGENT_IMPORT,
    gives_parameters,
    input_expressions,
    scenario_import,
    variables,
)
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest
from explorer.scenario.declaration import Declaration
from explorer.scenario.load import load

COMPILED = "jax-graph"

MODULE_IMPORT = "from explorer.engines.jax.modules import as_function"


def code(request: CaseRequest, asked: Question | None = None) -> str:
    """A program that prints the answer to a case, or raises as the engine did.

    ``asked`` is None where the net was not run.
    """
    scenario = load(request.net.scenario)
    lines = [
        *_header(request, scenario, asked),
        *_net(request, scenario, asked),
        *_start(request, scenario),
        *_inputs(scenario),
        *_gradient(request, scenario, asked),
    ]
    return "\n".join(lines) + "\n"


def _header(request: CaseRequest, scenario: Declaration, asked: Question | None) -> Iterator[str]:
    names = ["inputs", "jax_net"]
    if gives_parameters(scenario):
        names.append("parameters")
    if _starts_in_torch(request, scenario):
        names.append("torch_net")
    yield from ("import jax", "import jax.numpy as jnp")
    if asked is not None and asked.is_pulled and asked.has_integers:
        yield "import numpy as np"
    if _starts_in_torch(request, scenario):
        yield "import torch"
    if request.case.sens_param:
        yield COTANGENT_IMPORT
    if _is_module(asked):
        yield MODULE_IMPORT
    yield from scenario_import(scenario, sorted(names))
    yield ""
    dtypes = {array.dtype.name for array in scenario.inputs().values()}
    dtypes |= {value.dtype for value in request.net.parameters.values()}
    if not dtypes.isdisjoint(WIDE):
        yield 'jax.config.update("jax_enable_x64", True)'


def _starts_in_torch(request: CaseRequest, scenario: Declaration) -> bool:
    """Whether PyTorch's net has values that the scenario does not give."""
    given = scenario.parameters() or {}
    return scenario.defines("torch") and bool(set(request.net.parameters) - set(given))


def _net(request: CaseRequest, scenario: Declaration, asked: Question | None) -> Iterator[str]:
    """The line that makes the net, of a module the function that it stands for."""
    if _is_module(asked):
        names = {**scenario.renames, **request.net.names}
        given = f", names={names}" if names else ""
        yield f"net = as_function(jax_net(), trains={scenario.train}{given})"
    else:
        yield "net = jax_net()"


def _is_module(asked: Question | None) -> bool:
    return asked is not None and asked.net.is_module


def _start(request: CaseRequest, scenario: Declaration) -> Iterator[str]:
    """The lines that make the parameters that the net is called with."""
    if _starts_in_torch(request, scenario):
        yield from ("torch.manual_seed(0)", "held = torch_net().state_dict()")
        yield "start = {name: jnp.asarray(value.numpy()) for name, value in held.items()}"
        if gives_parameters(scenario):
            yield "start.update({name: jnp.asarray(it) for name, it in parameters().items()})"
    elif gives_parameters(scenario):
        yield "start = {name: jnp.asarray(value) for name, value in parameters().items()}"
    else:
        yield "start = {}"


def _inputs(scenario: Declaration) -> Iterator[str]:
    yield "arrays = inputs()"
    # A function has a place of its own for every argument: it cannot see that two are one array.
    for name, expression in input_expressions(scenario, "jnp.asarray({})", aliased=False).items():
        yield f"{name} = {expression}"


def _gradient(request: CaseRequest, scenario: Declaration, asked: Question | None) -> Iterator[str]:
    """The lines that differentiate the net, and print what comes of it."""
    case = request.case
    names = list(variables(scenario).values())
    weights = case.weight_names(request.net.trainable)
    function, arguments = "net", ["start", *names]
    if weights:
        function, arguments = "loss", ["weights", "start", *names]
        yield from _of_weights(weights)
    if asked is not None and asked.is_split:
        yield from _with_others(function)
        function = "with_others"
    first = len(arguments) - len(names)
    places = [*(first + position for position in case.positions), *([0] if weights else [])]
    if asked is None or not (asked.is_pulled or case.order > 1):
        yield _by_grad(case, function, places)
    elif case.order > 1:
        yield from _nested(case.order, arguments, places[0])
    else:
        yield from _pulled(request, asked, function, arguments, places)
    if request.net.engine == COMPILED:
        yield "gradient = jax.jit(gradient)"
    yield f"print(gradient({', '.join(arguments)}))"


def _of_weights(weights: Sequence[str]) -> Iterator[str]:
    """The lines that take the weights out of what the net is given, and a function of them."""
    yield f"weights = {{name: start.pop(name) for name in {list(weights)!r}}}"
    yield from ("", "", "def loss(weights, start, *inputs):")
    yield from ("    return net({**start, **weights}, *inputs)", "", "")


def _with_others(function: str) -> Iterator[str]:
    """The lines of a function that returns what is differentiated, and a tuple of all else."""
    yield from ("", "", "def with_others(*arguments):")
    yield f"    first, *others = {function}(*arguments)"
    yield from ("    return first, tuple(others)", "", "")


def _by_grad(case: GradCase, function: str, places: list[int]) -> str:
    """The line with jax.grad or jax.value_and_grad."""
    is_bare = len(places) == 1 and not isinstance(case.grad_position, tuple)
    argnums = str(places[0]) if is_bare else str(tuple(places))
    options = ", has_aux=True" if case.has_aux else ""
    transform = "value_and_grad" if case.api == "value_and_grad" else "grad"
    return f"gradient = jax.{transform}({function}, argnums={argnums}{options})"


def _nested(order: int, arguments: list[str], place: int) -> Iterator[str]:
    """The lines that take the gradient of a gradient."""
    leaf, given = arguments[place], ", ".join(arguments)
    yield from ("", "", "def gradient_of(function):")
    yield f"    def gradient({given}):"
    yield f"        outputs, pull = jax.vjp(lambda {leaf}: function({given}), {leaf})"
    yield "        return pull(jax.tree.map(jnp.ones_like, outputs))[0]"
    yield from ("", "    return gradient", "", "")
    yield f"gradient = {'gradient_of(' * order}net{')' * order}"


def _pulled(
    request: CaseRequest,
    asked: Question,
    function: str,
    arguments: list[str],
    places: list[int],
) -> Iterator[str]:
    """The lines that bring cotangents of their own: jax.grad has ones, and is for one number."""
    given, leaves = ", ".join(arguments), ", ".join(arguments[place] for place in places)
    has_aux = request.case.has_aux
    yield from ("", "", f"def gradient({given}):")
    made = "outputs, pull, aux" if has_aux else "outputs, pull"
    options = ", has_aux=True" if has_aux else ""
    yield f"    {made} = jax.vjp(lambda {leaves}: {function}({given}), {leaves}{options})"
    yield "    roots, tree = jax.tree.flatten(outputs)"
    seed = "jnp.ones_like(root)"
    if request.case.sens_param:
        seed = "jnp.asarray(cotangent(place, root.shape, str(root.dtype)), root.dtype)"
    if asked.has_integers:
        is_number = "jnp.issubdtype(root.dtype, jnp.inexact)"
        seed = f"{seed} if {is_number} else np.zeros(root.shape, jax.dtypes.float0)"
    of = "place, root in enumerate(roots)" if request.case.sens_param else "root in roots"
    yield f"    seeds = tree.unflatten([{seed} for {of}])"
    yield f"    return {'(outputs, aux)' if has_aux else 'outputs'}, pull(seeds)"
    yield from ("", "")
