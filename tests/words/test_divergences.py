"""Every kind of divergence, and every reason to have no partner, in a sentence of each language."""

import re
from collections.abc import Callable
from typing import Any, get_args

import msgspec
import pytest

from explorer.model.alignment import (
    Contradicted,
    Fact,
    FurtherOutput,
    NoResult,
    OtherNamedValue,
    OutputOf,
    PassedOn,
    Plain,
    Recorded,
    Repeated,
    Steps,
    Unpaired,
    Why,
)
from explorer.model.divergence import (
    ABSENT,
    Divergence,
    End,
    ExtraOps,
    Gap,
    GradientAdded,
    GradientStopped,
    Inputs,
    Likeness,
    LoneLeaf,
    OtherOp,
    OtherRate,
    OtherStart,
    OtherValue,
    Place,
    Reading,
    Rearranged,
    ResultElsewhere,
    ResultMissing,
    Rounded,
    Row,
    mirrored,
)
from explorer.model.graph import Absence
from explorer.text import language
from explorer.words.divergences import sentence
from explorer.words.graphs import why_missing
from explorer.words.unpaired import detail

ENGINES = "torch-tape", "mindspore-graph"

MUL = Place(label="aten.mul", scope="fc", source="net.py:3")
MULS = Place(label="Muls", scope="fc", source="net.py:9", caller="net.py:12")
SIX, THREE = Reading("element", (), (6.0,)), Reading("element", (), (3.0,))
TWICE = Gap(3.0, 1e-6, 3e6, Likeness("times", 2.0))
BOTH = End(node="n1", source="net.py:3", value=SIX), End(node="n2", source="net.py:9", value=THREE)
LEFT_ALONE = BOTH[0], End(node=None, source="", value=ABSENT)
RIGHT_ALONE = End(node=None, source="", value=ABSENT), BOTH[1]
ROWS = Row(first=MUL, last="aten.mul", count=1), Row(first=MULS, last="Sub", count=3)
VALUES = "6 against 3 (greatest difference 3, 3e+06 × the noise of 1e-06; the first is 2 times the second)"
TURNED = "3 against 6 (greatest difference 3, 3e+06 × the noise of 1e-06; the second is 2 times the first)"
ONE, OTHER = "`aten.mul` (fc, net.py:3)", "`Muls` (fc, net.py:9, called at net.py:12)"

STOPPED = BOTH[0], End(node="n2", source="", value=Reading("stopped"))


def made(kind: Callable[..., Divergence], **facts: Any) -> Divergence:
    """A divergence of a kind in forward, where nothing else is said, between two values."""
    return kind(**{"phase": "forward", "ends": BOTH, "gap": TWICE, **facts})


def valueless(kind: Callable[..., Divergence], ends: tuple[End, End], **facts: Any) -> Divergence:
    """One that is told without two values beside each other."""
    return made(kind, ends=ends, gap=Gap(), **facts)


def two_rows(inputs: Inputs) -> Divergence:
    return made(OtherValue, phase="backward", rows=ROWS, inputs=inputs)


TAKE = f"{ONE} and the 3 ops from {OTHER} to `Sub` take"

DIVERGENCES: list[tuple[Divergence, str]] = [
    (two_rows(Inputs()), f"in backward: {TAKE} equal inputs but give different values: {VALUES}"),
    (
        two_rows(Inputs(differing=("a", "b"))),
        f"{TAKE} equal inputs, apart from `a` and `b`, but give",
    ),
    (
        two_rows(Inputs(alone=((MUL,), (MULS,)))),
        f"{TAKE} different inputs, {ONE} against {OTHER}, and give",
    ),
    (
        two_rows(Inputs(alone=((MUL,), (MULS, MULS)))),
        f"in backward: {ONE} and the 3 ops from {OTHER} to `Sub` compute different values: {VALUES}",
    ),
    (
        two_rows(Inputs(alone=((), (MULS, MULS, MULS)))),
        f"equal inputs, apart from {OTHER}, {OTHER} and 1 more of mindspore-graph alone, but give",
    ),
    (
        two_rows(Inputs(alone=((MUL,), ()), constants=(THREE,))),
        "equal inputs (besides 3, a constant of torch-tape alone) but give",
    ),
    (
        two_rows(Inputs(alone=((MUL, MUL), ()), constants=(THREE, SIX))),
        "equal inputs (besides 3 and 6, constants of torch-tape alone) but give",
    ),
    (
        two_rows(Inputs(are_observed=False)),
        "equal inputs, as far as their values are known, but give",
    ),
    (two_rows(Inputs(are_swapped=True)), "equal inputs, given in another order, but give"),
    (
        two_rows(Inputs(rearranged=Rearranged((MUL, MULS), "transposed"))),
        f"take the same numbers, transposed ({ONE} against {OTHER}) and give",
    ),
    (
        two_rows(Inputs(rearranged=Rearranged((MUL, MULS), "reordered"))),
        f"take the same numbers in another order ({ONE} against {OTHER}) and give",
    ),
    (
        made(OtherStart, name="w"),
        f"in forward: the nets start from different values of `w`: {VALUES}",
    ),
    (
        valueless(LoneLeaf, LEFT_ALONE, side="left", leaf="parameter", name="b", user=MUL),
        f"in forward: only torch-tape has the parameter `b`; {ONE} uses it",
    ),
    (
        valueless(LoneLeaf, RIGHT_ALONE, side="right", leaf="input", name="x", user=None),
        "in forward: only mindspore-graph has the input `x`",
    ),
    (
        made(ExtraOps, phase="backward", side="left", row=ROWS[0], gradients=2),
        f"in backward: torch-tape adds 2 gradients in {ONE}, mindspore-graph does not: {VALUES}",
    ),
    (
        made(
            ExtraOps,
            phase="backward",
            side="right",
            row=ROWS[1],
            gradients=3,
            uses=("net.py:2", "net.py:4"),
        ),
        "mindspore-graph adds 3 gradients (of the uses at net.py:2 and net.py:4) in the 3 ops from"
        f" {OTHER} to `Sub`, torch-tape does not: {TURNED}",
    ),
    (
        made(ExtraOps, phase="backward", side="left", row=ROWS[0], gradients=2, made_at="net.py:7"),
        "torch-tape adds 2 gradients (of the value made at net.py:7) in",
    ),
    (
        made(ExtraOps, side="left", row=ROWS[0], goes_on=MULS),
        f"in forward: only torch-tape has {ONE}; mindspore-graph continues with {OTHER}; its output"
        f" against its input: {VALUES}",
    ),
    (
        valueless(ExtraOps, RIGHT_ALONE, side="right", row=ROWS[1]),
        f"in forward: only mindspore-graph has the 3 ops from {OTHER} to `Sub`: 3",
    ),
    (
        valueless(ExtraOps, LEFT_ALONE, side="left", row=ROWS[0], is_between=True),
        f"only torch-tape has {ONE}; what comes before and after corresponds in mindspore-graph",
    ),
    (
        valueless(GradientStopped, STOPPED, phase="backward", side="right", places=(MUL, MULS)),
        f"mindspore-graph stops the gradient in {OTHER}, torch-tape passes it on in {ONE}: 6",
    ),
    (
        made(GradientAdded, phase="backward", side="right", total=MULS, term=MUL, rest=MUL),
        f"mindspore-graph adds the gradient from {ONE} in {OTHER}, torch-tape leaves it out after"
        f" {ONE}: {TURNED}",
    ),
    (
        made(ResultElsewhere, name="out", makers=(MUL, MULS)),
        f"`out` comes from {ONE} in torch-tape and from {OTHER} in mindspore-graph, which do not"
        f" correspond: {VALUES}",
    ),
    (
        made(ResultElsewhere, name="bn.running_mean", makers=(MUL, MULS), do_correspond=True),
        f"{ONE} and {OTHER} give different values of `bn.running_mean`: {VALUES}",
    ),
    (
        valueless(ResultMissing, RIGHT_ALONE, phase="backward", side="right", name="dx"),
        "only mindspore-graph returns the gradient `dx`, torch-tape does not",
    ),
    (
        valueless(OtherOp, BOTH, places=(MUL, MULS)),
        f"{ONE} and {OTHER} are at the same place and are different kinds of ops",
    ),
    (
        valueless(OtherRate, BOTH, places=(MUL, MULS), rates=(0.5, 0.25), factors=(2.0, 4 / 3)),
        f"{ONE} and {OTHER} drop elements at different rates: 0.5 of them against 0.25, and multiply"
        " the rest by 2 against 1.333",
    ),
    (
        made(Rounded, side="right", places=(MUL, MULS), dtypes=("float16", "float32"), result="n1"),
        f"mindspore-graph rounds a value to `float16` in {OTHER}, torch-tape goes on in `float32` with"
        f" {ONE}: {TURNED}",
    ),
]

REASONS: list[tuple[Why, str]] = [
    (Plain("disproved"), "running its op again on the recorded inputs gives another value"),
    (Plain("first_difference"), "a divergence: the two graphs differ here"),
    (Plain("computed_from_difference"), "computed from values that differ"),
    (Plain("random"), "depends on random numbers, which each framework draws itself"),
    (Plain("constant"), "a constant that is not a node in mindspore-graph"),
    (Plain("unlisted"), "mindspore-graph does not have it, and no result differs because of that"),
    (Plain("in_pieces"), "mindspore-graph holds this parameter in other pieces"),
    (Plain("unobserved"), "its value was not recorded"),
    (Plain("fills_in"), "only broadcasts, groups or fills in values"),
    (Plain("unused"), "no result depends on it"),
    (
        Contradicted(MULS, (SIX, THREE), Gap(3.0)),
        f"{OTHER} in mindspore-graph takes equal inputs and gives another value, though what follows"
        " is equal: 6 against 3 (greatest difference 3)",
    ),
    (
        FurtherOutput(MULS),
        f"one of its further outputs is that of {OTHER} in mindspore-graph, which has no node for its"
        " main value",
    ),
    (
        FurtherOutput(MULS, (SIX, THREE), Gap(3.0)),
        f"only its further outputs equal those of {OTHER} in mindspore-graph: 6 against 3",
    ),
    (NoResult("dx"), "mindspore-graph has no result `dx`"),
    (OtherNamedValue("w", is_buffer=False), "`w` has another value in mindspore-graph"),
    (
        OtherNamedValue("bn.mean", is_buffer=True),
        "`bn.mean` has other values in mindspore-graph, perhaps those before or after an update",
    ),
    (PassedOn("Exp"), "the numbers of Exp, in another shape or dtype"),
    (OutputOf("Norm", 1), "output 1 of `Norm` in mindspore-graph"),
    (
        Repeated(Place(label="Mul", source="net.py:3")),
        "the value of `Mul` (net.py:3) in mindspore-graph, which is computed once there",
    ),
    (Steps(1, 2, op="Sin"), "on the way to `Sin` mindspore-graph has 2 ops where this graph has 1"),
    (
        Steps(2, 0, name="out"),
        "a step on the way to the result `out`, for which mindspore-graph has no ops of its own",
    ),
    (
        Steps(2, 1),
        "a step on the way to what follows, for which mindspore-graph has 1 op of its own",
    ),
    (
        Steps(3, 2, op="Sin"),
        "a step on the way to `Sin`, for which mindspore-graph has 2 ops of its own",
    ),
]

ENGLISH = re.compile(r"[A-Za-z]{3,}")
"""A word that a Chinese sentence has only where it is a name."""

NAMES = re.compile(r"`[^`]*`|[\w.]+\.py:\d+|torch-tape|mindspore-graph|dtype|\bExp\b|fc")


@pytest.fixture(params=["en", "zh"])
def code(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The language that texts are in."""
    monkeypatch.setattr(language, "_language", lambda: request.param)
    return str(request.param)


def is_chinese(text: str) -> bool:
    return not ENGLISH.search(NAMES.sub("", text)) and bool(re.search(r"[一-鿿]", text))


@pytest.mark.parametrize(("divergence", "text"), DIVERGENCES)
def test_a_divergence_is_a_sentence(divergence: Divergence, text: str, code: str) -> None:
    said = sentence(divergence, ENGINES)
    if code == "zh":
        assert is_chinese(said), said
        assert said.startswith("首个分歧点")
    else:
        assert said.startswith("First divergence in ")
        assert text in said


@pytest.mark.parametrize(("why", "text"), REASONS)
def test_a_reason_is_a_clause(why: Why, text: str, code: str) -> None:
    unpaired = Unpaired(side="left", node="n1", reason="difference", why=why)
    said = detail(unpaired, ENGINES)
    if code == "zh":
        assert is_chinese(said), said
    else:
        assert said.startswith(text)


def test_what_a_node_s_record_says_is_said_for_the_pair_too(code: str) -> None:
    absence = Absence("removed", "MatMul")
    unpaired = Unpaired(side="left", node="n1", reason="unobserved", why=Recorded(absence))
    assert detail(unpaired, ENGINES) == why_missing(absence)
    assert "MatMul" in why_missing(absence)


def test_what_the_other_graph_has_is_named_by_its_engine() -> None:
    right = Unpaired(side="right", node="n1", reason="difference", why=NoResult("dx"))
    assert detail(right, ENGINES) == "torch-tape has no result `dx`"


def test_every_kind_is_tried() -> None:
    assert {type(divergence) for divergence, _ in DIVERGENCES} == set(get_args(Divergence))
    assert {type(why) for why, _ in REASONS} | {Recorded} == set(get_args(Why))
    facts = {why.fact for why, _ in REASONS if isinstance(why, Plain)}
    assert facts == set(get_args(Fact))


@pytest.mark.parametrize("divergence", [divergence for divergence, _ in DIVERGENCES])
def test_a_mirrored_divergence_says_the_same_of_exchanged_engines(divergence: Divergence) -> None:
    back = mirrored(divergence)
    assert back.ends == divergence.ends[::-1]
    assert mirrored(back) == divergence
    names = [
        NAMES.findall(sentence(divergence, ENGINES)),
        NAMES.findall(sentence(back, ENGINES[::-1])),
    ]
    assert sorted(names[0]) == sorted(names[1])


def test_a_further_divergence_says_so(code: str) -> None:
    said = sentence(DIVERGENCES[0][0], ENGINES, which="further")
    assert said.startswith(
        {"en": "Further divergence in backward: ", "zh": "其余分歧（反向）："}[code]
    )


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "`block0.act, net.py:3`"),
        (3, "`block0.act, net.py:3`, `block1.act, net.py:3` and `block2.act, net.py:3`"),
        (50, "`block0.act, net.py:3`, `block1.act, net.py:3`, `block2.act, net.py:3` and 47 more"),
    ],
)
def test_of_many_further_places_three_are_named(count: int, said: str) -> None:
    places = [Place(label="gelu", scope=f"block{n}.act", source="net.py:3") for n in range(count)]
    also_at = tuple((place, place) for place in places)
    divergence = OtherValue(
        phase="forward", ends=BOTH, gap=TWICE, rows=ROWS, inputs=Inputs(), also_at=also_at
    )
    assert sentence(divergence, ENGINES).endswith(f"; the same ops follow at {said}")
    of_one = tuple(msgspec.structs.replace(row, count=1) for row in ROWS)
    single = msgspec.structs.replace(divergence, rows=of_one)
    assert sentence(single, ENGINES).endswith(f"; the same two ops follow at {said}")
    # The record keeps all of them.
    assert len(divergence.also_at) == count
