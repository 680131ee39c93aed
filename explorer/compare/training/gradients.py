"""Whether losses and gradients are the same, from the net to the optimizer, and else how they follow."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import Any

import numpy as np

from explorer.compare.graphs.sameness import CLEAR
from explorer.compare.training.moments import (
    Answered,
    Apart,
    Judged,
    Moment,
    Pair,
    Values,
    along,
    common,
    distance,
    greatest,
    greatest_of,
    joined,
    module_of,
    one_sided,
    values,
)
from explorer.model.training_comparison import Reason, Rule
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import UNIT

OF_WEIGHT = 0.25
"""What rounding leaves of 0 in a bias is so many times the noise of an element of its weight, or less."""

ADDED = 1e-6
"""What PyTorch's clip_grad_norm_ adds to the norm that it divides by (2.13); MindSpore adds nothing."""

# Ways in which one side follows from the other

EXPLAINED = 1e-3
"""A way to compute one side from the other explains a difference of which it leaves at most this share.

So little is nothing elsewhere too: of a factor of 1, of the gradient of the weight beside a bias, of a
momentum.
"""

Explained = tuple[float, dict[str, Any]]
"""What a way in which the tensors of one side may follow leaves of the difference, and what it says."""

Names = Sequence[str]

Way = Callable[[Pair, Names, Floats, Floats], Iterator[Explained]]
"""What is tried on the named tensors of both sides, which are given joined too."""


def judged(
    pair: Pair,
    kind: Judged,
    apart: Apart,
    ways: Sequence[Way] = (),
    together: Sequence[tuple[Names, Names]] = (),
    /,
    **known: Any,
) -> Answered:
    """Whether tensors lie no further apart than rounding moves them, and else which way explains it.

    Ways are tried in their order on the tensors that each row of ``together`` names, where it names some; if
    one explains them, the second names of the row are those that differ, where there are any.
    """
    if not apart.unlike:
        return "same" if apart.names else "not_recorded"
    times = [apart.times(name) for name in apart.names if apart.noises[name]]
    far = greatest_of(apart.ones, apart.others, apart.unlike)
    plain = {"names": apart.unlike, "of": len(apart.names), "apart": far}
    known = {**plain, "times": max(times, default=None), **known}
    for names, named in together:
        one, other = joined(apart.ones, names), joined(apart.others, names)
        for way in ways if names else ():
            for rest, explained in way(pair, names, one, other):
                if rest <= EXPLAINED * distance(one, other):
                    known["names"] = named or known["names"]
                    return pair.differ(kind, **known, **explained)
    if any(apart.noises[name] is None for name in apart.unlike):
        return "no_noise"
    return pair.differ(kind, "values", **known)


def _scheme_of(ratio: Floats, rows: Sequence[int]) -> dict[str, Any]:
    """The two ways to weight passes of so many rows that are in this ratio; none where they are equal."""
    if np.allclose(ratio, 1, rtol=EXPLAINED):
        return {}
    counts = np.array(rows, float)
    schemes = {
        "rows": counts / counts.sum(),
        "plain": np.full(len(rows), 1 / len(rows)),
        "sum": np.ones(len(rows)),
        "last": np.eye(len(rows))[-1],
    }
    for (one, ones), (other, others) in permutations(schemes.items(), 2):
        for pair, way in (((one, other), ratio), ((other, one), 1 / ratio)):
            wanted = ones / others
            if others.all() and np.allclose(way, wanted, rtol=EXPLAINED, atol=EXPLAINED):
                left, right = map(Rule, pair)
                known = {"numbers": tuple(map(float, rows)), "left": left, "right": right}
                return {"reason": "passes_weighted", **known}
    return {}


# The loss


def loss(pair: Pair) -> Answered:
    """Whether both sides have the same loss."""
    left, right, noises = pair
    if left.loss is None or right.loss is None:
        return "not_recorded"
    ones, others = np.array(left.losses), np.array(right.losses)
    scheme: dict[str, Any] = {}
    if left.rows != right.rows:
        # Of unlike passes what is the nearest is compared: a loss may be divided by the number of passes
        # before backward, or its gradients after it.
        likely = [
            (sum(it.losses), float(np.average(it.losses, weights=it.rows))) for it in (left, right)
        ]
        ways = [np.reshape(way, (2, 1)) for way in product(*likely)]
        ones, others = min(ways, key=lambda way: greatest(*way))
    elif len(ones) > 1 and others.all():
        scheme = _scheme_of(ones / others, left.rows)
    apart = greatest(ones, others)
    # One side may weight its passes later: their gradients say how.
    if not apart or Rule("sum") in scheme.values():
        return "same"
    noise = noises.of_loss(left)
    factor = _factor(float(ones[0]), float(others[0]), noise)
    if noise is None and not factor and not scheme and math.isfinite(apart):
        return "no_noise"
    if noise is not None and apart <= CLEAR * noise:
        return "same"
    if scheme:
        return pair.differ("loss", apart=apart, **scheme)
    reason: Reason = "random" if _drew_otherwise(left, right) else "values"
    return pair.differ(
        "loss",
        "factor" if factor else reason,
        apart=apart,
        times=apart / noise if noise and noises.is_measured else None,
        numbers=(factor,) if factor else (),
        left=Rule("loss", {"loss": left.loss}),
        right=Rule("loss", {"loss": right.loss}),
        has_graph=pair.has_graphs,
    )


def _drew_otherwise(left: Moment, right: Moment) -> bool:
    """Whether a random generator that a training draws from was in another state on the other side.

    It is drawn from if its state was seen to change, in a step or between two.
    """
    states, others = left.step.random, right.step.random
    unlike = [name for name in states if states[name] != others.get(name)]
    return left.training.framework == right.training.framework and any(
        len({step.random.get(name) for step in moment.training.steps}) > 1
        for moment in (left, right)
        for name in unlike
    )


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


def gradients(pair: Pair) -> Answered:
    """Whether backward left the same gradients on both sides, divided by the scale."""
    left, right, _noise = pair
    ones, others = left.unscaled, right.unscaled
    names = common(ones, others)
    if names and ones.keys() != others.keys():
        return one_sided("gradients", "missing", pair.number, ones, others)
    # Drifts are those of gradients as backward left them, and so are divided by the scale too.
    scale = min(left.scale, right.scale)
    of_noise = {name: pair.noise.of("gradients", left, name) for name in names}
    noises = {name: None if it is None else it / scale for name, it in of_noise.items()}
    noises |= _noises_of_cancelled(left, right, noises)
    apart = Apart(ones, others, noises)
    comparable = (name for name in names if math.isfinite(apart.norms[name]))
    finite = [name for name in comparable if np.isfinite(ones[name]).all()]
    far = [it for it in finite if apart.norms[it] > EXPLAINED * np.linalg.norm(others[it])]
    known: dict[str, Any] = {"apart": greatest_of(ones, others, finite)}
    if None in noises.values():
        known["names"] = far or names
    # Of several nets one may have what is to be explained, and the other none of it, or what follows.
    nets = left.step.groups if follows_update(left) else ()
    of_nets = [[name for name in far if name in group.names] for group in nets]
    together = [(finite, []), (far, []), *((names, names) for names in of_nets)]
    ways = _kept, _multiplied, _weighted, _with_decay
    return judged(pair, "gradients", apart, ways, together, has_graph=pair.has_graphs, **known)


def _noises_of_cancelled(
    left: Moment, right: Moment, noises: Mapping[str, float | None]
) -> dict[str, float]:
    """The noises of gradients of 0, and of those beside them in their modules: biases before a batch norm.

    They are unlike on both sides, and nothing beside those of the weights of their modules. What cancels in
    them is in those of the weights too, times the inputs, so they are a sample of the noise of these.
    """
    ones, others = left.unscaled, right.unscaled
    channels = {it.size for name, it in left.buffers.items() if name.endswith("running_mean")}
    found: dict[str, float] = {}
    for name in noises:
        greatest = max(float(np.linalg.norm(side[name])) for side in (ones, others))
        module = [one for one in noises if module_of(one) == module_of(name)]
        beside = [float(np.linalg.norm(ones[one])) for one in module if one != name]
        is_nothing = 0 < greatest <= EXPLAINED * max(beside, default=0.0)
        is_unlike = 2 * distance(ones[name], others[name]) >= greatest
        if ones[name].size in channels and is_nothing and is_unlike:
            typical = greatest / math.sqrt(ones[name].size)
            for one in module:
                noise, share = found.get(one, noises[one]), 1.0 if one == name else OF_WEIGHT
                if noise is not None:
                    size = share * typical * math.sqrt(left.gradients[one].size)
                    found[one] = max(noise, size)
    return found


def follows_update(moment: Moment) -> bool:
    """Whether a pass of a step may come behind an update of it: of several nets, each has its own."""
    return len(moment.step.batches) > 1 and len(moment.step.groups) > 1


def _kept(pair: Pair, names: Names, one: Floats, other: Floats) -> Iterator[Explained]:
    """One side's gradients as what its last step has left of its own, with the other side's added."""
    for (side, own, _), here, plain in zip(pair.sides, (one, other), (other, one), strict=True):
        before = own.before
        if before is None:
            continue
        unscaled = {name: array / before.scale for name, array in own.prior.gradients.items()}
        given = own.prior.given or unscaled
        # What all passes of that step have added, behind an update of theirs too.
        added: dict[str, Any] = {}
        for batch in before.step.batches:
            for name, array in own.like(values(batch.gradients)).items():
                added[name] = added.get(name, 0.0) + array
        # Unscaled and clipped gradients stay where those of the next pass are scaled again.
        lefts = [(unscaled, 1.0), (given, 1.0), (given, own.scale), (added, before.scale)]
        for kept, scale in lefts:
            if all(name in kept for name in names):
                rest = distance(here, joined(kept, names) / scale + plain)
                yield rest, {"reason": "kept", "side": side}


def _multiplied(_pair: Pair, _names: Names, one: Floats, other: Floats) -> Iterator[Explained]:
    factor = along(one, other)
    if factor and not abs(factor - 1) < EXPLAINED:
        yield distance(one, factor * other), {"reason": "factor", "numbers": (factor,)}


def _weighted(pair: Pair, names: Names, one: Floats, other: Floats) -> Iterator[Explained]:
    """Gradients of passes that the two sides add up with other weights."""
    left, right, _noise = pair
    fuller = left if len(left.step.batches) >= len(right.step.batches) else right
    passes = [fuller.like(values(batch.gradients)) for batch in fuller.step.batches]
    if len(passes) < 2 or not all(name in of_pass for of_pass in passes for name in names):
        return
    basis = np.stack([joined(of_pass, names) for of_pass in passes], axis=1)
    shares = [np.linalg.lstsq(basis, total, rcond=None)[0] for total in (one, other)]
    scheme = _scheme_of(shares[0] / shares[1], fuller.rows)
    if scheme:
        yield max(distance(basis @ shares[0], one), distance(basis @ shares[1], other)), scheme


def _with_decay(pair: Pair, names: Names, _one: Floats, _other: Floats) -> Iterator[Explained]:
    """One side's gradients as the other's with a share of the weights added."""
    left, right, _noise = pair
    names = [name for name in names if name in left.prior.weights]
    more = joined(left.unscaled, names) - joined(right.unscaled, names)
    weights = joined(left.prior.weights, names)
    share = along(more, weights) if weights.shape == more.shape else 0.0
    if share:
        known = {"side": "left" if share > 0 else "right", "numbers": (abs(share),)}
        yield distance(more, share * weights), {"reason": "decayed", **known}


# What the optimizer is given


def room_of(tensors: Values, names: Names, before: float) -> float:
    """How far tensors may lie apart that are made alike of what lies so far apart itself."""
    size = max(float(np.abs(tensors[name]).max(initial=0.0)) for name in names)
    return CLEAR * max(before, UNIT["float32"] * size)


def skipped(pair: Pair) -> Answered:
    """Whether both sides made the update, or both left it out."""
    for side, own, other in pair.sides:
        if other.step.skipped and not own.step.skipped:
            reason: Reason = "values" if own.is_finite else "overflow_not_skipped"
            return pair.differ("skipped", reason, side=side)
    return "same"


def given(pair: Pair) -> Answered:
    """Whether both optimizers got their gradients by the same rule from those that backward left."""
    left, right, _noise = pair
    if left.step.skipped or right.step.skipped or not (left.is_finite and right.is_finite):
        return "same"
    if not all(moment.step.gradients and moment.step.given for moment in (left, right)):
        return "not_recorded"
    one, other = _rule_of(left), _rule_of(right)
    names = common(left.given, right.given)
    apart = greatest_of(left.given, right.given, names)
    known: dict[str, Any] = {"names": names, "of": len(names), "apart": apart}
    if not one.kind or not other.kind:
        # The rule of a side is not known: do both make the same of the same gradients?
        before = greatest_of(left.unscaled, right.unscaled, names)
        is_same = apart <= room_of(left.given, names, before)
        return "same" if is_same else pair.differ("given", "values", **known)
    known |= {"left": one, "right": other}
    if one.kind == other.kind:
        limit, other_limit = (rule.settings.get("limit", 1.0) for rule in (one, other))
        error = CLEAR * 8 * UNIT["float32"] + ADDED / max(left.norm, ADDED)
        if abs(limit / other_limit - 1) <= error:
            return "same"
    if "not_unscaled" in (one.kind, other.kind):
        side = "left" if one.kind == "not_unscaled" else "right"
        return pair.differ("given", "not_unscaled", side=side, **known)
    return pair.differ("given", "clipping" if one.kind != other.kind else "limit", **known)


def _rule_of(moment: Moment) -> Rule:
    """What makes the given gradients of those that backward left; without a kind where no rule does."""
    names = common(moment.gradients, moment.given)
    raw, plain, one = (
        joined(tensors, names) for tensors in (moment.gradients, moment.unscaled, moment.given)
    )
    share, limit = along(one, plain), float(np.abs(one).max(initial=0.0))
    made = [("none", 0.0, plain), ("not_unscaled", 0.0, raw)]
    if 0 != share < 1:
        made.append(("norm", share * moment.norm, share * plain))
    if limit:
        made.append(("value", limit, np.clip(plain, -limit, limit)))
    fitting = [(kind, limit) for kind, limit, array in made if _is(one, array)]
    kind, limit = fitting[0] if fitting else ("norm_each", _limit_of_each(moment, names))
    if kind in ("none", "not_unscaled"):
        return Rule(kind)
    recorded = moment.step.norm
    if kind == "norm" and recorded is not None and 0 < recorded < math.inf:
        # Which of two norms the program has computed says which one it has clipped.
        norms = moment.norm * moment.scale, moment.norm
        powers = [abs(math.log(recorded / norm)) for norm in norms]
        if powers[0] < powers[1]:
            kind, limit = "norm_before_unscale", limit * moment.scale
    return Rule(kind, {"limit": limit}) if limit else Rule()


def _is(one: Floats, other: Floats) -> bool:
    return bool((np.abs(one - other) <= CLEAR * UNIT["float32"] * np.abs(other)).all())


def _limit_of_each(moment: Moment, names: Names) -> float:
    """The limit of the norm of each tensor, if all those that are clipped have the same; 0 otherwise."""
    limits = []
    for name in names:
        one, plain = moment.given[name], moment.unscaled[name]
        share = along(one, plain)
        if not share or not _is(one, share * plain):
            if plain.any():
                return 0.0
        elif share < 1 - CLEAR * UNIT["float32"]:
            limits.append(share * moment.norms[name])
    if not limits:
        return 0.0
    error = CLEAR * 8 * UNIT["float32"] + ADDED / min(limits)
    return limits[0] if max(limits) / min(limits) - 1 <= error else 0.0
