"""How far the routes, the optimizers and the accumulated gradients lie apart: pure functions of
figures.
"""

from typing import Any

import msgspec

from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence
from explorer.topics.training.given import UPDATES

NEAR = 2e-6
"""Weights this near after some float32 steps are the same: the order of sums alone makes 1e-7 a
step.
"""

REFERENCE = "training.loop.torch"
LABELS = {
    "training.model.mindspore-graph": "Model.train, graph",
    "training.step_cell.mindspore-graph": "TrainOneStepCell, graph",
    "training.grad_operation.mindspore-graph": "GradOperation step, graph",
    "training.functional.mindspore-graph": "value_and_grad step, graph",
    "training.jit.mindspore-graph": "ms.jit step, graph",
    "training.model.mindspore-tape": "Model.train, tape",
    "training.step_cell.mindspore-tape": "TrainOneStepCell, tape",
    "training.grad_operation.mindspore-tape": "GradOperation step, tape",
    "training.grad_operation_without_set_grad.mindspore-tape": "GradOperation step, tape, no set_grad()",
    "training.functional.mindspore-tape": "value_and_grad step, tape",
    "training.jit.mindspore-tape": "ms.jit step, tape",
    REFERENCE: "zero_grad, backward, step",
    "training.functional.torch": "torch.func.grad_and_value",
    "training.compiled.torch": "torch.compile, aot_eager",
    "training.inductor.torch": "torch.compile, inductor",
}
"""What each route is called."""

States = list[dict[str, Any]]


def framework(name: str) -> str:
    """Whose route it is."""
    return "PyTorch" if name.endswith(".torch") else "MindSpore"


def states(evidence: Evidence) -> dict[str, States]:
    """What each route left after every step; routes that were refused or not measured are left out."""
    return {
        name: found["states"] for name in LABELS if "states" in (found := evidence.get(name, {}))
    }


def apart(one: States, other: States) -> list[float]:
    """The greatest difference of two routes after every step, over all weights and running
    statistics.
    """
    return [
        max(greatest_difference(left[name], right[name]) for name in left)
        for left, right in zip(one, other, strict=True)
    ]


def farthest(one: States, other: States) -> str:
    """The weight or statistic that is farthest apart after the last step."""
    left, right = one[-1], other[-1]
    return max(left, key=lambda name: greatest_difference(left[name], right[name]))


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One update rule: the greatest difference from PyTorch after five given gradients, by place,
    and what was refused.
    """

    name: str
    forms: dict[str, str]
    apart: dict[str, float]
    refused: dict[str, str]

    @property
    def same(self) -> bool:
        """Whether every place that has it gives PyTorch's weights."""
        return bool(self.apart) and max(self.apart.values()) <= NEAR


PLACES = {
    "nn": "training.updates.nn",
    "experimental": "training.updates.experimental",
    "torch": "training.updates.torch",
}


def updates(evidence: Evidence) -> list[Compared]:
    """Every update rule of the table that was measured."""
    found = []
    for each in UPDATES:
        paths = {
            place: evidence[name][each.name]
            for place, name in PLACES.items()
            if each.name in evidence.get(name, {})
        }
        if not paths:
            continue
        ran = {place: path for place, path in paths.items() if not raised(path)}
        theirs = ran.get("torch")
        found.append(
            Compared(
                name=each.name,
                forms={place: form[0] for place in PLACES if (form := getattr(each, place))},
                apart={}
                if theirs is None
                else {
                    p: greatest_difference(path, theirs) for p, path in ran.items() if p != "torch"
                },
                refused={place: path["message"] for place, path in paths.items() if raised(path)},
            )
        )
    return found


def unlike(one: list[Any], other: list[Any]) -> float:
    """The greatest difference of two lists of gradients, each of its own length."""
    return max(greatest_difference(left, right) for left, right in zip(one, other, strict=True))


def added_up(figures: dict[str, Any], kind: str) -> dict[str, float]:
    """How far the sum of the micro-batches' gradients, and that sum divided by their number, lie
    from the whole batch's.
    """
    found = figures[kind]
    return {
        how: max(
            greatest_difference(found["whole"][name], found[how][name]) for name in found["whole"]
        )
        for how in ("added", "divided")
    }


def decays(left: Any) -> bool:
    """Whether a step with gradient 0 took something from any weight."""
    return not raised(left) and any(value != 1.0 for value in left.values())
