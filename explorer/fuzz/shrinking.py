"""A net with a finding is cut down, step by step, to a smaller one that shows the same."""

from collections.abc import Callable, Iterator
from random import Random

import msgspec

from explorer.fuzz.program import Program, Step, drawn_values, pruned

Shows = Callable[[Program], bool]
"""Whether a net still shows what is looked for."""

LOOKS = 40
"""How many smaller nets are tried for one finding."""


def shrunk(program: Program, shows: Shows) -> Program:
    """A smaller net that ``shows`` the same; the greatest cuts are tried first."""
    looks = 0
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for candidate in candidates(program):
            looks += 1
            if looks > LOOKS:
                return program
            if shows(candidate):
                program = candidate
                is_smaller = True
                break
    return program


def candidates(program: Program) -> Iterator[Program]:
    """Smaller nets, each by one cut."""
    if program.order > 1:
        yield msgspec.structs.replace(program, order=1)
    for step in program.steps[:-1]:
        yield _ending_with(program, step)
    if len(program.results) > 1:
        for name, how in program.results.items():
            yield pruned(msgspec.structs.replace(program, results={name: how}))
    for step in reversed(program.steps):
        # A net that begins with the input itself loses nothing by another one.
        if any(operand not in program.inputs for operand in step.operands):
            yield _beginning_at(program, step)
    yield from _without_a_step(program)
    if program.dtype != "float32":
        yield msgspec.structs.replace(program, dtype="float32")
    for name, how in program.results.items():
        if how != "sum":
            yield msgspec.structs.replace(program, results={**program.results, name: "sum"})


def _without_a_step(program: Program) -> Iterator[Program]:
    """Nets in which an operand stands for what a step makes of it, in the same shape."""
    for step in program.steps:
        for operand in dict.fromkeys(step.operands):
            if _shape(program, operand) == step.shape:
                yield _without(program, step, operand)


def _ending_with(program: Program, step: Step) -> Program:
    """The net whose only result is that of an earlier step."""
    return pruned(msgspec.structs.replace(program, results={step.name: "squares"}))


def _beginning_at(program: Program, step: Step) -> Program:
    """The net in which inputs take the place of what a step is made of."""
    inputs, values = dict(program.inputs), dict(program.values)
    names: dict[str, str] = {}
    for operand in dict.fromkeys(step.operands):
        if operand not in program.inputs:
            names[operand] = f"x{len(inputs)}"
            inputs[names[operand]] = _shape(program, operand)
            values[names[operand]] = drawn_values(_shape(program, operand), Random(operand))
    begun = _renamed(step, names)
    steps = tuple(begun if each is step else each for each in program.steps)
    return pruned(msgspec.structs.replace(program, inputs=inputs, values=values, steps=steps))


def _without(program: Program, step: Step, operand: str) -> Program:
    """The net in which an operand of a step, of the same shape, stands for the step's result."""
    steps = tuple(
        _renamed(each, {step.name: operand}) for each in program.steps if each is not step
    )
    results: dict[str, str] = {}
    for name, how in program.results.items():
        results.setdefault(operand if name == step.name else name, how)
    return pruned(msgspec.structs.replace(program, steps=steps, results=results))


def _renamed(step: Step, names: dict[str, str]) -> Step:
    operands = tuple(names.get(operand, operand) for operand in step.operands)
    return msgspec.structs.replace(step, operands=operands)


def _shape(program: Program, name: str) -> tuple[int, ...]:
    for step in program.steps:
        if step.name == name:
            return step.shape
    return program.inputs[name]


def neighbours(program: Program, count: int) -> Iterator[Program]:
    """The same net at other points close by: each value moved by up to a hundredth of itself."""
    for number in range(count):
        rng = Random(number)
        values = {
            name: tuple(value * (1 + rng.uniform(-0.01, 0.01)) for value in numbers)
            for name, numbers in program.values.items()
        }
        yield msgspec.structs.replace(program, values=values)
