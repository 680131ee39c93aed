"""Why two graphs have different values somewhere, in a sentence."""

from collections.abc import Callable
from typing import Any

from explorer.model.alignment import Alignment
from explorer.model.causes import (
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
    Related,
    RelationHow,
)
from explorer.model.engines import ENGINES, FRAMEWORK_LABELS
from explorer.model.graph import Arguments, Layer
from explorer.text.arguments import argument_text, arguments_text
from explorer.text.clean import clean
from explorer.text.language import _


def cause(alignment: Alignment, place: int = 0) -> str:
    """The cause of a divergence by its place in the alignment; "" where none was found."""
    found = alignment.causes[place] if place < len(alignment.causes) else None
    return "" if found is None else sentence(found, (alignment.left, alignment.right))


def sentence(found: Cause, engines: tuple[str, str]) -> str:
    """A cause in a sentence. What is code in it is between backticks."""
    if isinstance(found.change, LeftOut):
        return _left_out(found, found.change, engines)
    text = _("Cause, tried: {change} gives the value of {other} ({figures})")
    if isinstance(found.change, Related):
        text = _("Cause, from the recorded values: {change} gives the value of {other} ({figures})")
    text = text.format(
        change=_change(found, engines),
        other=engines[1] if found.side == "left" else engines[0],
        figures=_figures(found),
    )
    code = _(", or ").join(_mend(mend, engines) for mend in found.mends)
    if code:
        return _("{text}. To mend it, write {code}").format(text=text, code=code)
    layers = _layers(found, engines)
    return _("{text}; {layers}").format(text=text, layers=layers) if layers else text


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
    return text, {"changed": changed, "own": own}


def _operator(change: OtherOperator) -> Told:
    text = _("`{changed}` in the place of `{op}` of {engine}")
    return text, {"changed": clean(change.op)}


def _inputs(change: OtherInputs) -> Told:
    text = _("with {changes}, `{op}` of {engine}")
    return text, {"changes": _(" and ").join(map(_input, change.changes))}


def _input(change: InputChange) -> str:
    """One change of inputs, which count from 1."""
    slots = [str(slot + 1) for slot in change.slots]
    numbers = [f"{number:.6g}" for number in change.numbers]
    texts: dict[InputHow, str] = {
        "swapped": _("its inputs {slots} swapped"),
        "replaced": _("`{label}` as its input {slots}"),
        "ahead": _("`{label}` as its input {slots}, ahead of what reads that"),
        "transposed": _("the axes {numbers[0]} and {numbers[1]} of its input {slots} swapped"),
        "scaled": _("its input {slots} times {numbers[0]}"),
        "rounded": _("its input {slots} rounded to {dtype}"),
        "rolled": _("its input {slots} shifted by {numbers[1]} along axis {numbers[0]}"),
        "reversed": _("its input {slots} in reverse along axis {numbers[0]}"),
    }
    return texts[change.how].format(
        slots=_(" and ").join(slots), numbers=numbers, dtype=change.dtype, label=clean(change.label)
    )


def _related(change: Related) -> Told:
    text = _("the value of `{op}` of {engine} {how}")
    return text, {"how": _relation(change)}


def _left_out(found: Cause, change: LeftOut, engines: tuple[str, str]) -> str:
    """That one side alone has an op, and what it does."""
    own, other = engines if found.side == "left" else engines[::-1]
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
        "rolled": _("shifted by {rest} along axis {axis}"),
        "reversed": _("in reverse along axis {axis}"),
        "rows": _("with its rows along axis {axis} in the order {rest}"),
        "blocks": _("with the {parts} equal parts of its axis {axis} in the order {rest}"),
        "masked": _("with {axis} of its elements set to {factor}"),
    }
    numbers = [str(number) for number in change.numbers]
    return texts[change.how].format(
        factor=factor_text(change.factor) if change.factor else "",
        name=clean(change.name),
        shape=change.shape,
        order=", ".join(numbers),
        axis=numbers[0] if numbers else "",
        rest=", ".join(numbers[1:]),
        parts=len(numbers) - 1,
    )


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


def _mend(mend: Mend, engines: tuple[str, str]) -> str:
    """What to write in one of the nets."""
    engine = engines[0] if mend.side == "left" else engines[1]
    framework = FRAMEWORK_LABELS[ENGINES[engine].framework]
    # A function takes its tensors first.
    given = [] if mend.call.startswith("nn.") else ["…"]
    if mend.arguments:
        given.append(arguments_text(mend.arguments))
    code = f"{mend.call}({', '.join(given)})"
    return _("`{code}` in {framework}'s net").format(code=code, framework=framework)


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
