"""Sightings: what the report on a random net shows, and which of them are known."""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from explorer.fuzz.program import Program
from explorer.model.alignment import Alignment, Unpaired
from explorer.model.engines import ENGINES, GIVEN, Framework, engine_named, in_order, plain
from explorer.model.fuzz import Kind, Sighting
from explorer.model.report import CaseReport, Report
from explorer.model.results import LOST
from explorer.text.failures import message, typed
from explorer.text.language import later
from explorer.words.cases import judged_by_oracle
from explorer.words.graphs import why_no_graph

AGREES = Sighting("agrees")


def seen(report: Report) -> Sighting:
    """The first thing that is not right in a report on one case."""
    (case,) = report.cases
    for look in _LOOKS:
        for sighting in look(report, case):
            return sighting
    return AGREES


def _lost(_: Report, case: CaseReport) -> Iterator[Sighting]:
    engines = [name for name, result in case.results.items() if result.outcome in LOST]
    if engines:
        error = case.results[engines[0]].error
        yield Sighting("lost", tuple(engines), (message(error),) if error else ())


def _did_not_run(_: Report, case: CaseReport) -> Iterator[Sighting]:
    """A framework's forward that raises: without an operator there is no gradient to be wrong."""
    by_framework: dict[Framework, list[str]] = {}
    for name in case.results:
        by_framework.setdefault(engine_named(name).framework, []).append(name)
    for engines in by_framework.values():
        errors: dict[str, None] = {}
        ran = False
        for name in engines:
            result = case.results[name]
            # An engine's own call would be shown as code.
            ran |= result.outcome != "raised" or bool(result.code)
            if result.error:
                errors[message(result.error)] = None
        if errors and not ran:
            yield Sighting("refused", tuple(case.results), tuple(errors)[:1])


def _refused(_: Report, case: CaseReport) -> Iterator[Sighting]:
    errors: list[str] = []
    for result in case.results.values():
        if result.outcome == "ok":
            return
        if result.error:
            errors.append(message(result.error))
    yield Sighting("refused", tuple(case.results), tuple(errors[:1]))


def _differs(_: Report, case: CaseReport) -> Iterator[Sighting]:
    if case.verdict != "differs":
        return
    greatest = case.greatest
    yield Sighting(
        "differs",
        _wrong_engines(case),
        leaf=greatest.leaf if greatest else "",
        is_finite=greatest is None or math.isfinite(greatest.abs),
    )


def _wrong_engines(case: CaseReport) -> tuple[str, ...]:
    """The engines that the oracle contradicts; else those that differ from one that it confirms.

    Without an oracle they are those that differ from most.
    """
    answered = [name for name, result in case.results.items() if result.outcome == "ok"]
    confirmed, refuted = judged_by_oracle(case)
    if 0 < len(refuted) < len(answered):
        return tuple(refuted)
    if confirmed:
        # Where the nets' outputs differ it judges the engines of its own framework alone. Then those
        # are right that are of more frameworks.
        if _most_frameworks(case, unjudged=True) > _most_frameworks(case, unjudged=False):
            return tuple(confirmed)
        beside = {name for pair in case.apart for name in pair}.difference(confirmed)
        if beside:
            return tuple(in_order(beside))
    differences = Counter(name for pair in case.apart for name in pair)
    # An engine that differs from all others is wrong, where the others agree.
    most = max(differences.values(), default=0)
    return tuple(name for name in in_order(case.results) if differences[name] == most)


def _most_frameworks(case: CaseReport, *, unjudged: bool) -> int:
    """The greatest number of frameworks that agree, among those that the oracle has judged or not."""
    most = 0
    for group in case.groups:
        if (group.oracle_agrees is None) == unjudged:
            most = max(most, len({engine_named(name).framework for name in group.engines}))
    return most


def _raises(_: Report, case: CaseReport) -> Iterator[Sighting]:
    engines: list[str] = []
    errors: dict[str, None] = {}
    for name, result in case.results.items():
        if result.outcome in ("raised", "unsupported"):
            engines.append(name)
            if result.error:
                errors[typed(result.error)] = None
    if engines:
        yield Sighting("raises", tuple(engines), tuple(errors))


def _oracle(_: Report, case: CaseReport) -> Iterator[Sighting]:
    if case.oracle_agrees is False:
        yield Sighting("oracle", tuple(case.results))


def _graph(report: Report, case: CaseReport) -> Iterator[Sighting]:
    for engine, problem in report.ungraphed.items():
        if case.results[engine].outcome == "ok":
            yield Sighting("graph", (engine,), problem=why_no_graph(problem))
    for alignment in report.alignments:
        for node in alignment.contradictions:
            if node.reason == "refuted":
                engine = alignment.left if node.side == "left" else alignment.right
                yield _contradicted("graph", (engine,), alignment, node)


def _values(report: Report, _: CaseReport) -> Iterator[Sighting]:
    for alignment in report.alignments:
        pair = (alignment.left, alignment.right)
        for divergence in alignment.divergences[:1]:
            yield Sighting("values", pair, pair=pair, divergence=divergence)
        for node in alignment.contradictions:
            yield _contradicted("values", pair, alignment, node)


def _contradicted(
    kind: Kind, engines: tuple[str, ...], alignment: Alignment, node: Unpaired
) -> Sighting:
    pair = (alignment.left, alignment.right)
    return Sighting(kind, engines, pair=pair, contradiction=node)


_LOOKS: tuple[Callable[[Report, CaseReport], Iterator[Sighting]], ...] = (
    _lost,
    _did_not_run,
    _refused,
    _differs,
    _raises,
    _oracle,
    _graph,
    _values,
)


# What is known

MINDSPORE = frozenset({"mindspore-graph", "mindspore-tape"})
MINDSPORE_GRAPH = frozenset({"mindspore-graph"})
TAPE = frozenset({"mindspore-tape"})
PYTORCH_TAPE = frozenset({"torch-tape"})
PYTORCH_GRAPH = frozenset({"torch-graph"})
FUNCTIONS = frozenset(name for name, engine in ENGINES.items() if engine.framework in GIVEN)
"""The engines whose nets are functions of parameters and inputs."""
FUNCTION_GRAPH = frozenset(name for name in FUNCTIONS if ENGINES[name].style == "graph")
"""Those of them that compile such a function before its values are known."""
EVERY = frozenset(ENGINES)


class Known(msgspec.Struct, frozen=True):
    """A finding that needs no second look.

    It is of one of ``kinds``, and ``engines`` may be wrong. Where they are given, one of their
    messages contains ``error``, the result ``is_finite`` or not, and the net has one of
    ``operators``, this ``dtype`` and this ``order``, an input with this ``corner``, and at most
    ``most`` operators: what may have many causes is known only once the net is reduced. An input is
    "tied" that has a zero, or numbers that are equal.
    """

    kinds: frozenset[Kind]
    engines: frozenset[str]
    error: str = ""
    is_finite: bool | None = None
    operators: frozenset[str] = frozenset()
    dtype: str | None = None
    order: int | None = None
    most: int | None = None
    corner: Literal["", "empty", "not finite", "tied"] = ""

    def fits(self, program: Program, sighting: Sighting) -> bool:
        """Whether a net shows this, in whatever engines."""
        return (
            sighting.kind in self.kinds
            and self.error in " | ".join(sighting.errors)
            and self.is_finite in (None, sighting.is_finite)
            and (not self.operators or not self.operators.isdisjoint(program.operators))
            and self.dtype in (None, program.dtype)
            and self.order in (None, program.order)
            and (self.most is None or len(program.operators) <= self.most)
            and self.corner in ("", *_corners(program))
        )


RAISES: frozenset[Kind] = frozenset({"raises"})
GRAPH: frozenset[Kind] = frozenset({"graph"})
DIFFERENT: frozenset[Kind] = frozenset({"differs", "values"})
"""Kinds in which numbers differ, at the end or on the way."""


def _corners(program: Program) -> Iterator[str]:
    for values in program.values.values():
        if not values:
            yield "empty"
        if not all(map(math.isfinite, values)):
            yield "not finite"
        if 0 in values or len(set(values)) < len(values):
            yield "tied"


KNOWN: dict[str, Known] = {
    later("a derivative that is constant is on no tape of PyTorch's: nested, it refuses"): Known(
        RAISES, PYTORCH_TAPE, error="does not require grad", order=2
    ),
    later("MindSpore has no second derivative of this operator"): Known(
        RAISES, MINDSPORE, error="prop", order=2
    ),
    later("Dynamo captures no branch that depends on a value"): Known(
        RAISES, PYTORCH_GRAPH, error="Data-dependent branching", operators=frozenset({"branch"})
    ),
    later("a function that is compiled without values has no branch that depends on one"): Known(
        RAISES, FUNCTION_GRAPH, error="BoolConversionError", operators=frozenset({"branch"})
    ),
    later("AOTAutograd captures no result whose shape depends on values"): Known(
        RAISES,
        PYTORCH_GRAPH,
        error="DynamicOutputShapeException",
        operators=frozenset({"masked_sum"}),
    ),
    later("a function that is compiled without values has no shape that depends on them"): Known(
        RAISES,
        FUNCTION_GRAPH,
        error="NonConcreteBooleanIndexError",
        operators=frozenset({"masked_sum"}),
    ),
    later("nested gradients of MindSpore's tape are wrong in silence"): Known(
        frozenset({"differs"}), TAPE, order=2
    ),
    later("nested gradients of MindSpore's tape raise behind an index"): Known(
        RAISES, TAPE | PYTORCH_TAPE, error="Only support integers, slices", order=2
    ),
    later("MindSpore's nested gradients raise where a backward is given no tensor"): Known(
        RAISES, MINDSPORE, error="is null", order=2
    ),
    later("a gradient of a gradient of PyTorch's goes through no checkpoint"): Known(
        RAISES,
        PYTORCH_GRAPH,
        error="don't yet support saved tensor hooks",
        operators=frozenset({"recomputed"}),
        order=2,
    ),
    later("nested gradients of MindSpore's tape raise behind a recomputed cell"): Known(
        RAISES,
        TAPE,
        error="list index out of range",
        operators=frozenset({"recomputed"}),
        order=2,
    ),
    later("PyTorch's compiled gradient of softshrink is nan where the tape has 0 for a nan"): Known(
        frozenset({"differs"}),
        PYTORCH_GRAPH,
        is_finite=False,
        operators=frozenset({"softshrink"}),
        most=4,
    ),
    later("of nested gradients PyTorch's torch.func stops the inner one alone at .data"): Known(
        frozenset({"differs"}), PYTORCH_GRAPH, operators=frozenset({"data"}), order=2, most=4
    ),
    later("MindSpore's sum of no elements is what the memory had before"): Known(
        frozenset({"differs", "values", "graph"}), EVERY, corner="empty", most=4
    ),
    later("an operator of one framework takes no tensor without elements"): Known(
        RAISES, EVERY, corner="empty", most=2
    ),
    later(
        "MindSpore's gradient of lerp by a float16 tensor is float32, and adds to no other"
    ): Known(RAISES | DIFFERENT, EVERY, operators=frozenset({"lerp"}), dtype="float16"),
    later("MindSpore's compiler has no second derivative of min and max along an axis"): Known(
        RAISES, MINDSPORE_GRAPH, error="InplaceScatterSrc", order=2
    ),
    later(
        "of three like kernels beside a branch, the explorer cannot tell which dumped which value"
    ): Known(GRAPH, MINDSPORE_GRAPH, operators=frozenset({"prod"})),
    later("MindSpore's gradient of selu is wrong for negative numbers"): Known(
        DIFFERENT, EVERY, operators=frozenset({"selu"})
    ),
    later(
        "MindSpore's gradient of selu is wrong; float16's noise hides it from all but the oracle"
    ): Known(frozenset({"oracle"}), EVERY, operators=frozenset({"selu"}), dtype="float16", most=6),
    later(
        "the gradient of the spread of equal numbers is nan as that of a root, PyTorch's is 0"
    ): Known(
        frozenset({"differs"}),
        MINDSPORE | FUNCTIONS,
        is_finite=False,
        operators=frozenset({"std", "var"}),
    ),
    later("of rows with an infinite number the frameworks have other logarithms of softmax"): Known(
        DIFFERENT, EVERY, operators=frozenset({"log_softmax"}), corner="not finite", most=4
    ),
    later("at a kink the frameworks take the slope of one side, of the other, or 0"): Known(
        DIFFERENT,
        EVERY,
        operators=frozenset({"abs", "l1_loss", "leaky_relu"}),
        corner="tied",
        most=4,
    ),
    later(
        "of equal numbers along an axis one gets the gradient of max and min, or they share it"
    ): Known(DIFFERENT, EVERY, operators=frozenset({"max", "min"}), corner="tied", most=4),
    later(
        "the gradient of hypot at the origin is nan in some frameworks, and a number in others"
    ): Known(DIFFERENT, FUNCTIONS, operators=frozenset({"hypot"}), corner="tied", most=4),
    later("of numbers that are not finite the frameworks have other slopes"): Known(
        DIFFERENT,
        FUNCTIONS,
        operators=frozenset(
            {
                "abs",
                "celu",
                "elu",
                "hardswish",
                "hardtanh",
                "l1_loss",
                "logaddexp",
                "maximum",
                "minimum",
                "relu",
                "relu6",
                "selu",
                "sign_times",
                "std",
            }
        ),
        corner="not finite",
        most=4,
    ),
    later("a compiled product with a mask is a choice: there nan times zero is 0"): Known(
        DIFFERENT,
        FUNCTIONS,
        operators=frozenset({"amax", "amin"}),
        corner="not finite",
        most=4,
    ),
    later("of several nan in a row the frameworks take another one for the greatest"): Known(
        DIFFERENT, EVERY, operators=frozenset({"max", "min"}), corner="not finite", most=4
    ),
    later("the gradient of the norm of zeros is nan as that of a root, PyTorch's is 0"): Known(
        frozenset({"differs"}),
        MINDSPORE | FUNCTIONS,
        is_finite=False,
        operators=frozenset({"norm"}),
    ),
    later("MindSpore computes this operator of float64 tensors in single precision"): Known(
        DIFFERENT,
        EVERY,
        dtype="float64",
        operators=frozenset(
            {"celu", "hypot", "l1_loss", "log_softmax", "masked_fill", "mse_loss", "sort"}
        ),
    ),
    later("the gradient of atan2 at the origin divides by zero and is nan, PyTorch's is 0"): Known(
        frozenset({"differs"}),
        MINDSPORE | FUNCTIONS,
        is_finite=False,
        operators=frozenset({"atan2"}),
    ),
    later(
        "the gradient of atan2 of small float16 numbers divides by what has no inverse there"
    ): Known(
        frozenset({"differs", "oracle"}),
        EVERY,
        operators=frozenset({"atan2"}),
        dtype="float16",
        most=4,
    ),
    later(
        "kernels inside MindSpore's gradient of mish approximate more than its noise shows"
    ): Known(frozenset({"values"}), EVERY, operators=frozenset({"mish"}), dtype="float32", most=4),
    later(
        "MindSpore's tanh of large float32 numbers is approximate, its gradient there wrong"
    ): Known(DIFFERENT, EVERY, operators=frozenset({"tanhshrink"}), dtype="float32", most=4),
    later("PyTorch's gradient of hardsigmoid rounds its sixth to single precision"): Known(
        DIFFERENT, EVERY, dtype="float64", operators=frozenset({"hardsigmoid"}), most=4
    ),
    later("PyTorch has no second derivative of hardsigmoid"): Known(
        RAISES,
        PYTORCH_TAPE | PYTORCH_GRAPH,
        error="hardsigmoid_backward is not implemented",
        operators=frozenset({"hardsigmoid"}),
        order=2,
    ),
    later("MindSpore has no gradient of avg_pool by float64 tensors"): Known(
        RAISES, MINDSPORE, error="AvgPool3DGrad", dtype="float64", operators=frozenset({"avg_pool"})
    ),
    later("MindSpore's compiled gradient of addcmul has another shape than its tensor"): Known(
        RAISES | DIFFERENT, MINDSPORE_GRAPH, operators=frozenset({"addcmul"})
    ),
    later("MindSpore takes a number beside float64 tensors in single precision"): Known(
        DIFFERENT,
        EVERY,
        dtype="float64",
        operators=frozenset(
            {
                "erfc",
                "erf",
                "gelu",
                "gelu_tanh",
                "hardswish",
                "mish",
                "softplus",
                "std",
                "var",
            }
        ),
    ),
}
"""The recorded list, by reasons (MindSpore 2.10.0, PyTorch 2.13.0)."""


def known_reasons(program: Program, sighting: Sighting) -> tuple[str, ...]:
    """Why a net shows what it shows, where that is recorded; () where it is not.

    Several records may be the reasons together, each for some of the engines or of the errors.
    """
    engines = set(map(plain, sighting.engines))
    errors = set(sighting.errors)
    reasons: list[str] = []
    for reason, known in KNOWN.items():
        if not known.fits(program, sighting):
            continue
        named = {error for error in sighting.errors if known.error in error}
        if known.engines.issuperset(engines) and named.issuperset(errors):
            return (*reasons, reason) if sighting.errors else (reason,)
        if known.engines.intersection(engines):
            reasons.append(reason)
    for reason in reasons:
        engines -= KNOWN[reason].engines
        errors = {error for error in errors if KNOWN[reason].error not in error}
    return () if engines or errors else tuple(reasons)
