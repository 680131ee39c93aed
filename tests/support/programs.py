"""Random nets written by hand."""

from typing import Any

from explorer.fuzz.program import Program, Step

A = (1.0, -0.5, 2.0)


def step(
    name: str, operator: str, *operands: str, shape: tuple[int, ...] = (3,), **options: str
) -> Step:
    """One step on rows of three."""
    return Step(name, operator, operands, options, shape)


def program(*steps: Step, **told: Any) -> Program:
    """A net of one input ``a``, whose result is the last step's."""
    whole: dict[str, Any] = {
        "dtype": "float32",
        "inputs": {"a": (3,)},
        "values": {"a": A},
        "results": {steps[-1].name: "sum"},
    }
    return Program(**{**whole, **told}, steps=steps)
