"""What the passes of MindSpore's compiler are called, and what they are for (2.10.0)."""

import re

from explorer.model.passes import FINAL, TYPED

STEP = re.compile(r"^(\w+?)_r(\d+)_j\d+_\d+_(.+?)_*$")
"""A step within a pass, as its file is called: "opt_a_r1_j0_34_meta_fg_expand"."""

SUBSTEP = re.compile(r"^(\w+)\.r(\d+)\.(\w+)\.(\w+)$")
"""A step within a step: "opt_a.r1.a_2.merge_addn"."""

MEANING = {
    "bootstrap": "the call alone, before anything is known of it",
    TYPED.file: "every function that the call reaches, with types and shapes",
    "auto_monad": "effects put in order",
    "meta_fg_expand": (
        "the derivative written out: a forward closure ▸ and a backpropagator ◂ for each operator"
    ),
    "renormalize": "types and shapes inferred anew",
    "a_1": "calls inlined, and what cancels removed",
    "cse": "equal expressions merged",
    "merge_addn": "nested sums merged",
    "updatestate_depend_eliminate": "order dropped where nothing depends on it",
    "updatestate_loads_eliminate": "order dropped where nothing depends on it",
    FINAL.file: "what goes to the backend",
}
"""What the passes are for, by the last part of their names."""


def readable(name: str) -> str:
    """A pass's name without its numbers: "opt_a, round 1: meta_fg_expand"."""
    step = STEP.match(name)
    if step:
        return f"{step[1]}, round {step[2]}: {step[3]}"
    substep = SUBSTEP.match(name)
    if substep:
        return f"{substep[1]}, round {substep[2]}: {substep[4]}"
    return name


def short(name: str) -> str:
    """The last part of a pass's name: "meta_fg_expand"."""
    return readable(name).rpartition(": ")[2]
