"""Answers of JAX to a case, as both of its engines give them."""

from collections.abc import Iterable, Mapping
from typing import Any

from explorer.engines.jax.code import code
from explorer.engines.jax.gradient_calls import Function, Question, outputs_of
from explorer.model.requests import CaseRequest
from explorer.model.results import Result
from explorer.model.trees import Branch, render


def answered(request: CaseRequest, asked: Question, call: Function) -> Result:
    """The result of a case where ``call`` is the function that is called in JAX's terms."""
    value, aux, cotangents = call(*asked.arguments)
    outputs = dict(outputs_of(asked, value, aux))
    return result(request, asked, outputs, asked.gradients(cotangents))


def result(
    request: CaseRequest, asked: Question, outputs: Mapping[str, Any], gradients: Iterable[Any]
) -> Result:
    """The result of a case with these outputs and gradients."""
    structure, leaves = asked.named(outputs, gradients)
    return Result(
        outcome="ok",
        structure=structure,
        leaves=leaves,
        natural=_natural(asked),
        code=code(request, asked),
    )


def _natural(asked: Question) -> str:
    """What JAX returns for the case, as Python writes it."""
    case, net = asked.case, asked.net
    names = list(net.inputs)
    parts = [f"d{names[position]}" for position in case.positions]
    weights = net.weights(case)
    if weights:
        parts.append("{" + ", ".join(f"{name!r}: d{name}" for name in weights) + "}")
    gradient = parts[0] if isinstance(asked.argnums, int) else _row(parts)
    if asked.is_pulled or case.api == "value_and_grad":
        return f"({render(_pair(asked))}, {gradient})"
    if case.has_aux and isinstance(asked.returned, Branch):
        return f"({gradient}, {render(_auxiliary(asked.returned))})"
    return gradient


def _pair(asked: Question) -> Any:
    """The outputs as JAX returns them: what is set aside stands apart."""
    returned = asked.returned
    if asked.case.has_aux and isinstance(returned, Branch):
        return Branch((returned.parts[0], _auxiliary(returned)))
    return returned


def _auxiliary(returned: Branch) -> Any:
    return returned.parts[1] if len(returned.parts) == 2 else Branch(returned.parts[1:])


def _row(parts: list[str]) -> str:
    comma = "," if len(parts) == 1 else ""
    return f"({', '.join(parts)}{comma})"
