"""Claims about what a gradient is made of: outputs, inputs, a seed, one tensor passed twice.

Rows 18, 22, 29 and 31.
"""

from typing import Any

from explorer.model.claim import Ruling
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
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
    remedies = " and ".join(expects["ways"])
    shifts: dict[str, bool] = {}
    put_back: dict[str, bool] = {}
    sentences = []
    for engine in MINDSPORE:
        ways = evidence[EXTRA_OUTPUT][engine]
        alone = ways["first output alone"]
        moved = greatest_difference(ways["every output"], alone)
        shifts[engine] = moved > TOLERANCE
        put_back[engine] = all(close(ways[way], alone) for way in expects["ways"])
        effect = "put it back" if put_back[engine] else "do not put it back"
        sentences.append(f"{engine}: moved by up to {moved:.3g}, {remedies} {effect}")

    seen = "; ".join(sentences)
    if not any(shifts.values()) and all(put_back.values()):
        return Ruling(
            "outdated",
            seen,
            "An extra output is harmless here; has_aux=True still says what you mean.",
        )
    verdict = by_style({engine: shifts[engine] and put_back[engine] for engine in MINDSPORE})
    if not all(put_back.values()):
        return Ruling(verdict, seen, "Return the loss alone from what you differentiate.")
    if verdict == "holds":
        return Ruling(
            verdict,
            seen,
            "Pass has_aux=True, or put stop_gradient around every output but the loss.",
        )
    return Ruling(
        verdict, seen, f"Pass has_aux=True wherever you differentiate; {named(shifts)} needs it."
    )


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
    calls: list[str] = []
    for engine in MINDSPORE:
        figures = evidence[REUSED][engine]
        pairs = list(zip(figures["inputs"], figures["gradients"], strict=True))
        is_right = all(close(gradient, derivative_of_cube(x)) for x, gradient in pairs)
        works[engine] = figures["callable"] and is_right
        # The calls of the last style are cited: both were called with the same inputs.
        calls = [f"{shown(x)} → {shown(gradient)}" for x, gradient in pairs]

    seen = (
        f"one function for the derivative of x³, called three times: {'; '.join(calls)}; right in"
        f" {named(works)}"
    )
    if all(works.values()):
        return Ruling(
            "holds",
            seen,
            "Make the gradient function once, outside the loop, and call it with every batch.",
        )
    if any(works.values()):
        return Ruling(
            "depends_on_style",
            seen,
            f"Reuse the gradient function only in {named(works)}; make it anew elsewhere.",
        )
    return Ruling("does_not_hold", seen, "Make the gradient function anew for every call.")


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
    shown_printed = said(printed) if raised(printed) else shown(printed)
    seen = (
        f"as printed, x.grad is {shown_printed} ({'; '.join(figures['warned']) or 'no warning'});"
        f" with the leaf kept, leaf.grad is {shown(gradient)}; Variable(…) gives a {figures['type']}"
    )
    if not figures["torch.autograd.Variable exists"]:
        return Ruling(
            "outdated",
            f"{seen}; torch.autograd.Variable is gone",
            "Use a tensor with requires_grad=True.",
        )
    if not close(gradient, expects["leaf.grad"]):
        return Ruling("does_not_hold", seen, "Work the chain out by hand before you port it.")
    right = (expects["x.grad"], expects["leaf.grad"])
    if raised(printed) or printed is None or not any(close(printed, figure) for figure in right):
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
    sentences = []
    for engine, answers in evidence[ANSWERS].items():
        gradient = only_leaf(answers["by a"])
        sentences.append(f"{engine} {shown(gradient)}")
        if close(gradient, expects["summed"]):
            sums.add(engine)
        elif close(gradient, expects["apart"]):
            apart.add(engine)

    seen = "; ".join(sentences)
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
