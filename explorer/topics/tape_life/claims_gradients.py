"""Claims about what a gradient is made of: outputs, inputs, a seed, one tensor passed twice.

Rows 18, 22, 29 and 31.
"""

from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.observations import observed
from explorer.topics.styles import by_style
from explorer.topics.tape_life.questions import (
    ANSWERS,
    EXTRA_OUTPUT,
    MINDSPORE,
    REUSED,
    TAPES,
    TOPIC,
    VARIABLE,
)
from explorer.topics.tape_life.tables import only_leaf
from explorer.topics.tape_life.wording import TOLERANCE, close, named, shown


@TOPIC.claim(
    18,
    "An extra output that a net returns shifts its gradient unless stop_gradient or has_aux is"
    " used.",
    heading="gradients",
    guides=("003",),
    would=(
        "the weights' gradient differs with the extra output, and equals the loss's own with either"
        " remedy, in both styles"
    ),
    asks=(EXTRA_OUTPUT.by(*MINDSPORE),),
    expects={"ways": ["has_aux", "extra output stopped"]},
)
def extra_output(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the extra output moves the gradient, and both ways to cut it off put it back.

    In both styles of MindSpore; it is outdated where the output moves nothing in either.
    """
    shifts: dict[str, bool] = {}
    put_back: dict[str, bool] = {}
    moved: dict[str, float] = {}
    for engine in MINDSPORE:
        ways = evidence[EXTRA_OUTPUT][engine]
        alone = ways["first output alone"]
        moved[engine] = greatest_difference(ways["every output"], alone)
        shifts[engine] = moved[engine] > TOLERANCE
        put_back[engine] = all(close(ways[way], alone) for way in expects["ways"])

    seen = list(
        observed("gradient moved by the extra output by up to", moved, "{:.3g}".format, shifts)
    )
    for way in expects["ways"]:
        is_back: dict[str, bool] = {}
        for engine in MINDSPORE:
            ways = evidence[EXTRA_OUTPUT][engine]
            is_back[engine] = close(ways[way], ways["first output alone"])
        what = f"gradient is that of the first output alone with {way}"
        seen.extend(observed(what, is_back, lambda same: "yes" if same else "no", is_back))
    if not any(shifts.values()) and all(put_back.values()):
        return Ruling(
            "outdated",
            tuple(seen),
            "An extra output is harmless here; has_aux=True still says what you mean.",
        )
    verdict = by_style({engine: shifts[engine] and put_back[engine] for engine in MINDSPORE})
    if not all(put_back.values()):
        advice = "Return the loss alone from what you differentiate."
        return Ruling(verdict, tuple(seen), advice)
    if verdict == "holds":
        return Ruling(
            verdict,
            tuple(seen),
            "Pass has_aux=True, or put stop_gradient around every output but the loss.",
        )
    advice = f"Pass has_aux=True wherever you differentiate; {named(shifts)} needs it."
    return Ruling(verdict, tuple(seen), advice)


@TOPIC.claim(
    22,
    "What grad makes of a function is a function again, which can be called with any inputs.",
    heading="gradients",
    guides=("003", "004"),
    sections={"004": "mindspore.grad"},
    would=(
        "one gradient function gives 3x² for three inputs, one of them of another shape, in both"
        " styles"
    ),
    asks=(REUSED,),
)
def reusable(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when what ``grad`` returns can be called with other values and shapes.

    In both styles of MindSpore.
    """
    works: dict[str, bool] = {}
    seen: list[Observation] = []
    for engine in MINDSPORE:
        figures = evidence[REUSED][engine]
        pairs = list(zip(figures["inputs"], figures["gradients"], strict=True))
        is_right = all(close(gradient, derivative_of_cube(x)) for x, gradient in pairs)
        works[engine] = figures["callable"] and is_right
    # Both styles were called with the same inputs.
    for place, x in enumerate(evidence[REUSED][MINDSPORE[0]]["inputs"]):
        gradients = {engine: evidence[REUSED][engine]["gradients"][place] for engine in MINDSPORE}
        is_right_of: dict[str, bool] = {}
        for engine, gradient in gradients.items():
            is_right_of[engine] = close(gradient, derivative_of_cube(x))
        what = f"call {place + 1}, the derivative of x³ at {shown(x)}"
        seen.extend(observed(what, gradients, shown, is_right_of))
    if all(works.values()):
        return Ruling(
            "holds",
            tuple(seen),
            "Make the gradient function once, outside the loop, and call it with every batch.",
        )
    if any(works.values()):
        return Ruling(
            "depends_on_style",
            tuple(seen),
            f"Reuse the gradient function only in {named(works)}; make it anew elsewhere.",
        )
    advice = "Make the gradient function anew for every call."
    return Ruling("does_not_hold", tuple(seen), advice)


def derivative_of_cube(x: Any) -> Any:
    """3x² of nested lists."""
    if isinstance(x, list):
        return [derivative_of_cube(element) for element in x]
    return 3 * x * x


@TOPIC.claim(
    29,
    "In PyTorch a Variable x that is doubled and shifted, and sent back with the doubled value, has"
    " its gradient in x.grad.",
    heading="tape and graph",
    guides=("000",),
    sections={"000": "PyTorch Automatic Differentiation"},
    would="x.grad is 2 or, with respect to the leaf, 4 everywhere (the figures are ours), and"
    " Variable is a type of its own",
    asks=(VARIABLE,),
    expects={"x.grad": [[2.0, 2.0], [2.0, 2.0]], "leaf.grad": [[4.0, 4.0], [4.0, 4.0]]},
)
def variable(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when x.grad is a gradient of the printed chain and a Variable is a type of its own.

    With changes when a Variable is a Tensor, outdated when there is none.
    """
    figures = evidence[VARIABLE]["torch-tape"]
    printed, gradient = figures["x.grad as printed"], figures["leaf.grad"]
    right = (expects["x.grad"], expects["leaf.grad"])
    has_gradient = not raised(printed) and printed is not None
    is_right = has_gradient and any(close(printed, figure) for figure in right)
    exists = figures["torch.autograd.Variable exists"]
    seen = tuple(
        Observation(what, value, ("torch-tape",), as_stated)
        for what, value, as_stated in (
            ("x.grad, as printed", said(printed) if raised(printed) else shown(printed), is_right),
            ("warning, as printed", "; ".join(figures["warned"]) or "none", None),
            (
                "leaf.grad, with the leaf kept",
                shown(gradient),
                close(gradient, expects["leaf.grad"]),
            ),
            ("type of Variable(…)", figures["type"], not figures["is a Tensor"]),
            ("torch.autograd.Variable exists", "yes" if exists else "no", bool(exists)),
        )
    )
    if not exists:
        return Ruling(
            "outdated",
            seen,
            "Use a tensor with requires_grad=True.",
        )
    if not close(gradient, expects["leaf.grad"]):
        return Ruling("does_not_hold", seen, "Work the chain out by hand before you port it.")
    if not is_right:
        return Ruling(
            "does_not_hold",
            seen,
            "Keep the leaf under a name of its own: after x = x * 2 the name x has no gradient.",
        )
    # Variable and Tensor were merged in PyTorch 0.4; the name was kept.
    if figures["is a Tensor"]:
        return Ruling(
            "holds_with_changes",
            seen,
            "Write torch.ones(2, 2, requires_grad=True): Variable is an old name for Tensor.",
        )
    return Ruling("holds", seen, "Wrap what is to be differentiated in Variable.")


@TOPIC.claim(
    31,
    "PyTorch sums the gradients of a tensor that is passed twice; MindSpore keeps the two"
    " positions apart.",
    heading="tape and graph",
    guides=("ours",),
    would=(
        "by the first argument PyTorch gives the sum of both uses, and MindSpore one use, whatever"
        " the style"
    ),
    asks=(ANSWERS,),
    expects={"summed": [2.0, 4.0, 6.0], "apart": [1.0, 2.0, 3.0]},
)
def same_tensor(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when PyTorch sums and MindSpore keeps apart in every style.

    Else it depends on the style, or is not so.
    """
    sums = set()
    apart = set()
    gradients: dict[str, Any] = {}
    as_stated: dict[str, bool] = {}
    for engine, answers in evidence[ANSWERS].items():
        gradient = gradients[engine] = only_leaf(answers["by a"])
        stated = expects["apart"] if engine in MINDSPORE else expects["summed"]
        as_stated[engine] = close(gradient, stated)
        if close(gradient, expects["summed"]):
            sums.add(engine)
        elif close(gradient, expects["apart"]):
            apart.add(engine)

    what = "gradient of sum(a·b) with respect to a, with one tensor as a and b"
    seen = tuple(observed(what, gradients, shown, as_stated))
    if sums == {"torch-tape", "torch-graph"} and apart == set(MINDSPORE):
        return Ruling(
            "holds",
            seen,
            "Pass copies in PyTorch where you want the derivative with respect to one argument.",
        )
    # The guides take a contrast of styles for one of frameworks.
    if sums == set(TAPES) and apart == {"torch-graph", "mindspore-graph"}:
        return Ruling(
            "depends_on_style",
            seen,
            "Differentiate with one tensor at one position: pass a copy where it stands twice.",
        )
    return Ruling(
        "does_not_hold",
        seen,
        "Compare both gradients with central differences before you trust either.",
    )
