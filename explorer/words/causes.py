"""Why two graphs have different values somewhere, in a sentence."""

from explorer.model.alignment import Alignment
from explorer.model.causes import Cause, Mend
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
    own, other = engines if found.side == "left" else engines[::-1]
    text = _(
        "Cause, tried: with `{changed}` in the place of `{own}`, `{op}` of {engine} gives the value of"
        " {other} ({figures})"
    )
    if found.other_op:
        text = _(
            "Cause, tried: `{changed}` in the place of `{op}` of {engine} gives the value of {other}"
            " ({figures})"
        )
    text = text.format(
        changed=clean(found.other_op) or arguments_text(found.arguments),
        own=arguments_text(found.own),
        op=clean(found.op),
        engine=own,
        other=other,
        figures=_figures(found),
    )
    code = _(", or ").join(_mend(mend, engines) for mend in found.mends)
    if code:
        return _("{text}. To mend it, write {code}").format(text=text, code=code)
    layers = _layers(found, engines)
    return _("{text}; {layers}").format(text=text, layers=layers) if layers else text


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
