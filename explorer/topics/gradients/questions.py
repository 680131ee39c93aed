"""The gradient calls of the guide as questions to the engines, one a case and net."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from explorer.model.cases import GradCase
from explorer.model.trees import branch, render
from explorer.scenario.matrix import structure
from explorer.topics.question import MINDSPORE_STYLES, Question
from explorer.topics.topic import Topic

TOPIC = Topic(name="gradients", package=__package__)

ASKED = (*MINDSPORE_STYLES, "torch-tape")
"""MindSpore in both styles, and PyTorch's tape as its counterpart."""

SUM = "loss + logits"
"""The net of dense_mse_sum, in the names of its measurements."""

FILES = {
    "dense_mse": "dense_mse",
    SUM: str(Path(__file__).with_name("dense_mse_sum.py")),
    "custom_gradient": "custom_gradient",
}
"""The scenario or the file of each net."""


def ask_case(case: GradCase, parties: tuple[str, ...] = ASKED, net: str = "dense_mse") -> Question:
    """The question of what a case returns on a net, called after the case's label and the net."""
    # One program for every engine, since their answers have one form.
    return TOPIC.ask(
        case.label.replace("net", net),
        parties,
        program=dict.fromkeys(parties, "answers:answer"),
        scenario=FILES[net],
        options={"case": msgspec.to_builtins(case)},
        options_of={party: {"engine": party} for party in parties},
    )


@dataclass(frozen=True)
class GuideCall:
    """One of the guide's calls of grad on `dense_mse`, with the two questions about it.

    ``returns`` describes its result in the guide's words; ``gradients`` are the guide's numbers
    from left to right. ``grad`` asks for the call itself; ``with_value`` is the same case for
    value_and_grad, and ``value_and_grad`` asks for that.
    """

    case: GradCase
    returns: str
    gradients: tuple[Any, ...]
    grad: Question
    with_value: GradCase
    value_and_grad: Question


def guide_call(case: GradCase, returns: str, *gradients: Any) -> GuideCall:
    """A call of the guide, with its two questions."""
    with_value = msgspec.structs.replace(case, api="value_and_grad")
    return GuideCall(
        case=case,
        returns=returns,
        gradients=gradients,
        grad=ask_case(case),
        with_value=with_value,
        value_and_grad=ask_case(with_value, MINDSPORE_STYLES),
    )


# With x = [1, 2, 3], y = 19 and w = [2, 3, 4] the logits are 20 and the loss 1 = (20 - 19)², whose
# gradients are 2 · 1 times w, -1 and x. The logits add w to the gradient with respect to x.
DX, DY, DW = [[4, 6, 8]], -2, [[2, 4, 6]]
DX_OF_SUM = [[6, 9, 12]]

GUIDE_CALLS = (
    guide_call(
        GradCase("grad", 0, has_aux=True),
        "the gradient with respect to the first input, and the auxiliary outputs as a tuple",
        DX,
    ),
    guide_call(
        GradCase("grad", 1, has_aux=True),
        "the gradient with respect to the second input, and the auxiliary outputs",
        DY,
    ),
    guide_call(
        GradCase("grad", (0, 1), has_aux=True),
        "a tuple of two gradients, and the auxiliary outputs",
        DX,
        DY,
    ),
    guide_call(
        GradCase("grad", None, "all", has_aux=True),
        "a tuple of the weights' gradients, and the auxiliary outputs",
        DW,
    ),
    guide_call(
        GradCase("grad", 0, "all", has_aux=True),
        "the input's gradient beside the weights' tuple, and the auxiliary outputs",
        DX,
        DW,
    ),
    guide_call(
        GradCase("grad", (0, 1), "all", has_aux=True),
        "the inputs' tuple beside the weights' tuple, and the auxiliary outputs",
        DX,
        DY,
        DW,
    ),
    guide_call(
        GradCase("grad", 0),
        "the gradient of the sum of all outputs",
        DX_OF_SUM,
    ),
)
"""The guide's seven structures, in its order."""

ALL_OUTPUTS = GUIDE_CALLS[6].grad
"""The gradient of a net with two outputs, neither of them auxiliary."""

SUM_OF_OUTPUTS = ask_case(GradCase("grad", 0), net=SUM)
"""The gradient of a net that adds up its outputs itself."""

NOTHING = ask_case(GradCase("grad"))
"""The gradient with respect to nothing."""


@dataclass(frozen=True)
class OlderForm:
    """A call of GradOperation, and the questions about it and about its counterpart grad."""

    case: GradCase
    older: Question
    newer: Question


def older_form(case: GradCase, newer: Question | None = None) -> OlderForm:
    """The call of GradOperation with the flags that amount to ``case``.

    ``newer`` is the question about ``case`` where there is one already.
    """
    # The flags say "all" where grad takes positions and weights: more cannot be told apart.
    older = msgspec.structs.replace(
        case,
        api="GradOperation",
        get_all=isinstance(case.grad_position, tuple),
        get_by_list=case.weights is not None,
    )
    return OlderForm(
        case=older,
        older=ask_case(older, MINDSPORE_STYLES),
        newer=newer or ask_case(case, MINDSPORE_STYLES),
    )


OLDER_FORMS = (
    older_form(GradCase("grad", 0), newer=ALL_OUTPUTS.by(*MINDSPORE_STYLES)),
    older_form(GradCase("grad", (0, 1))),
    older_form(GradCase("grad", None, "all")),
    older_form(GradCase("grad", (0, 1), "all")),
)
"""Every way to set GradOperation's flags get_all and get_by_list."""


def guides_structure(case: GradCase) -> str:
    """The structure that the guide gives a case of `dense_mse`."""
    return render(structure(case, ("x", "y"), ("fc.weight",), branch("loss", "logits")))


ARGUMENTS = TOPIC.ask("arguments", (*MINDSPORE_STYLES, "torch"))
OUTPUTS = TOPIC.ask("outputs", (*MINDSPORE_STYLES, "torch"))

ENGINES_BY_STYLE = (*MINDSPORE_STYLES, "torch-graph", "torch-tape")
"""All four engines."""

TOLD_GRADIENT = ask_case(GradCase("grad", 0), ENGINES_BY_STYLE, "custom_gradient")
"""The gradient of a net whose backward is written by hand, and is no derivative."""

# A compiler takes a second for each rule over numpy, so it is not asked what has no rule.
SAMPLER = TOPIC.ask(
    "sampler",
    MINDSPORE_STYLES,
    options_of={"mindspore-graph": {"rules": ["as printed", "as meant"]}},
    printed="AsPrinted",
    meant="AsMeant",
)
"""The gradient of a Cell that draws by numpy, by the rule that it is given."""

FUNCTION = TOPIC.ask("function", ("torch-graph", "torch-tape"))
"""The same by an autograd.Function."""

DEFAULTS = TOPIC.ask("defaults", MINDSPORE_STYLES)
"""What grad of a net returns when nothing but the net is given, and value_and_grad of its weights."""

FUNCTIONAL = TOPIC.ask("functional", (*MINDSPORE_STYLES, "torch"))
"""A value and a gradient by a function of a function, without a backward."""
