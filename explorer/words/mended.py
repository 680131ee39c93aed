"""What is seen of two graphs once the one engine goes on with the other's values, in a sentence."""

from explorer.model.alignment import Alignment
from explorer.model.mended import End, Mended, Obstacle
from explorer.text.language import _, later, named
from explorer.words.lists import listed

FEW_NAMED = 8
"""So many results are named that differ even then."""

ENDED: dict[End, str] = {
    "lost": later("its worker was lost"),
    "raised": later("with these values the net raises"),
    "other_graph": later("with these values the net runs other ops"),
    "rounds": later("there may be more behind: it is not computed again more often"),
}
"""Why it did not go on."""

NOT_PUT_IN: dict[Obstacle, str] = {
    "size": later("nothing can be put in at {place}, where the values have other sizes"),
    "layout": later("nothing can be put in at {place}, where the axes are in another order"),
    "no_value": later("nothing can be put in at {place}, where not all elements are known"),
    "stopped": later("nothing can be put in at {place}, which stops the gradient"),
    "no_place": later("nothing can be put in at {place}, which has no counterpart"),
}
"""Why there is no value to go on with at a divergence."""


def summary_line(alignment: Alignment) -> str:
    """What was computed again and what came of it, as a sentence; "" where nothing was to be mended."""
    if alignment.mended is None:
        return ""
    text = going_on(alignment.mended, (alignment.left, alignment.right))
    return _("{text}.").format(text=text[0].upper() + text[1:])


def going_on(mended: Mended, engines: tuple[str, str]) -> str:
    """What two engines show once the one goes on with the other's values."""
    left, right = engines
    if mended.end == "no_engine":
        text = _(
            "not computed as if mended: neither {left} nor {right} can be computed again with other values"
        )
        return text.format(left=left, right=right)
    if not mended.runs:
        text = _("not computed as if mended")
    elif mended.differing:
        text = _(
            "as if mended: {engine} goes on with {values} of {other} where they differ, and still differs in"
            " {names}"
        )
    else:
        text = _(
            "as if mended: {engine} goes on with {values} of {other} where they differ, and gives the same"
            " results"
        )
    texts = [text]
    if mended.change_nothing:
        texts.append(
            _(
                "what differs before anything is mended changes no result: with the values of {other} there"
                " alone, {engine} gives the results that it gave without"
            )
        )
    names = named(mended.differing[:FEW_NAMED])
    if len(mended.differing) > FEW_NAMED:
        names = _("{names}, … ({n} in all)").format(names=names, n=len(mended.differing))
    values = _("1 value") if mended.values == 1 else _("{n} values").format(n=mended.values)
    other = right if mended.engine == left else left
    said = [
        text.format(engine=mended.engine, other=other, values=values, names=names) for text in texts
    ]
    if mended.end in ENDED:
        said.append(_(ENDED[mended.end]))
    for one in mended.not_put_in:
        places = [f"`{source}`" for source in one.sources] or list(filter(None, one.nodes))
        said.append(_(NOT_PUT_IN[one.why]).format(place=listed(places)))
    return _("; ").join(said)
