"""Whether the losses and gradients of two steps are the same, and else how one follows from the other."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
import numpy as np

from explorer.compare.graphs.sameness import CLEAR
from explorer.compare.training.bands import Bands
from explorer.compare.training.data import Answered
from explorer.compare.training.values import Moment, common, distance, joined, values
from explorer.model.training import Training
from explorer.model.training_comparison import Reason, Rule, SideName, TrainingDifference
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import UNIT

EXPLAINED = 1e-3
"""A way to compute one side from the other explains a difference of which it leaves at most this share."""

LEAST = 1e-3
"""Where no noise was measured, a factor that is nearer to 1 than this is not called one."""


NOTHING = 1e-3
"""A gradient of at most this share of that of the weight in its module may be what rounding leaves of 0."""

OF_WEIGHT = 0.25
"""What rounding leaves of 0 in a bias is so many times the noise of an element of its weight, or less."""


# The loss


def loss(left: Moment, right: Moment, bands: Bands, sides: tuple[Training, Training]) -> Answered:
    """Whether both sides have the same loss."""
    if left.loss is None or right.loss is None:
        return "not_recorded"
    noise = bands.loss(left)
    pairs = _pairs(left, right)
    apart = max(_apart(one, other) for one, other in pairs)
    schemes = _loss_schemes(left, right)
    # One side may weight its passes later: their gradients say how.
    if not apart or (schemes and "sum" in schemes):
        return "same"
    factor = _factor(*pairs[0], noise)
    if noise is None and not factor and not schemes and math.isfinite(apart):
        return "no_noise"
    if noise is not None and apart <= CLEAR * noise:
        return "same"
    if schemes:
        return TrainingDifference(
            question="loss",
            reason="passes_weighted",
            step=left.step.number,
            apart=apart,
            numbers=tuple(map(float, left.rows)),
            left=Rule(schemes[0]),
            right=Rule(schemes[1]),
        )
    return TrainingDifference(
        question="loss",
        reason=_reason(factor, left, right, sides),
        step=left.step.number,
        apart=apart,
        times=apart / noise if noise and bands.has_noise else None,
        numbers=(factor,) if factor else (),
        left=Rule("loss", {"loss": left.loss}),
        right=Rule("loss", {"loss": right.loss}),
        has_graph=_have_graphs(left, right),
    )


def _reason(factor: float, left: Moment, right: Moment, sides: tuple[Training, Training]) -> Reason:
    """Why two losses differ, as far as that is known."""
    if factor:
        return "factor"
    return "random" if _drew_otherwise(left, right, sides) else "values"


def _drew_otherwise(left: Moment, right: Moment, sides: tuple[Training, Training]) -> bool:
    """Whether a random generator that a training draws from was in another state on the other side."""
    one, other = sides
    if one.framework != other.framework:
        return False
    states, others = left.step.random, right.step.random
    unlike = [name for name in states if states[name] != others.get(name)]
    return any(_draws_from(side, name) for side in sides for name in unlike)


def _draws_from(training: Training, generator: str) -> bool:
    """Whether the state of a generator was seen to change, in a step or between two."""
    return len({step.random.get(generator) for step in training.steps}) > 1


def _pairs(left: Moment, right: Moment) -> list[tuple[float, float]]:
    """The losses that should be the same: of each pass, or of unlike passes what is the nearest."""
    if left.rows == right.rows:
        return list(zip(left.losses, right.losses, strict=True))
    # A loss may be divided by the number of passes before backward, or its gradients after it.
    means = [float(np.average(one.losses, weights=one.rows)) for one in (left, right)]
    ways = [(left.loss, right.loss), (means[0], means[1])]
    ways += [(left.loss, means[1]), (means[0], right.loss)]
    pairs = [(one, other) for one, other in ways if one is not None and other is not None]
    return [min(pairs, key=lambda pair: _apart(*pair))]


def _loss_schemes(left: Moment, right: Moment) -> tuple[str, str] | None:
    """How the two sides weight the losses of passes, where that is all that differs."""
    if left.rows != right.rows or len(left.rows) < 2 or not all(right.losses):
        return None
    return _scheme_of(np.array(left.losses) / np.array(right.losses), left.rows)


def _scheme_of(ratio: Floats, rows: Sequence[int]) -> tuple[str, str] | None:
    """The two ways to weight passes of so many rows that are in this ratio; none where they are equal."""
    if np.allclose(ratio, 1, rtol=EXPLAINED):
        return None
    schemes = _schemes(rows)
    for one, ones in schemes.items():
        for other, others in schemes.items():
            if one == other or not others.all():
                continue
            for pair, way in (((one, other), ratio), ((other, one), 1 / ratio)):
                if np.allclose(way, ones / others, rtol=EXPLAINED, atol=EXPLAINED):
                    return pair
    return None


def _apart(one: float, other: float) -> float:
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    apart = abs(one - other)
    return math.inf if math.isnan(apart) else apart


def _factor(one: float, other: float, noise: float | None) -> float:
    """The whole number by which one loss is the other multiplied, or divided by; 0 where there is none."""
    if not one or not other or not math.isfinite(one * other):
        return 0.0
    factor = one / other
    whole = round(max(factor, 1 / factor))
    expected = float(whole) if abs(factor) > 1 else 1 / whole if whole else 0.0
    error = CLEAR * max((noise or 0.0) / min(abs(one), abs(other)), 8 * UNIT["float32"])
    return expected if whole > 1 and abs(factor / expected - 1) <= error else 0.0


# Gradients


class Explained(msgspec.Struct, frozen=True):
    """How the gradients of one side follow from those of the other, and what is left of the difference."""

    reason: Reason
    side: SideName | None
    left: float
    numbers: tuple[float, ...] = ()
    rules: tuple[Rule, Rule] | None = None


def gradients(left: Moment, right: Moment, bands: Bands) -> Answered:
    """Whether backward left the same gradients on both sides, divided by the scale."""
    ones, others = left.unscaled, right.unscaled
    names = common(ones, others)
    if not names:
        return "not_recorded"
    if ones.keys() != others.keys():
        return _of_one_side(left, right)
    noises = _noises(left, right, bands, names)
    aparts = {name: distance(ones[name], others[name]) for name in names}
    unlike = tuple(name for name in names if _is_clear(aparts[name], noises[name]))
    is_measured = None not in noises.values()
    if not any(aparts.values()) or (is_measured and not unlike):
        return "same"
    finite = [name for name in names if math.isfinite(aparts[name]) and are_finite((ones[name],))]
    far = [name for name in finite if aparts[name] > EXPLAINED * np.linalg.norm(others[name])]
    found, named = _first_explained(left, right, finite, far)
    if found is None and not is_measured:
        return "no_noise"
    found = found or Explained("values", None, 0.0)
    times = [aparts[name] / noise for name, noise in noises.items() if noise]
    first, second = found.rules or (None, None)
    return TrainingDifference(
        question="gradients",
        reason=found.reason,
        step=left.step.number,
        names=named or unlike or tuple(far) or names,
        of=len(names),
        apart=_greatest(left, right, finite),
        times=max(times, default=None),
        side=found.side,
        numbers=found.numbers,
        left=first,
        right=second,
        has_graph=_have_graphs(left, right),
    )


def _noises(
    left: Moment, right: Moment, bands: Bands, names: Sequence[str]
) -> dict[str, float | None]:
    """The noise of the norm of the difference of each gradient; None where that was not measured."""
    noises = {name: _noise(bands, left, right, name) for name in names}
    for bias, size in _cancelled(left, right, names).items():
        for name in names:
            noise = noises[name]
            if noise is not None and _module(name) == _module(bias):
                share = 1.0 if name == bias else OF_WEIGHT
                noises[name] = max(noise, share * size * math.sqrt(left.gradients[name].size))
    return noises


def _first_explained(
    left: Moment, right: Moment, finite: list[str], far: list[str]
) -> tuple[Explained | None, tuple[str, ...]]:
    """What explains the gradients of all, of those far apart, or of one net's; of one net with their names.

    Of several nets one may have what is to be explained, and the other none of it, or what follows.
    """
    for part in (finite, far):
        found = _explained(left, right, part)
        if found is not None:
            return found, ()
    for group in left.step.groups if follows_update(left) else ():
        part = [name for name in far if name in group.names]
        found = _explained(left, right, part)
        if found is not None:
            return found, tuple(part)
    return None, ()


def follows_update(moment: Moment) -> bool:
    """Whether a pass of a step may come behind an update of it: of several nets, each has its own."""
    return len(moment.step.batches) > 1 and len(moment.step.groups) > 1


def _cancelled(left: Moment, right: Moment, names: Sequence[str]) -> dict[str, float]:
    """The typical size of what rounding leaves of gradients of 0: those of biases before a batch norm.

    They are unlike on both sides, and nothing beside those of the weights of their modules. What cancels in
    them is in those of the weights too, times the inputs, so they are a sample of the noise of these.
    """
    ones, others = left.unscaled, right.unscaled
    channels = {it.size for name, it in left.buffers.items() if name.endswith("running_mean")}
    found = {}
    for name in names:
        sizes = [float(np.linalg.norm(side[name])) for side in (ones, others)]
        beside = [one for one in names if _module(one) == _module(name) and one != name]
        weights = max((float(np.linalg.norm(ones[one])) for one in beside), default=0.0)
        is_nothing = 0 < max(sizes) <= NOTHING * weights
        is_unlike = 2 * distance(ones[name], others[name]) >= max(sizes)
        if ones[name].size in channels and is_nothing and is_unlike:
            found[name] = max(sizes) / math.sqrt(ones[name].size)
    return found


def _module(name: str) -> str:
    return name.rpartition(".")[0]


def _of_one_side(left: Moment, right: Moment) -> TrainingDifference:
    """The gradients that one side alone has."""
    ones, others = left.unscaled.keys(), right.unscaled.keys()
    one_sided = ones ^ others
    return TrainingDifference(
        question="gradients",
        reason="missing",
        step=left.step.number,
        names=tuple(sorted(one_sided)),
        of=len(ones | others),
        side="left" if one_sided - ones else "right",
    )


def _greatest(left: Moment, right: Moment, finite: Sequence[str]) -> float:
    """The greatest difference of an element; infinite where no tensor is finite on both sides."""
    if not finite:
        return math.inf
    ones, others = left.unscaled, right.unscaled
    return max(float(np.abs(ones[name] - others[name]).max(initial=0.0)) for name in finite)


def _have_graphs(left: Moment, right: Moment) -> bool:
    return left.step.graph is not None and right.step.graph is not None


def _noise(bands: Bands, left: Moment, right: Moment, name: str) -> float | None:
    # Drifts are those of gradients as backward left them, and so are divided by the scale too.
    size = float(np.linalg.norm(left.gradients[name]))
    noise = bands.gradients(left, name, size)
    return None if noise is None else noise / min(left.scale, right.scale)


def _is_clear(apart: float, noise: float | None) -> bool:
    return noise is not None and apart > CLEAR * noise


def _explained(left: Moment, right: Moment, names: Sequence[str]) -> Explained | None:
    """The first way of WAYS that leaves next to nothing of the difference; None where none does."""
    if not names:
        return None
    whole = distance(joined(left.unscaled, names), joined(right.unscaled, names))
    for way in WAYS:
        for found in way(left, right, names):
            if found.left <= EXPLAINED * whole:
                return found
    return None


def _kept(left: Moment, right: Moment, names: Sequence[str]) -> list[Explained]:
    """One side's gradients as what its last step has left of its own, with the other side's added."""
    found = []
    sides: tuple[tuple[SideName, Moment, Moment], ...] = (
        ("left", left, right),
        ("right", right, left),
    )
    for side, own, other in sides:
        if own.before is None:
            continue
        here, plain = joined(own.unscaled, names), joined(other.unscaled, names)
        before = own.before
        unscaled = {name: array / before.scale for name, array in own.gradients_before.items()}
        given = own.given_before or unscaled
        # Unscaled and clipped gradients stay where those of the next pass are scaled again.
        lefts = [(unscaled, 1.0), (given, 1.0), (given, own.scale)]
        lefts += [(own.like(before.of_passes), before.scale)]
        for kept, scale in lefts:
            if all(name in kept for name in names):
                rest = distance(here, joined(kept, names) / scale + plain)
                found.append(Explained("kept", side, rest))
    return found


def _multiplied(left: Moment, right: Moment, names: Sequence[str]) -> list[Explained]:
    one, other = joined(left.unscaled, names), joined(right.unscaled, names)
    factor = _along(one, other)
    if not factor or abs(factor - 1) < LEAST:
        return []
    return [Explained("factor", None, distance(one, factor * other), (factor,))]


def _with_decay(left: Moment, right: Moment, names: Sequence[str]) -> list[Explained]:
    """One side's gradients as the other's with a share of the weights added."""
    names = [name for name in names if name in left.weights_before]
    one, other = joined(left.unscaled, names), joined(right.unscaled, names)
    weights = joined(left.weights_before, names)
    share = _along(one - other, weights) if weights.shape == one.shape else 0.0
    if not share:
        return []
    side: SideName = "left" if share > 0 else "right"
    return [Explained("decayed", side, distance(one - other, share * weights), (abs(share),))]


def _weighted(left: Moment, right: Moment, names: Sequence[str]) -> list[Explained]:
    """Gradients of passes that the two sides add up with other weights."""
    fuller = left if len(left.step.batches) >= len(right.step.batches) else right
    passes = [fuller.like(values(batch.gradients)) for batch in fuller.step.batches]
    if len(passes) < 2 or not all(name in one for one in passes for name in names):
        return []
    basis = np.stack([joined(one, names) for one in passes], axis=1)
    shares, rests = [], []
    for moment in (left, right):
        total = joined(moment.unscaled, names)
        share, *_ = np.linalg.lstsq(basis, total, rcond=None)
        shares.append(share)
        rests.append(distance(basis @ share, total))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = shares[0] / shares[1]
    rows = fuller.rows
    found = _scheme_of(ratio, rows)
    if found is None:
        return []
    numbers = tuple(map(float, rows))
    rules = Rule(found[0]), Rule(found[1])
    return [Explained("passes_weighted", None, max(rests), numbers, rules)]


def _schemes(rows: Sequence[int]) -> Mapping[str, Floats]:
    """The weights of passes of so many rows: by their rows, alike, none, or none but the last one's."""
    counts = np.array(rows, float)
    return {
        "rows": counts / counts.sum(),
        "plain": np.full(len(rows), 1 / len(rows)),
        "sum": np.ones(len(rows)),
        "last": np.eye(len(rows))[-1],
    }


WAYS: tuple[Callable[[Moment, Moment, Sequence[str]], list[Explained]], ...] = (
    _kept,
    _multiplied,
    _weighted,
    _with_decay,
)
"""How the gradients of one side may follow from the other's, in the order in which they are tried."""


def _along(one: Floats, other: Floats) -> float:
    """How many times another vector is in one, by least squares."""
    square = float(other @ other)
    return float(one @ other) / square if square else 0.0


def are_finite(gradients: Iterable[Floats]) -> bool:
    """Whether all elements are finite."""
    return all(bool(np.isfinite(array).all()) for array in gradients)
