"""Why two graphs have different values somewhere, in a sentence."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from explorer.model.alignment import Alignment, Untried
from explorer.model.causes import (
    Attempt,
    Attempts,
    Cause,
    Change,
    Factor,
    InputChange,
    InputHow,
    LeftOut,
    Mend,
    OtherArguments,
    OtherInputs,
    OtherOperator,
    Proven,
    Related,
    RelationHow,
)
from explorer.model.divergence import LoneLeaf, OtherStart, Place
from explorer.model.engines import FRAMEWORK_LABELS, engine_named
from explorer.model.graph import Arguments, Layer, SideName
from explorer.text.arguments import argument_text, arguments_text
from explorer.text.clean import clean
from explorer.text.language import _, later, named
from explorer.words.lists import listed

FEW_PLACES = 3
"""So many of the further places of a cause are named."""


def cause(alignment: Alignment, place: int = 0) -> str:
    """The cause of a divergence by its place in the alignment; "" where none was found."""
    found = alignment.cause(place)
    return "" if found is None else sentence(found, (alignment.left, alignment.right))


def sentence(found: Cause, engines: tuple[str, str]) -> str:
    """A cause in a sentence. What is code in it is between backticks."""
    text = what_explains(found, engines)
    in_net = _("`{code}` in {framework}'s net")
    codes = [
        in_net.format(code=mend.code, framework=mend.framework)
        for mend in mend_texts(found, engines)
    ]
    code = _(", or ").join(codes)
    if code:
        return _("{text}. To mend it, write {code}").format(text=text, code=code)
    layers = _layers(found, engines)
    return _("{text}; {layers}").format(text=text, layers=layers) if layers else text


def what_explains(found: Cause, engines: tuple[str, str]) -> str:
    """What gives the other side's value, with how near it comes, without what to write."""
    if isinstance(found.change, LeftOut):
        return _left_out(found, found.change, engines)
    texts: dict[Proven, str] = {
        "computed_again": _("Cause, tried: {change} gives the value of {other} ({figures})"),
        "recorded_values": _(
            "Cause, from the recorded values: {change} gives the value of {other} ({figures})"
        ),
    }
    text = texts[found.proven].format(
        change=_change(found, engines),
        other=engines[1] if found.side == "left" else engines[0],
        figures=_figures(found),
    )
    return text + _elsewhere(found)


def in_short(change: Change, op: str) -> str:
    """A change of an op in a few words, as a heading or in a list."""
    if isinstance(change, OtherArguments):
        return _("`{changed}` in the place of `{own}`").format(
            changed=arguments_text(change.arguments), own=arguments_text(change.own)
        )
    if isinstance(change, OtherOperator):
        return _("`{changed}` in the place of `{own}`").format(
            changed=_called(change), own=clean(op)
        )
    if isinstance(change, OtherInputs):
        if change.changes[0].how == "ahead":
            return _order(change).format(op=clean(op), **_order_names(change))
        return _(" and ").join(map(_input, change.changes))
    if isinstance(change, LeftOut):
        return _("`{op}` without a counterpart").format(op=clean(op))
    return _("the value of `{op}` {how}").format(op=clean(op), how=_relation(change))


def heading(found: Cause, engines: tuple[str, str], *, as_if_mended: bool = False) -> str:
    """A cause in a few words, with the engine whose op it changes."""
    engine = engines[0] if found.side == "left" else engines[1]
    text = _("Why: {cause} ({engine})")
    if as_if_mended:
        text = _("Why, as if those before were mended: {cause} ({engine})")
    return text.format(cause=in_short(found.change, found.op), engine=engine)


def how_proven(found: Cause) -> str:
    """How it is known that a cause gives the other side's value, and among how many changes."""
    if found.proven == "recorded_values":
        return _("Evidence: the values that both engines recorded")
    one = _("Evidence: the op, computed again from its recorded inputs; 1 change was tried")
    several = _("Evidence: the op, computed again from its recorded inputs; {n} changes were tried")
    return (one if found.tried == 1 else several).format(n=found.tried)


class MendText(NamedTuple):
    """What to write in the net of a side: the framework's label, and the code."""

    side: SideName
    framework: str
    code: str


def mend_texts(found: Cause, engines: tuple[str, str]) -> tuple[MendText, ...]:
    """What to write in either net, as far as it is known."""
    return tuple(_mend_text(mend, engines) for mend in found.mends)


def where_to_write(mend: MendText, sources: Sequence[str]) -> str:
    """The net in which something is to be written, and the line of its op among those of both sides."""
    source = sources[0] if mend.side == "left" else sources[1]
    text = _("In {framework}'s net, at {line}") if source else _("In {framework}'s net")
    return text.format(framework=mend.framework, line=clean(source))


def _elsewhere(found: Cause) -> str:
    """At how many more places the change was tried and gives the other side's value, and at which."""
    count = len(found.also_at)
    if not count:
        return ""
    sides = [[_named_place(places[at]) for places in found.also_at] for at in (0, 1)]
    names = [f"`{name}`" for name in max((list(dict.fromkeys(it)) for it in sides), key=len)]
    more = len(names) - FEW_PLACES
    shown = listed(names)
    if more > 0:
        shown = _("{names} and {n} more").format(names=named(names[:FEW_PLACES]), n=more)
    one = _("; so it does at 1 more place: {names}")
    several = _("; so it does at {n} more places: {names}")
    return (one if count == 1 else several).format(n=count, names=shown)


def _named_place(place: Place) -> str:
    return clean(", ".join(filter(None, (place.scope, place.source))))


# What was tried


def attempts(alignment: Alignment, place: int = 0) -> str:
    """What was tried at a divergence that nothing explains; "" where a cause is known or nothing was."""
    made = alignment.tried_at(place)
    if place >= len(alignment.divergences):
        return ""
    if alignment.cause(place):
        return ""
    if made is None and alignment.untried:
        is_of_leaf = isinstance(alignment.divergences[place], OtherStart | LoneLeaf)
        return "" if is_of_leaf else _(UNTRIED[alignment.untried])
    return "" if made is None else attempts_text(made)


UNTRIED: dict[Untried, str] = {
    "trace": later("not tried: nothing was computed again"),
    "values": later(
        "not tried: the trace does not have all values whole that the op reads; explorer.record(…,"
        " values=N) keeps those of up to N elements"
    ),
    "operator": later(
        "not tried: of what stands in a file, only operators of a fixed list are computed, and no integers"
        " but labels"
    ),
    "framework": later("not tried: the framework that computes the op is not found here"),
    "lost": later("not tried: the process that computed ops again ended"),
}
"""Why nothing was tried at a divergence."""


def attempts_text(made: Attempts, found: Cause | None = None, *, is_short: bool = False) -> str:
    """What came of all that was tried at an op, whose cause was ``found`` or not.

    Where it ``is_short``, without the nearest change.
    """
    if not made.is_repeated:
        return _(
            "What was tried here says nothing: computed again from its recorded inputs, the op does not"
            " give its own value"
        )
    one, several = _("1 change was tried here"), _("{n} changes were tried here")
    count = (one if made.tried == 1 else several).format(n=made.tried)
    fitting = list(dict.fromkeys(in_short(it.change, it.op) for it in made.fitting))
    if found and found.proven == "computed_again":
        fitting = [in_short(found.change, found.op)]
    if len(fitting) > 1:
        shown = listed(fitting)
        text = _(
            "{what}: several give the other side's value ({changes}), which do not tell the cause"
        )
        return text.format(what=count, changes=shown)
    if fitting:
        text = _("{what}: {change} gives the other side's value")
        return text.format(what=count, change=fitting[0])
    text = _("{what}: none gives the other side's value").format(what=count)
    if made.tried == 1:
        text = _("{what}: it does not give the other side's value").format(what=count)
    if is_short or not made.nearest:
        return text
    return _("{fact}; the nearest is {nearest}").format(
        fact=text, nearest=attempt_text(made.nearest[0])
    )


def attempt_text(attempt: Attempt) -> str:
    """A change that does not give the other side's value, and how far apart the two stay."""
    text = _("{change}, which leaves them {figure} apart")
    return text.format(change=in_short(attempt.change, attempt.op), figure=f"{attempt.apart:.2g}")


def not_computed(made: Attempts) -> str:
    """How many changes could not be computed; "" where all could."""
    if not made.not_computed:
        return ""
    one, several = _("1 of them could not be computed"), _("{n} of them could not be computed")
    return (one if made.not_computed == 1 else several).format(n=made.not_computed)


# Parts of the sentence on a cause


def _change(found: Cause, engines: tuple[str, str]) -> str:
    """What is changed of the op, as the subject of a sentence."""
    template, names = CHANGES[type(found.change)](found.change)
    engine = engines[0] if found.side == "left" else engines[1]
    return template.format(op=clean(found.op), engine=engine, **names)


Told = tuple[str, dict[str, str]]
"""A text, and what stands in it beside the op and its engine."""


def _arguments(change: OtherArguments) -> Told:
    changed, own = arguments_text(change.arguments), arguments_text(change.own)
    text = _("with `{changed}` in the place of `{own}`, `{op}` of {engine}")
    if change.from_there:
        text = _(
            "with `{changed}` in the place of `{own}`, and the other side's values of its inputs,"
            " `{op}` of {engine}"
        )
    return text, {"changed": changed, "own": own}


def _operator(change: OtherOperator) -> Told:
    text = _("`{changed}` in the place of `{op}` of {engine}")
    return text, {"changed": _called(change)}


def _called(change: OtherOperator) -> str:
    """An operator, with the arguments that it was given of its own."""
    given = f"({arguments_text(change.arguments)})" if change.arguments else ""
    return clean(change.op) + given


def _inputs(change: OtherInputs) -> Told:
    if change.changes[0].how == "ahead":
        return _("with {order}, {engine}").replace("{order}", _order(change)), _order_names(change)
    text = _("with {changes}, `{op}` of {engine}")
    return text, {"changes": _(" and ").join(map(_input, change.changes))}


def _order(change: OtherInputs) -> str:
    """That an op is computed before another one, which may then have other arguments."""
    if change.arguments:
        return _("`{op}` before `{label}`, and `{arguments}` in that one")
    return _("`{op}` before `{label}`")


def _order_names(change: OtherInputs) -> dict[str, str]:
    """What is put into the text on the order of two ops, beside the first of them."""
    label = clean(change.changes[0].label)
    return {"label": label, "arguments": arguments_text(change.arguments)}


def _input(change: InputChange) -> str:
    """One change of inputs, which count from 1."""
    slots = [str(slot + 1) for slot in change.slots]
    numbers = [f"{number:.6g}" for number in change.numbers]
    ends = [" + ".join(pair) for pair in zip(numbers[::2], numbers[1::2], strict=False)]
    padded = _(
        "its input {slots} padded by {ends} at the two ends of its last axes, in place of its own padding"
    )
    turned = _("its input {slots} in reverse along axis {numbers[0]}")
    if len(numbers) > 1:
        turned = _("its input {slots} in reverse along the axes {axes}")
    texts: dict[InputHow, str] = {
        "swapped": _("its inputs {slots} swapped"),
        "replaced": _("`{label}` as its input {slots}"),
        "transposed": _("the axes {numbers[0]} and {numbers[1]} of its input {slots} swapped"),
        "scaled": _("its input {slots} times {numbers[0]}"),
        "rounded": _("its input {slots} rounded to {dtype}"),
        "rolled": _("its input {slots} shifted by {numbers[1]} along axis {numbers[0]}"),
        "reversed": turned,
        "given": _("`{label}` of the other side as its input {slots}"),
        "zeroed": _("zeros in the place of `{label}`"),
        "from_zeros": _("zeros in the place of `{label}`"),
        "padded": padded,
        "padded_below": padded,
    }
    return texts[change.how].format(
        slots=_(" and ").join(slots),
        numbers=numbers,
        ends=", ".join(ends),
        axes=", ".join(numbers),
        dtype=change.dtype,
        label=clean(change.label),
    )


def _related(change: Related) -> Told:
    text = _("the value of `{op}` of {engine} {how}")
    return text, {"how": _relation(change)}


def _left_out(found: Cause, change: LeftOut, engines: tuple[str, str]) -> str:
    """That one side alone has an op, and what it does."""
    own, other = engines if found.side == "left" else engines[::-1]
    if change.relation is None:
        text = _("Cause, tried: without `{op}`, {engine} has the value of {other} ({figures})")
        if change.handed_on:
            text = _(
                "Cause, tried: without `{op}`, of which input {slot} is handed on, {engine} has the value of"
                " {other} ({figures})"
            ).replace("{slot}", str(change.handed_on + 1))
        text = text.format(op=clean(found.op), engine=own, other=other, figures=_figures(found))
        if change.later is None:
            return text
        return _("{text}; {other} computes with `{leaf}` later, at {line}").format(
            text=text, other=other, leaf=clean(change.later.label), line=clean(change.later.source)
        )
    text = _(
        "Cause, from the recorded values: `{op}` of {engine} gives what it reads {how} ({figures}), and"
        " {other} goes on with what is read there"
    )
    return text.format(
        op=clean(found.op),
        engine=own,
        how=_relation(change.relation),
        other=other,
        figures=_figures(found),
    )


def _relation(change: Related) -> str:
    """How a value is changed."""
    texts: dict[RelationHow, str] = {
        "times": _("times {factor}"),
        "plus": _("plus {factor}"),
        "added": _("plus `{name}`"),
        "subtracted": _("minus `{name}`"),
        "multiplied": _("times `{name}`"),
        "applied": _("under `{name}`"),
        "tempered": _("with its logits times {factor}"),
        "rounded": _("rounded to {name}"),
        "transposed": _("with its axes in the order {order}"),
        "regrouped": _("reshaped to {shape}, with the axes of that in the order {order}"),
        "rolled": _(" and ").join(_shifts(change.numbers)),
        "reversed": _(" and ").join(
            _("in reverse along axis {axis}").format(axis=axis) for axis in change.numbers
        ),
        "rows": _("with its rows along axis {axis} in the order {rest}"),
        "blocks": _("with the {parts} equal parts of its axis {axis} in the order {rest}"),
        "shared": _("in the place of `{name}` too"),
        "aliased": _("as one tensor with `{name}`"),
        "exchanged": _("with the factors `{name}` and `{other}` exchanged"),
        "mean_where": _("as the mean of the {axis} of {rest} elements for which `{name}` holds"),
        "masked": _("with {axis} of its elements set to {factor}"),
    }
    numbers = [str(number) for number in change.numbers]
    return texts[change.how].format(
        factor=factor_text(change.factor) if change.factor else "",
        name=clean(change.name),
        other=clean(change.other),
        shape=change.shape,
        order=", ".join(numbers),
        axis=numbers[0] if numbers else "",
        rest=", ".join(numbers[1:]),
        parts=len(numbers) - 1,
    )


def _shifts(numbers: tuple[int, ...]) -> list[str]:
    """By how many steps a value is shifted along each axis."""
    pairs = zip(numbers[::2], numbers[1::2], strict=False)
    text = _("shifted by {rest} along axis {axis}")
    return [text.format(axis=axis, rest=steps) for axis, steps in pairs]


FORMS = {
    "": "",
    "n": "",
    "1/n": "1/{of}",
    "√n": "√{of}",
    "1/√n": "1/√{of}",
    "1-p": "1 - {of}",
    "1/(1-p)": "1/(1 - {of})",
    "p": "",
}
"""What a factor stands for, in signs; nothing where the number itself says it."""


def factor_text(factor: Factor) -> str:
    """A factor, and what it stands for: "0.125 = 1/√64"."""
    form = FORMS[factor.form].format(of=f"{factor.of:.6g}")
    return f"{factor.value:.6g} = {form}" if form else f"{factor.value:.6g}"


CHANGES: dict[type[Change], Callable[[Any], Told]] = {
    OtherArguments: _arguments,
    OtherOperator: _operator,
    OtherInputs: _inputs,
    Related: _related,
}
"""What is said of each kind of change."""


INFIX = ("+", "-", "*", "/", "**")
"""The calls of mends that are written between two operands."""


def _infix(mend: Mend) -> str:
    """Two operands, of which a number is given: "… + 1e-05"."""
    operands = [str(mend.arguments.get(name, "…")) for name in ("x", "y")]
    return f" {mend.call} ".join(operands)


def _mend_text(mend: Mend, engines: tuple[str, str]) -> MendText:
    engine = engines[0] if mend.side == "left" else engines[1]
    if mend.call in INFIX:
        return MendText(mend.side, FRAMEWORK_LABELS[engine_named(engine).framework], _infix(mend))
    # A function takes its tensors first.
    given = [] if mend.call.startswith("nn.") else ["…"]
    if mend.arguments:
        given.append(arguments_text(mend.arguments))
    code = f"{clean(mend.call)}({', '.join(given)})"
    return MendText(mend.side, FRAMEWORK_LABELS[engine_named(engine).framework], code)


def _figures(found: Cause) -> str:
    """How far the two values are apart with the arguments changed, beside their noise."""
    greatest = _("greatest difference {figure}").format(figure=f"{found.greatest:.2g}")
    if found.noise is None:
        return greatest
    return _("{figure}, noise {noise}").format(figure=greatest, noise=f"{found.noise:.2g}")


def _layers(found: Cause, engines: tuple[str, str]) -> str:
    """How the two layers were made, as far as it bears on the cause; "" where that is not known."""
    shown = []
    for engine, layer in zip(engines, found.layers, strict=True):
        settings = _settings(layer, (*found.own.values(), *found.arguments.values()), found.own)
        if layer is None or not settings:
            return ""
        shown.append(f"`{clean(layer.name)}({settings})` ({engine})")
    return _("the layers: {left}, {right}").format(left=shown[0], right=shown[1])


def _settings(layer: Layer | None, values: tuple[object, ...], own: Arguments) -> str:
    """The settings of a layer that have the name or a value of the arguments in question."""
    if layer is None:
        return ""
    names = []
    for name, value in layer.settings.items():
        is_value = not isinstance(value, (bool, int)) and value in values
        if name in own or is_value:
            names.append(argument_text(name, value))
    return ", ".join(names)
