"""Findings about two nets, in a sentence each."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from explorer.model.engines import FRAMEWORK_LABELS, STANDARD, Framework
from explorer.model.findings import (
    EqualElements,
    Fact,
    HiddenByZeros,
    Holder,
    IllConditioned,
    LoneIntegers,
    LoneStart,
    LoneWeight,
    LoneWeights,
    NoiseUnknown,
    NonFinite,
    Omitted,
    OtherRole,
    OwnConvention,
    PackedParameters,
    PairedParameters,
    RandomDraw,
    RecordedOtherwise,
    ReportFinding,
    ReturnedClass,
    SameMasks,
    SilentBroadcast,
    Unmet,
    ZeroGradients,
)
from explorer.model.requests import Role
from explorer.text.failures import message
from explorer.text.language import _, named
from explorer.text.numbers import multiple
from explorer.words.cases import SEPARATOR, who
from explorer.words.divergences import sentence as divergence_sentence
from explorer.words.known import known_line
from explorer.words.readings import listed, place
from explorer.words.scenarios import said

OTHER: dict[Framework, Framework] = {"mindspore": "torch", "torch": "mindspore"}

SHOWN = 3
"""The greatest number of names that a sentence on many lists."""

LISTED = 12
"""The greatest number of parameters that are named by which a mistake is hidden."""


def sentence(finding: ReportFinding) -> str:
    """A finding in a sentence."""
    return _SAY[type(finding.fact)](finding.fact)


def _other_role(fact: OtherRole) -> str:
    one, other = map(_holds, fact.holders)
    return _("{name} is {one} and {other}").format(name=fact.name, one=one, other=other)


def _holds(holder: Holder) -> str:
    """What a net does with a tensor, worded to follow "is"."""
    roles: dict[Role, str] = {
        "trained": _("trained"),
        "frozen": _("frozen (requires_grad=False)"),
        "buffer": _("a buffer"),
        "constant": _("a plain tensor"),
    }
    said = {"role": roles[holder.role], "framework": FRAMEWORK_LABELS[holder.framework]}
    if holder.integers:
        text = _("{role}, with values of {dtype}, in {framework}")
        return text.format(dtype=holder.integers, **said)
    return _("{role} in {framework}").format(**said)


def _lone_weight(fact: LoneWeight) -> str:
    return _(
        "{name} {shape} is trained only in {framework}: {other}'s net has no unpaired parameter of this"
        " size and kind; it may lack a layer or a bias, or share a weight between two layers"
    ).format(
        name=fact.name,
        shape=fact.shape,
        framework=FRAMEWORK_LABELS[fact.framework],
        other=FRAMEWORK_LABELS[OTHER[fact.framework]],
    )


def _lone_weights(fact: LoneWeights) -> str:
    text = _(
        "{n} weights are trained only in {framework}, {biases} of them biases ({names}): {other}'s net"
        " has none of their size and kind left, so that the nets do not start alike"
    )
    return text.format(
        n=len(fact.names),
        framework=FRAMEWORK_LABELS[fact.framework],
        other=FRAMEWORK_LABELS[OTHER[fact.framework]],
        biases=fact.biases,
        names=_first(fact.names),
    )


def _first(names: Sequence[str]) -> str:
    """The first of many names."""
    return f"{named(list(names[:SHOWN]))}{', …' if len(names) > SHOWN else ''}"


def _paired_parameters(fact: PairedParameters) -> str:
    pairs = [f"{name} ↔ {other}" for name, other in fact.examples]
    if fact.others:
        pairs.append("…")
    text = _("{n} of {m} parameters are paired by names, shapes and order of declaration: {pairs}")
    if "value" in fact.ways:
        text = _("{n} of {m} parameters are paired by names, shapes and values: {pairs}")
    sentence = text.format(n=fact.pairs, m=fact.weights, pairs=", ".join(pairs))
    if fact.difference is None:
        ending = _(
            "{sentence}; no run has confirmed it: PARAMETER_NAMES says otherwise where it is wrong"
        )
    elif fact.confirmed:
        ending = _(
            "{sentence}; from one start the outputs then agree up to {difference} of their norm"
        )
    else:
        ending = _(
            "{sentence}; nothing confirms that: from one start the outputs then differ by {difference}"
            " of their norm, since the nets compute something else, or the pairs are wrong;"
            " PARAMETER_NAMES says others"
        )
    return ending.format(sentence=sentence, difference=f"{fact.difference or 0:.1g}")


def _packed_parameters(fact: PackedParameters) -> str:
    text = _("{whole} of {holder} is {parts} of {other}, one after the other")
    if fact.others == 1:
        text = _("{whole} of {holder} is {parts} of {other}, one after the other, and so is 1 more")
    elif fact.others:
        text = _(
            "{whole} of {holder} is {parts} of {other}, one after the other, and so are {n} more"
        )
    ending = _("{sentence}: they start with equal values; their gradients are not compared")
    if fact.compared:
        ending = _("{sentence}: they start with equal values, and are compared in PyTorch's pieces")
    sentence = text.format(
        whole=fact.whole,
        holder=FRAMEWORK_LABELS[fact.holder],
        parts=", ".join(fact.parts),
        other=FRAMEWORK_LABELS[OTHER[fact.holder]],
        n=fact.others,
    )
    return ending.format(sentence=sentence)


def _lone_integers(fact: LoneIntegers) -> str:
    return _(
        "{name} is trained in MindSpore although its dtype is {dtype} (Parameter has"
        " requires_grad=True by default); PyTorch's net has no such parameter"
    ).format(name=fact.name, dtype=fact.dtype)


def _lone_start(fact: LoneStart) -> str:
    return _(
        "parameters() gives {name}, which sets a value only in {framework}'s net: the other net has"
        " nothing of that name (a weight that two layers share has the name of the first one); if it"
        " has another name there, add the pair to PARAMETER_NAMES"
    ).format(name=fact.name, framework=FRAMEWORK_LABELS[fact.framework])


def _returned_class(fact: ReturnedClass) -> str:
    return _(
        "MindSpore's net returns tensors in {name}, a class with fields. MindSpore 2.10 gives no"
        " gradient for them and no error: for a dataclass in both styles, for a named tuple in graph"
        " style. Return a tuple, a list or a dict"
    ).format(name=fact.name)


def _unmet(fact: Unmet) -> str:
    text = _("{names}: EXPECTED_FINDINGS lists a finding that does not occur: {reason}")
    return text.format(names=named(fact.names), reason=said(fact.reason))


def _same_masks(fact: SameMasks) -> str:
    if not fact.torch or not fact.mindspore:
        text = _(
            "dropout layers in {framework}'s net alone: {layers}; nothing in the other net gets the same"
            " random masks, so each engine draws its own"
        )
        framework: Framework = "torch" if fact.torch else "mindspore"
        layers = _rates(fact.torch or fact.mindspore)
        return text.format(framework=FRAMEWORK_LABELS[framework], layers=layers)
    text = _(
        "dropout layers use the same random masks in both nets: {torch} in PyTorch, {mindspore} in"
        " MindSpore; with SAME_DROPOUT = False each engine draws its own"
    )
    return text.format(torch=_rates(fact.torch), mindspore=_rates(fact.mindspore))


def _rates(rates: Mapping[str, float]) -> str:
    layers = [f"{path} (p = {rate:g})" for path, rate in rates.items()]
    return named(layers)


def _ill_conditioned(fact: IllConditioned) -> str:
    text = _(
        "ill-conditioned: {place} of {engine} multiplies rounding errors by {factor}: relative to their"
        " size its inputs have an error of {entering}, its outputs of {leaving}"
    ).format(
        place=place(fact.place),
        engine=fact.engine,
        factor=multiple(fact.factor),
        entering=f"{fact.entering:.1g}",
        leaving=f"{fact.leaving:.1g}",
    )
    if not fact.others:
        return text
    if fact.others == 1:
        return _("{fact}; so does 1 more op of this line").format(fact=text)
    return _("{fact}; so do {n} more ops of this line").format(fact=text, n=fact.others)


def _noise_unknown(fact: NoiseUnknown) -> str:
    return _(
        "the rounding noise of {framework}'s results could not be measured for every case: {reason};"
        " the other cases are compared by tolerances only"
    ).format(framework=FRAMEWORK_LABELS[fact.framework], reason=message(fact.error).splitlines()[0])


def _recorded_otherwise(fact: RecordedOtherwise) -> str:
    text = _("recording the graph changed the result of {engine}: in the graph, {leaves}")
    leaves = [_leaf(name, size) for name, size in fact.sizes.items()]
    said = text.format(engine=fact.engine, leaves=_(SEPARATOR).join(leaves))
    if not fact.is_altered:
        return said
    return _(
        "{change}. That is more than rounding: the graph shows another computation than the plain"
        " call, and no divergence is named from it"
    ).format(change=said)


def _random_draw(fact: RandomDraw) -> str:
    text = _(
        "random numbers: {place} of {engine} draws them; results that depend on them are not"
        " compared: {names}"
    ).format(place=place(fact.place), engine=fact.engine, names=named(fact.results))
    if not fact.others:
        return text
    if fact.others == 1:
        return _("{fact}; 1 more op draws random numbers").format(fact=text)
    return _("{fact}; {n} more ops draw random numbers").format(fact=text, n=fact.others)


def _non_finite(fact: NonFinite) -> str:
    """What is not finite, the loss before its gradients, and where that comes from."""
    engines = _engines(fact.engines)
    text = _made(fact)
    if fact.turned is not None:
        text = _("{made}, of which {op} makes nan").format(made=text, op=place(fact.turned))
    return _("not finite: {results} in {engines}: {made}").format(
        results=_results(fact), engines=engines, made=text
    )


def _engines(engines: Sequence[str]) -> str:
    """The engines whose graphs show something: "all engines", "both torch engines", "a and b"."""
    if len(engines) == len(STANDARD) - 1:
        return listed(engines)  # the other one may have no graph
    names = who(engines, list(STANDARD))
    return listed(engines) if names == named(engines) else names


def _results(fact: NonFinite) -> str:
    """The results that are not finite: outputs, then gradients."""
    outputs = listed(f"`{name}`" for name in fact.outputs)
    gradients = _first(fact.gradients)
    if outputs and gradients:
        return _("the output {outputs}, and then {gradients}").format(
            outputs=outputs, gradients=gradients
        )
    if outputs:
        return _("the output {outputs}").format(outputs=outputs)
    if fact.are_outputs_finite:
        return _("{gradients}, while the outputs are finite,").format(gradients=gradients)
    return gradients


def _made(fact: NonFinite) -> str:
    value = fact.value if fact.value != "unknown" else _("a value that is not finite")
    if fact.is_input:
        return _("{op} itself has {value}").format(op=place(fact.maker), value=value)
    read = []
    for made_of in fact.inputs:
        if made_of.number is None:
            read.append(place(made_of.place))
        else:
            text = _("{number} of {op}")
            read.append(text.format(number=f"{made_of.number:.6g}", op=place(made_of.place)))
    if not read:
        return _("{op} makes {value}").format(op=place(fact.maker), value=value)
    return _("{op} makes {value} from {inputs}").format(
        op=place(fact.maker), value=value, inputs=listed(read)
    )


def _silent_broadcast(fact: SilentBroadcast) -> str:
    n = max(fact.shapes[0])
    first, second = fact.shapes
    return _(
        "broadcast: {place} of {engine} takes the shapes {first} and {second} and makes ({n}, {n}) of"
        " them, from which a loss is computed. If the elements belong together one by one, give both the"
        " same shape"
    ).format(place=place(fact.place), engine=fact.engine, first=first, second=second, n=n)


def _own_convention(fact: OwnConvention) -> str:
    return _(
        "convention: the gradient of {place} of {engine} is not its derivative, so the oracle does not"
        " agree with it. {known}"
    ).format(place=place(fact.place), engine=fact.engine, known=known_line([fact.known]))


def _equal_elements(fact: EqualElements) -> str:
    inputs = [f"{name} ({number:g})" for name, number in fact.numbers.items()]
    return _(
        "equal elements: all elements of an input are the same number: {inputs}. Another axis, another"
        " order or a transposition changes nothing in them, so a mistake may show elsewhere than where it"
        " is. Give random numbers"
    ).format(inputs=_(SEPARATOR).join(inputs))


def _leaf(name: str, size: float) -> str:
    """How far a leaf is from that of the plain call."""
    if math.isinf(size):
        text = _("{leaf} is nan or infinite in other elements than without recording")
        return text.format(leaf=name)
    text = _("{leaf} differs by up to {size} from the result without recording")
    return text.format(leaf=name, size=f"{size:.1e}")


def _omitted(fact: Omitted) -> str:
    objects = [f"{key} ({kind})" for key, kind in fact.classes.items()]
    text = _(
        "{framework}'s net returns {objects} besides its tensors; only the tensors are compared"
        " and differentiated"
    )
    return text.format(framework=FRAMEWORK_LABELS[fact.framework], objects=named(objects))


def _zero_gradients(fact: ZeroGradients) -> str:
    text = _(
        "parameters start as 0 ({parameters}), and gradients are exactly 0 in every engine ({names}):"
        " a mistake on the way to them changes nothing"
    ).format(parameters=_few(fact.zeros), names=_few(fact.names))
    if not fact.agree_elsewhere:
        return text
    return _("{fact}. From a start without these zeros the engines agree too").format(fact=text)


def _hidden_by_zeros(fact: HiddenByZeros) -> str:
    return _(
        "{fact}. From a start without these zeros, {engine} and {other} differ. {divergence}"
    ).format(
        fact=_zero_gradients(fact.zeros),
        engine=fact.engines[0],
        other=fact.engines[1],
        divergence=divergence_sentence(fact.divergence, fact.engines),
    )


def _few(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    if len(names) <= LISTED:
        return named(names)
    return _("{names} and {n} more").format(names=named(names[:LISTED]), n=len(names) - LISTED)


_SAY: dict[type[Fact], Callable[[Any], str]] = {
    OtherRole: _other_role,
    LoneWeight: _lone_weight,
    LoneWeights: _lone_weights,
    PairedParameters: _paired_parameters,
    PackedParameters: _packed_parameters,
    LoneIntegers: _lone_integers,
    LoneStart: _lone_start,
    ReturnedClass: _returned_class,
    Unmet: _unmet,
    SameMasks: _same_masks,
    IllConditioned: _ill_conditioned,
    NoiseUnknown: _noise_unknown,
    RecordedOtherwise: _recorded_otherwise,
    RandomDraw: _random_draw,
    NonFinite: _non_finite,
    SilentBroadcast: _silent_broadcast,
    OwnConvention: _own_convention,
    EqualElements: _equal_elements,
    Omitted: _omitted,
    ZeroGradients: _zero_gradients,
    HiddenByZeros: _hidden_by_zeros,
}
"""What says each fact."""
