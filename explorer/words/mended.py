"""What is seen of two graphs once the one engine goes on with the other's values, in sentences."""

from collections.abc import Iterator

from explorer.model.alignment import Alignment
from explorer.model.mended import Behind, End, Mended, NotPutIn, Obstacle
from explorer.text.language import _, named
from explorer.words.causes import sentence as cause_sentence
from explorer.words.divergences import sentence
from explorer.words.lists import listed

FEW_NAMED = 8
"""So many results are named that differ even then."""


def behind(alignment: Alignment) -> Iterator[str]:
    """Every divergence behind those of the plain computation, in a sentence each."""
    engines = alignment.left, alignment.right
    for one in alignment.mended.behind if alignment.mended else ():
        yield sentence(one.divergence, engines, which="mended")


def why_behind(one: Behind, alignment: Alignment) -> str:
    """The cause of such a divergence; "" where none was found."""
    engines = alignment.left, alignment.right
    return "" if one.cause is None else cause_sentence(one.cause, engines)


def summary(alignment: Alignment) -> str:
    """What was computed again and what came of it; "" where nothing was to be mended."""
    mended = alignment.mended
    return "" if mended is None else going_on(mended, (alignment.left, alignment.right))


def summary_line(alignment: Alignment) -> str:
    """The same as a sentence of its own."""
    text = summary(alignment)
    return _("{text}.").format(text=text[0].upper() + text[1:]) if text else ""


def going_on(mended: Mended, engines: tuple[str, str]) -> str:
    """What two engines show once the one goes on with the other's values."""
    left, right = engines
    if mended.end == "no_engine":
        text = _(
            "not computed as if mended: neither {left} nor {right} can be computed again with other values"
        )
        return text.format(left=left, right=right)
    other = right if mended.engine == left else left
    limits = [*_ended(mended.end), *map(_not_put_in, mended.not_put_in)]
    if mended.change_nothing:
        harmless = _(
            "what differs before anything is mended changes no result: with the values of {other} there"
            " alone, {engine} gives the results that it gave without"
        )
        limits.insert(0, harmless.format(other=other, engine=mended.engine))
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
    text = text.format(
        engine=mended.engine,
        other=other,
        values=_values(mended.values),
        names=_few(mended.differing),
    )
    return _("; ").join([text, *limits])


def _values(count: int) -> str:
    return _("1 value") if count == 1 else _("{n} values").format(n=count)


def _few(names: tuple[str, ...]) -> str:
    if len(names) <= FEW_NAMED:
        return named(names)
    return _("{names}, … ({n} in all)").format(names=named(names[:FEW_NAMED]), n=len(names))


def _ended(end: End) -> Iterator[str]:
    texts: dict[End, str] = {
        "lost": _("its worker was lost"),
        "raised": _("with these values the net raises"),
        "other_graph": _("with these values the net runs other ops"),
        "rounds": _("there may be more behind: it is not computed again more often"),
    }
    if end in texts:
        yield texts[end]


def _not_put_in(one: NotPutIn) -> str:
    """A divergence at which there is no value to go on with."""
    texts: dict[Obstacle, str] = {
        "size": _("nothing can be put in at {place}, where the values have other sizes"),
        "layout": _("nothing can be put in at {place}, where the axes are in another order"),
        "no_value": _("nothing can be put in at {place}, where not all elements are known"),
        "stopped": _("nothing can be put in at {place}, which stops the gradient"),
        "no_place": _("nothing can be put in at {place}, which has no counterpart"),
    }
    places = [f"`{source}`" for source in one.sources] or list(filter(None, one.nodes))
    return texts[one.why].format(place=listed(places))
