"""Runs the programs of JAX, and those inside of their operations, operation by operation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import core

from explorer.engines.jax.marks import MARK
from explorer.engines.jax.recording import Found, Place, Recording

MOST_OPERATIONS = 2000
"""A loop that runs more operations than this, in all its steps, stays one operation."""


@dataclass(frozen=True)
class Program:
    """A program inside of an operation, and its constants."""

    jaxpr: Any
    constants: Sequence[Any]

    @property
    def size(self) -> int:
        """The number of its operations, with those of the programs inside of them, each once."""
        return _size(self.jaxpr)


def _size(jaxpr: Any) -> int:
    return sum(1 + sum(map(_size, core.jaxprs_in_params(it.params))) for it in jaxpr.eqns)


def program_of(value: Any) -> Program:
    """The program that is a parameter of an operation."""
    if hasattr(value, "jaxpr"):
        return Program(value.jaxpr, value.consts)
    return Program(value, ())


# A program, operation by operation

Returned = Sequence[Any] | None
"""What a program or an operation has returned, where it has run."""


class Operation(NamedTuple):
    """An operation that is called at a place, and what it has ``returned``."""

    primitive: Any
    params: Any
    operands: Sequence[Found]
    place: Place
    returned: Returned = None


def interpret(
    recording: Recording,
    program: Program,
    arguments: Sequence[Found],
    place: Place,
    returned: Returned = None,
) -> list[Found]:
    """Run a program that is called at a place, and record each operation; its results.

    ``returned`` are these where the program has run: an operation that made nothing else is not run again.
    """
    known: dict[Any, Found] = {}
    pairs = zip(program.jaxpr.outvars, returned, strict=True) if returned else ()
    made = {it: value for it, value in pairs if not isinstance(it, core.Literal)}

    def read(variable: Any) -> Found:
        if isinstance(variable, core.Literal):
            return None, variable.val
        return known[variable]

    for variable, value in zip(program.jaxpr.constvars, program.constants, strict=True):
        known[variable] = recording.add_array(value, "constant"), value
    known.update(zip(program.jaxpr.invars, arguments, strict=True))
    for equation in program.jaxpr.eqns:
        if equation.effects and not equation.outvars:
            continue  # it prints, which whatever is recorded does itself
        operation = Operation(
            equation.primitive,
            equation.params,
            [read(variable) for variable in equation.invars],
            place.inner(equation.source_info),
            _outputs_among(made, equation.outvars),
        )
        results = opened(recording, operation)
        if results is None:
            results = _run(recording, operation)
        known.update(zip(equation.outvars, results, strict=True))
    return [read(variable) for variable in program.jaxpr.outvars]


def _outputs_among(made: Mapping[Any, Any], variables: Sequence[Any]) -> Returned:
    """The values of all variables of an operation, if they are among those that are known."""
    return [made[it] for it in variables] if all(it in made for it in variables) else None


def _run(recording: Recording, operation: Operation) -> list[Found]:
    """Run an operation, if it has not returned, and record it."""
    primitive, params, operands, place, returned = operation
    values = [value for _, value in operands]
    origins = [origin for origin, _ in operands]
    outputs = recording.run(primitive, values, params) if returned is None else list(returned)
    made = recording.add(primitive, params, values, origins, outputs, place)
    return list(zip(made, outputs, strict=True))


def opened(recording: Recording, operation: Operation) -> list[Found] | None:
    """Run the programs inside of an operation in its stead; None where it has none, or a long loop."""
    name = str(operation.primitive)
    opener = OPENERS.get(name)
    if opener is None or (name in LOOPS and not recording.has_values):
        return None
    return opener(recording, operation)


Opener = Callable[[Recording, Operation], list[Found] | None]
"""Runs the programs of an operation; None where they stay closed."""

# Called once

CALLED = {
    "pjit": "jaxpr",
    "jit": "jaxpr",  # what "pjit" is called since 0.7
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "remat2": "jaxpr",
    "checkpoint": "jaxpr",
}
"""The parameters with the programs of operations that run these once."""


def called(primitive: Any, params: Any) -> Program | None:
    """The program that an operation runs once; None where it has none such."""
    name = CALLED.get(str(primitive))
    program = params.get(name) if name else None
    return None if program is None else program_of(program)


def _opener_of_call(parameter: str) -> Opener:
    def opener(recording: Recording, operation: Operation) -> list[Found] | None:
        _, params, operands, place, returned = operation
        if params.get(parameter) is None:
            return None
        return interpret(recording, program_of(params[parameter]), operands, place, returned)

    return opener


# Marked


def _mark(recording: Recording, operation: Operation) -> list[Found]:
    """What is marked, of which a recording is given what the mark says."""
    recording.note(operation.params["note"], *zip(*operation.operands, strict=True))
    return list(operation.operands)


# One of several


def _cond(recording: Recording, operation: Operation) -> list[Found]:
    """The branch that was taken."""
    params, place = operation.params, operation.place
    (_, index), *arguments = operation.operands
    name = recording.name_of_loop("cond", place)
    number = int(np.clip(int(index), 0, len(params["branches"]) - 1))
    branch, at = program_of(params["branches"][number]), place.numbered(name, number)
    return interpret(recording, branch, arguments, at, operation.returned)


# Step by step


AT: Any = jax.jit(partial(jax.lax.dynamic_index_in_dim, keepdims=False))
"""Reads an array at an index, compiled once for all indices."""


def _index(value: Any, *, index: int) -> Any:
    return AT(value, index)


def _stack(*values: Any) -> Any:
    return jnp.stack(values)


def _primitive(function: Callable[..., Any]) -> Any:
    """An operation that a loop of JAX does without one of its own."""
    primitive = core.Primitive(function.__name__.strip("_"))
    primitive.def_impl(function)
    return primitive


INDEX = _primitive(_index)
"""Reads the part of an array that belongs to a step."""

STACK = _primitive(_stack)
"""Puts together what the steps of a loop yield."""


def _scan(recording: Recording, operation: Operation) -> list[Found] | None:
    """The steps of a scan: each is given what the one before hands on, and its part of the arrays."""
    _, params, operands, place, _ = operation
    if "num_consts" not in params:
        return None  # 0.12 says otherwise which arrays are read step by step
    program, length = program_of(params["jaxpr"]), params["length"]
    if length * program.size > MOST_OPERATIONS or not length:
        return None
    constants = operands[: params["num_consts"]]
    first_array = params["num_consts"] + params["num_carry"]
    carried = list(operands[params["num_consts"] : first_array])
    arrays = operands[first_array:]
    yielded: list[list[Found]] = []
    name = recording.name_of_loop("scan", place)
    for number in _steps(length, params["reverse"]):
        at = place.numbered(name, number)
        parts = [_part(recording, array, number, at) for array in arrays]
        results = interpret(recording, program, [*constants, *carried, *parts], at)
        carried = results[: len(carried)]
        yielded.append(results[len(carried) :])
    in_order = reversed(yielded) if params["reverse"] else yielded
    stacks = [_stacked(recording, found, place) for found in zip(*in_order, strict=True)]
    return [*carried, *stacks]


def _steps(length: int, is_reverse: bool) -> Sequence[int]:
    return range(length - 1, -1, -1) if is_reverse else range(length)


def _part(recording: Recording, array: Found, number: int, place: Place) -> Found:
    """What a step reads of an array: where a loop has put that together, what its step yielded."""
    origin, _ = array
    if origin in recording.stacks:
        return recording.stacks[origin][number]
    (part,) = _run(recording, Operation(INDEX, {"index": number}, [array], place))
    return part


def _stacked(recording: Recording, parts: Sequence[Found], place: Place) -> Found:
    """What the steps yielded as one array."""
    (stack,) = _run(recording, Operation(STACK, {}, parts, place))
    if stack[0] is not None:
        recording.stacks[stack[0]] = parts
    return stack


def _while(recording: Recording, operation: Operation) -> list[Found] | None:
    """The steps of a loop until its condition is false."""
    _, params, operands, place, _ = operation
    first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    of_condition, of_body = operands[:first], operands[first:second]
    carried = list(operands[second:])
    condition, body = program_of(params["cond_jaxpr"]), program_of(params["body_jaxpr"])
    values = [value for _, value in of_condition], [value for _, value in of_body]
    most = MOST_OPERATIONS // max(body.size, 1)
    length = _length(condition, body, values, [value for _, value in carried], most)
    if length is None:
        return None
    name = recording.name_of_loop("while", place)
    for number in range(length):
        carried = interpret(recording, body, [*of_body, *carried], place.numbered(name, number))
    return carried


def _length(
    condition: Program,
    body: Program,
    constants: tuple[Sequence[Any], Sequence[Any]],
    carried: Sequence[Any],
    most: int,
) -> int | None:
    """The number of steps of a loop; None if there are more than ``most``."""
    with core.set_current_trace(core.eval_trace):  # nobody is to record them
        for number in range(most + 1):
            (goes_on,) = core.eval_jaxpr(
                condition.jaxpr, condition.constants, *constants[0], *carried
            )
            if not goes_on:
                return number
            carried = core.eval_jaxpr(body.jaxpr, body.constants, *constants[1], *carried)
    return None


LOOPS: dict[str, Opener] = {"cond": _cond, "scan": _scan, "while": _while}
"""How branches and loops are followed."""

OPENERS: dict[str, Opener] = {
    **{primitive: _opener_of_call(parameter) for primitive, parameter in CALLED.items()},
    str(MARK): _mark,
    **LOOPS,
}
"""How the programs inside of operations are run: their operations are shown instead."""
