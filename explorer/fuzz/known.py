"""What random nets have shown before, and why: the recorded list that findings are held against."""

import msgspec

from explorer.fuzz.judging import NOT_FINITE, Kind, Sighting
from explorer.fuzz.program import Program
from explorer.model.engines import ENGINES

MINDSPORE = frozenset({"mindspore-graph", "mindspore-tape"})
TAPE = frozenset({"mindspore-tape"})
PYTORCH_TAPE = frozenset({"torch-tape"})
PYTORCH_GRAPH = frozenset({"torch-graph"})
EVERY = frozenset(ENGINES)


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """A finding that needs no second look.

    It is of one of ``kinds``, ``engines`` can be to blame, and ``detail`` stands in what they say; where
    they are given, the net has one of ``operators``, this ``dtype`` and this ``order``, and at most
    ``most`` operators: what many causes could have is known only once the net is cut down.
    """

    reason: str
    kinds: frozenset[Kind]
    engines: frozenset[str]
    detail: str = ""
    operators: frozenset[str] = frozenset()
    dtype: str | None = None
    order: int | None = None
    most: int | None = None

    def fits(self, program: Program, sighting: Sighting) -> bool:
        """Whether a net shows this, in whatever engines."""
        return (
            sighting.kind in self.kinds
            and self.detail in sighting.detail
            and (not self.operators or not self.operators.isdisjoint(program.operators))
            and self.dtype in (None, program.dtype)
            and self.order in (None, program.order)
            and (self.most is None or len(program.operators) <= self.most)
        )


RAISES: frozenset[Kind] = frozenset({"raises"})
PARTS: frozenset[Kind] = frozenset({"differs", "values"})
"""Kinds in which numbers differ, at the end or on the way."""

KNOWN = (
    Known(
        reason="a derivative that is constant is on no tape of PyTorch's: nested, it refuses",
        kinds=RAISES,
        engines=PYTORCH_TAPE,
        detail="does not require grad",
        order=2,
    ),
    Known(
        reason="MindSpore has no second derivative of this operator",
        kinds=RAISES,
        engines=MINDSPORE,
        detail="prop",
        order=2,
    ),
    Known(
        reason="Dynamo captures no branch that depends on a value",
        kinds=RAISES,
        engines=PYTORCH_GRAPH,
        detail="Data-dependent branching",
        operators=frozenset({"branch"}),
    ),
    Known(
        reason="nested gradients of MindSpore's tape are wrong in silence",
        kinds=frozenset({"differs"}),
        engines=TAPE,
        order=2,
    ),
    Known(
        reason="nested gradients of MindSpore's tape raise behind an index",
        kinds=RAISES,
        engines=TAPE | PYTORCH_TAPE,  # which refuses where what is indexed is linear
        detail="Only support integers, slices",
        order=2,
    ),
    Known(
        reason="nested gradients of MindSpore's tape raise where a backward is given no tensor",
        kinds=RAISES,
        engines=TAPE,
        detail="is null",
        order=2,
    ),
    Known(
        reason="MindSpore's gradient of lerp by a float16 tensor is float32, and adds to no other",
        kinds=RAISES | PARTS,
        engines=EVERY,
        operators=frozenset({"lerp"}),
        dtype="float16",
    ),
    Known(
        reason="MindSpore's compiler has no second derivative of min and max along an axis",
        kinds=RAISES,
        engines=frozenset({"mindspore-graph"}),
        detail="InplaceScatterSrc",
        order=2,
    ),
    Known(
        reason="of three like kernels beside a branch, the explorer cannot tell which dumped which value",
        kinds=frozenset({"graph"}),
        engines=frozenset({"mindspore-graph"}),
        operators=frozenset({"prod"}),
    ),
    Known(
        reason="MindSpore's gradient of selu is wrong for negative numbers",
        kinds=PARTS,
        engines=EVERY,
        operators=frozenset({"selu"}),
    ),
    Known(
        reason="MindSpore's gradient of selu is wrong; float16's noise hides it from all but the oracle",
        kinds=frozenset({"oracle"}),
        engines=EVERY,
        operators=frozenset({"selu"}),
        dtype="float16",
        most=6,
    ),
    Known(
        reason="MindSpore's gradient of the deviation of equal numbers is nan, PyTorch's is 0",
        kinds=frozenset({"differs"}),
        engines=MINDSPORE,
        detail=NOT_FINITE,
        operators=frozenset({"std"}),
    ),
    Known(
        reason="MindSpore computes this operator of float64 tensors in single precision",
        kinds=PARTS,
        engines=EVERY,
        dtype="float64",
        operators=frozenset(
            {"celu", "hypot", "l1_loss", "log_softmax", "masked_fill", "mse_loss", "sort"}
        ),
    ),
    Known(
        reason="MindSpore's gradient of atan2 at the origin is nan, PyTorch's is 0",
        kinds=frozenset({"differs"}),
        engines=MINDSPORE,
        detail=NOT_FINITE,
        operators=frozenset({"atan2"}),
    ),
    Known(
        reason="the gradient of atan2 of small float16 numbers divides by what has no inverse there",
        kinds=frozenset({"differs", "oracle"}),
        engines=EVERY,
        operators=frozenset({"atan2"}),
        dtype="float16",
        most=4,
    ),
    Known(
        reason="kernels inside MindSpore's gradient of mish approximate more than its noise shows",
        kinds=frozenset({"values"}),
        engines=EVERY,
        operators=frozenset({"mish"}),
        dtype="float32",
        most=4,
    ),
    Known(
        reason="MindSpore's tanh of large float32 numbers is approximate, its gradient there wrong",
        kinds=PARTS,
        engines=EVERY,
        operators=frozenset({"tanhshrink"}),
        dtype="float32",
        most=4,
    ),
    Known(
        reason="PyTorch has no second derivative of hardsigmoid",
        kinds=RAISES,
        engines=PYTORCH_TAPE | PYTORCH_GRAPH,
        detail="hardsigmoid_backward is not implemented",
        operators=frozenset({"hardsigmoid"}),
        order=2,
    ),
    Known(
        reason="MindSpore has no gradient of avg_pool by float64 tensors",
        kinds=RAISES,
        engines=MINDSPORE,
        detail="AvgPool3DGrad",
        dtype="float64",
        operators=frozenset({"avg_pool"}),
    ),
    Known(
        reason="MindSpore's compiled gradient of addcmul has another shape than its tensor",
        kinds=RAISES | PARTS,
        engines=frozenset({"mindspore-graph"}),
        operators=frozenset({"addcmul"}),
    ),
    Known(
        reason="MindSpore takes a number beside float64 tensors in single precision",
        kinds=PARTS,
        engines=EVERY,
        dtype="float64",
        operators=frozenset(
            {
                "erfc",
                "erf",
                "gelu",
                "gelu_tanh",
                "hardsigmoid",
                "hardswish",
                "mish",
                "softplus",
                "std",
                "var",
            }
        ),
    ),
)
"""The recorded list (MindSpore 2.10.0, PyTorch 2.13.0)."""


def reason_known(program: Program, sighting: Sighting) -> str:
    """Why a net shows what it shows, where that is recorded; "" where it is not.

    Several records may be the reasons together, each for some of the engines.
    """
    fitting = [known for known in KNOWN if known.fits(program, sighting)]
    for known in fitting:
        if known.engines.issuperset(sighting.engines):
            return known.reason
    covered = frozenset().union(*(known.engines for known in fitting))
    if not covered.issuperset(sighting.engines):
        return ""
    return "; ".join(
        known.reason for known in fitting if known.engines.intersection(sighting.engines)
    )
