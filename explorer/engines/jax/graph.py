"""JAX, graph style: jax.jit derives forward and backward as one program before anything runs."""

from typing import Any

import jax

from explorer.engines.jax.answers import answered
from explorer.engines.jax.captures import captured, replayed, whole_arguments
from explorer.engines.jax.code import code
from explorer.engines.jax.errors import failed
from explorer.engines.jax.gradient_calls import Question, outputs_of, pulled, question, transformed
from explorer.engines.jax.hlo_graph import compiled_graph
from explorer.engines.jax.net import Net, built, describe, forms
from explorer.engines.jax.programs import interpret, program_of
from explorer.engines.jax.recording import Place, Recording
from explorer.model.cases import GradCase
from explorer.model.graph import GradGraph, NodeKind
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, Result

__all__ = ["answer", "capture", "describe", "recorded", "replay"]


STAGE = "jaxpr"

SEED = "seed"
"""What a cotangent is called with which a backward pass begins."""


def answer(request: CaseRequest) -> Result:
    """The result of one case on a fresh net; an exception is a result too."""
    try:
        with built(request.net) as net:
            asked = question(net, request.case, forms(net))
            return answered(request, asked, jax.jit(transformed(asked)))
    except Exception as error:
        return failed(request, error, code(request))


def capture(request: CaseRequest) -> Captured:
    """The program of one case as XLA compiles it and before, and the answer of the compiled one.

    Before, it is run operation by operation.
    """
    return captured(request, STAGE, recorded, _compiled)


def _compiled(
    request: CaseRequest, asked: Question, recording: Recording
) -> tuple[tuple[GradGraph, ...], Result]:
    """The graph of the program as XLA compiles it, whatever was recorded of it before, and its answer."""
    del recording
    function = transformed(asked)
    # What no result needs is kept among the arguments, so that these are those of the call.
    program = jax.jit(function, keep_unused=True).lower(*asked.arguments).compile()
    leaves = _names(asked.net, asked, 0)
    results = _results(request.case, asked, jax.eval_shape(function, *asked.arguments))
    engine, scenario = request.net.engine, str(asked.net.scenario.path)
    text = program.as_text()  # None on a platform that shows none
    graphs: tuple[GradGraph, ...] = ()
    if text:
        graphs = (compiled_graph(text, leaves, results, scenario, engine, request.case.label),)
    return graphs, answered(request, asked, program)


def _results(case: GradCase, asked: Question, form: Any) -> list[str]:
    """The names of a program's results in their order; "" is one that is not among the case's."""
    numbered = jax.tree.unflatten(jax.tree.structure(form), range(len(jax.tree.leaves(form))))
    value, aux, cotangents = numbered
    names = [""] * len(jax.tree.leaves(form))
    outputs = _by_name(asked, value, aux) if case.order == 1 else {}
    gradients = zip(asked.net.leaves(case), asked.gradients(cotangents), strict=True)
    for name, number in (*outputs.items(), *gradients):
        names[int(number)] = name
    return names


def replay(request: CaseRequest) -> Result:
    """The gradients of one case from its program, run in another order."""
    return replayed(request, recorded)


def recorded(request: CaseRequest, net: Net) -> tuple[Question, Recording]:
    """What a case asks, and the operations of the program that answers it; raises what the net raises."""
    asked = question(net, request.case, forms(net))
    given = whole_arguments(asked)
    program, form = jax.make_jaxpr(pulled(asked), return_shape=True)(*given)
    recording = Recording(is_program=True)
    names = _names(net, asked, len(jax.tree.leaves(given[0])))
    values = jax.tree.leaves(given)
    origins = [
        recording.add_array(value, kind, name, "backward" if name == SEED else "forward")
        for (kind, name), value in zip(names, values, strict=True)
    ]
    arguments = list(zip(origins, values, strict=True))
    results = interpret(recording, program_of(program), arguments, Place())
    ends = [origin for origin, _ in results]
    made = [value for _, value in results]
    # Numbers in the order of the program's results, in the places of these.
    numbered = jax.tree.unflatten(jax.tree.structure(form), range(len(ends)))
    value, aux, cotangents = numbered
    outputs = _by_name(asked, value, aux) if request.case.order == 1 else {}
    gradients = dict(zip(net.leaves(request.case), asked.gradients(cotangents), strict=True))
    recording.results = {name: made[it] for name, it in {**outputs, **gradients}.items()}
    recording.outputs = {name: ends[it] for name, it in outputs.items()}
    recording.set_gradients({name: ends[it] for name, it in gradients.items()})
    return asked, recording


def _by_name(asked: Question, value: Any, aux: Any) -> dict[str, int]:
    """The numbers of the outputs among a program's results."""
    return {name: int(number) for name, number in outputs_of(asked, value, aux)}


def _names(net: Net, asked: Question, seeds: int) -> list[tuple[NodeKind, str]]:
    """The kind and the name of each array among the arguments, of which the ``seeds`` are the first."""
    parameters: list[Any] = [{name: ("parameter", name) for name in held} for held in asked.held]
    inputs = [("input", name) for name in net.inputs]
    named = jax.tree.leaves((*parameters, *inputs), is_leaf=_is_name)
    return [*[("constant", SEED)] * seeds, *named]


def _is_name(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and value[0] in ("parameter", "input")
