"""A board of two claims, one of which could not be run; its evidence is full of markup."""

from explorer.model.claim import Board, ClaimRow, Listing, Observation
from explorer.model.failures import Failure
from explorer.model.measurement import Measured

RESULT = "<script>alert(1)</script> | `x`"
EVIDENCE = f"a call: {RESULT} (MindSpore graph), 2 (PyTorch tape)"

HOLDS = ClaimRow(
    id=1,
    heading="gradients",
    statement="A gradient is a gradient.",
    guides=("004", "000"),
    would="So it is.",
    verdict="holds",
    advice="Go on.",
    measured=("one",),
    sections={"004": "Gradients & co"},
    observations=(
        Observation("a call", RESULT, ("mindspore-graph",), expected=True),
        Observation("a call", "2", ("torch-tape",)),
    ),
    printed=(Listing("a = vaild\n# ```\n", ("one",)),),
    meant=(Listing("a = valid\n", ("one",)),),
)
NOT_RUN = ClaimRow(
    id=44,
    heading="operators",
    statement="transpose permutes.",
    guides=("000",),
    would="It does.",
    verdict=None,
    measured=("one",),
    not_run={"one": Failure("MissingFramework", "No module named 'torch'")},
)
BOARD = Board(
    date="2026-01-01",
    versions={"mindspore": "2.10.0", "torch": "2.13.0"},
    rows=(NOT_RUN, HOLDS),
    measured={
        "one": Measured(outcome="ok", figures={"a": 1}, code="def one(ask):\n    return 1\n")
    },
)
