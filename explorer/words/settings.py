"""Settings of two layers that differ, which nothing has shown to be the cause of anything."""

from explorer.model.engines import engine_named
from explorer.model.graph import Arguments, Layer
from explorer.operators.comparison import of_layer, other_settings
from explorer.text.arguments import arguments_text
from explorer.text.clean import clean
from explorer.text.language import _


def settings_of_layers(
    layers: tuple[Layer, Layer], engines: tuple[str, str], *, was_tried: bool
) -> str:
    """How two layers were made differently, in a sentence that calls none of it a cause; or "".

    ``was_tried`` says whether anything was at their ops.
    """
    left, right = (
        of_layer(engine_named(engine).framework, layer)
        for engine, layer in zip(engines, layers, strict=True)
    )
    ours, theirs = other_settings(left, right)
    if not (ours or theirs):
        return ""
    text = _("their layers were made with other settings: {left}, {right}; this was not tested")
    if was_tried:
        text = _(
            "their layers were made with other settings: {left}, {right}; nothing that was tried shows"
            " that these are the cause"
        )
    return text.format(
        left=_made(layers[0], ours, engines[0]), right=_made(layers[1], theirs, engines[1])
    )


def _made(layer: Layer, settings: Arguments, engine: str) -> str:
    text = arguments_text(settings) if settings else "…"
    return f"`{clean(layer.name)}({text})` ({engine})"
