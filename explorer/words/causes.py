"""Why two graphs have different values somewhere, in a sentence."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from explorer.model.alignment import Alignment, Untried
from explorer.model.causes import (
    Attempt,
    Attempts,
    Cause,
    Edits,
    Factor,
    Form,
    FromLeaf,
    FromNode,
    FromSlot,
    FromThere,
    InsertOperator,
    RemoveOperator,
    ReplaceOperator,
    Rewire,
    SetArguments,
    Source,
    Zeros,
    form_of,
)
from explorer.model.divergence import LoneLeaf, OtherStart
from explorer.model.engines import FRAMEWORK_LABELS, engine_named
from explorer.model.graph import SideName
from explorer.text.arguments import argument_text, arguments_text
from explorer.text.clean import clean
from explorer.text.language import _, later, named
from explorer.words.lists import listed

FEW_PLACES = 3
"""So many of the further places of a cause are named."""


def cause(alignment: Alignment, place: int = 0) -> str:
    """The cause of a divergence by its place in the alignment; "" where none was found."""
    found = [one.cause for one in alignment.plain[place : place + 1] if one.cause]
    return sentence(found[0], (alignment.left, alignment.right)) if found else ""


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
    own, other = engines if found.side == "left" else engines[::-1]
    figures = _("greatest difference {figure}").format(figure=f"{found.greatest:.2g}")
    if found.noise is not None:
        figures = _("{figure}, noise {noise}").format(figure=figures, noise=f"{found.noise:.2g}")
    names = {"engine": own, "other": other, "figures": figures, **_names(found.edits, _op(found))}
    names["within"] = clean(found.within)
    if found.form == "removed_op":
        return _(
            "Cause, from the recorded values: `{op}` of {engine} gives what it reads {how} ({figures}), and"
            " {other} goes on with what is read there"
        ).format_map(names)
    if found.form == "removed":
        return _removed(found, names)
    text = _("Cause, tried: {change} gives the value of {other} ({figures})")
    if found.proven == "recorded_values":
        text = _("Cause, from the recorded values: {change} gives the value of {other} ({figures})")
    if found.within:
        text = _(
            "Cause, tried: {change} gives the value of `{within}`, from which {other} computes its own"
            " ({figures})"
        )
    if found.is_opposite:
        text = _("Cause, tried: {change} gives the opposite of the value of {other} ({figures})")
    if found.is_relation:
        text = _(
            "Relation, from the recorded values: {change} gives the value of {other} ({figures}), by a number"
            " that stands for nothing known, which is no cause"
        )
    has_inputs = found.form == "arguments" and isinstance(found.edits[0], Rewire)
    change = _(WITH_INPUTS if has_inputs else WHOLE[found.form]).format_map(names)
    return text.format(change=change, **names) + _elsewhere(found)


def _op(found: Cause) -> str:
    """The op of a cause, with its line where that is not the one of the divergence."""
    return f"{found.op} ({found.source})" if found.source else found.op


def in_short(edits: Edits, op: str) -> str:
    """Edits of an op in a few words, as a heading or in a list."""
    return _(SHORT[form_of(edits)]).format_map(_names(edits, op))


WITH_INPUTS = later(
    "with `{changed}` in the place of `{own}`, and the other side's values of its inputs,"
    " `{op}` of {engine}"
)
"""What is changed of an op that has the other side's inputs as well."""

WHOLE: dict[Form, str] = {
    "arguments": later("with `{changed}` in the place of `{own}`, `{op}` of {engine}"),
    "operator": later("`{changed}` in the place of `{op}` of {engine}"),
    "order": later("with {order}, {engine}"),
    "inputs": later("with {changes}, `{op}` of {engine}"),
    "value": later("the value of `{op}` of {engine} {how}"),
}
"""What is changed of an op, as the subject of a sentence."""

SHORT: dict[Form, str] = {
    "arguments": later("`{changed}` in the place of `{own}`"),
    "operator": later("`{changed}` in the place of `{own}`"),
    "order": "{order}",
    "inputs": "{changes}",
    "value": later("the value of `{op}` {how}"),
    "removed": later("`{op}` without a counterpart"),
    "removed_op": later("`{op}` without a counterpart"),
}
"""The same in a few words."""


def heading(found: Cause, engines: tuple[str, str], *, as_if_mended: bool = False) -> str:
    """A cause in a few words, with the engine whose op it changes."""
    engine = engines[0] if found.side == "left" else engines[1]
    text = _("Relation: {cause} ({engine})") if found.is_relation else _("Why: {cause} ({engine})")
    if as_if_mended:
        text = _("Why, as if those before were mended: {cause} ({engine})")
    return text.format(cause=in_short(found.edits, found.op), engine=engine)


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


INFIX = ("+", "-", "*", "/", "**")
"""The calls of mends that are written between two operands."""


def mend_texts(found: Cause, engines: tuple[str, str]) -> tuple[MendText, ...]:
    """What to write in either net, as far as it is known."""
    texts = []
    for mend in found.mends:
        engine = engines[0] if mend.side == "left" else engines[1]
        if mend.call in INFIX:
            # Two operands, of which a number is given: "… + 1e-05".
            operands = [str(mend.arguments.get(name, "…")) for name in ("x", "y")]
            code = f" {mend.call} ".join(operands)
        else:
            # A function takes its tensors first.
            given = [] if mend.call.startswith("nn.") else ["…"]
            if mend.arguments:
                given.append(arguments_text(mend.arguments))
            code = f"{clean(mend.call)}({', '.join(given)})"
        framework = FRAMEWORK_LABELS[engine_named(engine).framework]
        texts.append(MendText(mend.side, framework, code))
    return tuple(texts)


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
    sides = [dict.fromkeys((it[at].scope, it[at].source) for it in found.also_at) for at in (0, 1)]
    names = [f"`{clean(', '.join(filter(None, place)))}`" for place in max(sides, key=len)]
    more = len(names) - FEW_PLACES
    shown = listed(names)
    if more > 0:
        shown = _("{names} and {n} more").format(names=named(names[:FEW_PLACES]), n=more)
    one = _("; so it does at 1 more place: {names}")
    several = _("; so it does at {n} more places: {names}")
    return (one if count == 1 else several).format(n=count, names=shown)


# What was tried


def attempts(alignment: Alignment, place: int = 0) -> str:
    """What was tried at a divergence that nothing explains; "" where a cause is known or nothing was."""
    for one in alignment.plain[place : place + 1]:
        if one.cause is None and one.attempts is not None:
            return attempts_text(one.attempts)
        if one.cause is None and alignment.untried:
            is_of_leaf = isinstance(one.divergence, OtherStart | LoneLeaf)
            return "" if is_of_leaf else _(UNTRIED[alignment.untried])
    return ""


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
    fitting = list(dict.fromkeys(in_short(it.edits, it.op) for it in made.fitting))
    if found and found.proven == "computed_again":
        fitting = [in_short(found.edits, found.op)]
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
    return text.format(change=in_short(attempt.edits, attempt.op), figure=f"{attempt.apart:.2g}")


def not_computed(made: Attempts) -> str:
    """How many changes could not be computed; "" where all could."""
    if not made.not_computed:
        return ""
    one, several = _("1 of them could not be computed"), _("{n} of them could not be computed")
    return (one if made.not_computed == 1 else several).format(n=made.not_computed)


# Parts of the sentence on a cause


def _names(edits: Edits, op: str) -> dict[str, str]:
    """What is put into the text on some edits of an op, by name."""
    names = {"op": clean(op), "own": clean(op)}
    for edit in edits:
        if isinstance(edit, SetArguments):
            names["changed"] = names["arguments"] = arguments_text(edit.arguments)
            names["own"] = arguments_text(edit.own)
        elif isinstance(edit, ReplaceOperator):
            given = f"({arguments_text(edit.arguments)})" if edit.arguments else ""
            names["changed"] = clean(edit.op) + given
        elif isinstance(edit, Rewire) and edit.label:
            names["label"] = clean(edit.label)
    if form_of(edits) == "order":
        # The op that comes behind may have other arguments.
        text = _("`{op}` before `{label}`")
        if isinstance(edits[-1], SetArguments):
            text = _("`{op}` before `{label}`, and `{arguments}` in that one")
        names["order"] = text.format_map(names)
    else:
        names["changes"] = names["how"] = _(" and ").join(_phrases(edits))
    return names


def _phrases(edits: Edits) -> Iterator[str]:
    """Each change of inputs, which count from 1, or how a value follows from another one."""
    rewired = [edit for edit in edits if isinstance(edit, Rewire)]
    labels = [clean(getattr(edit.source, "label", "")) for edit in rewired]
    if len(rewired) == 2 and all(isinstance(edit.source, FromSlot) for edit in rewired):
        slots = _(" and ").join(str(edit.slots[0] + 1) for edit in rewired)
        yield _("its inputs {slots} swapped").format(slots=slots)
        return
    if len(rewired) == 2 and not rewired[0].slots:
        text = _("with the factors `{name}` and `{other}` exchanged")
        yield text.format(name=labels[0], other=labels[1])
        return
    if len({edit.node for edit in rewired}) > 1:
        text = _("{names} exchanged")
        if all(getattr(edit.source, "is_read_there", False) for edit in rewired):
            text = _("{names} in the place of its own")
        names = _(" and ").join(f"`{label}`" for label in dict.fromkeys(labels))
        yield text.format(names=names)
        return
    for edit in edits:
        if isinstance(edit, InsertOperator):
            yield _inserted(edit)
        elif isinstance(edit, Rewire):
            text = _(REWIRED[type(edit.source)])
            if isinstance(edit.source, FromLeaf) and edit.source.is_one_tensor:
                text = _("as one tensor with `{name}`")
            name = clean(getattr(edit.source, "label", getattr(edit.source, "name", "")))
            yield text.format(label=name, name=name, slots=_slots(edit))


def _slots(edit: Rewire | InsertOperator) -> str:
    return _(" and ").join(str(slot + 1) for slot in edit.slots)


REWIRED: dict[type[Source], str] = {
    FromNode: later("`{label}` as its input {slots}"),
    FromThere: later("`{label}` of the other side as its input {slots}"),
    Zeros: later("zeros in the place of `{label}`"),
    FromLeaf: later("in the place of `{name}` too"),
}
"""Another value at an input of an op."""

AT_INPUTS: dict[str, str] = {
    "swap_axes": later("the axes {numbers[0]} and {numbers[1]} of its input {slots} swapped"),
    "mul": later("its input {slots} times {numbers[0]}"),
    "cast": later("its input {slots} rounded to {dtype}"),
    "not": later("the condition, its input {slots}, inverted"),
    "roll": later("its input {slots} shifted by {numbers[1]} along axis {numbers[0]}"),
    "flip": later("its input {slots} in reverse along axis {numbers[0]}"),
    "reshape": later("its input {slots} in the shape {shape}"),
    "flip_several": later("its input {slots} in reverse along the axes {axes}"),
    "pad": later(
        "its input {slots} padded by {ends} at the two ends of its last axes, in place of its own padding"
    ),
}
"""An operator at an input of an op."""

BEHIND: dict[str, str] = {
    "mul": later("times {factor}"),
    "mul_value": later("times `{name}`"),
    "add": later("plus {factor}"),
    "add_value": later("plus `{name}`"),
    "sub_value": later("minus `{name}`"),
    "function": later("under `{name}`"),
    "temper": later("with its logits times {factor}"),
    "cast": later("rounded to {name}"),
    "transpose": later("with its axes in the order {order}"),
    "regroup": later("reshaped to {shape}, with the axes of that in the order {order}"),
    "roll": later("shifted by {rest} along axis {axis}"),
    "flip": later("in reverse along axis {axis}"),
    "rows": later("with its rows along axis {axis} in the order {rest}"),
    "blocks": later("with the {parts} equal parts of its axis {axis} in the order {rest}"),
    "where": later("as the mean of the {axis} of {rest} elements for which `{name}` holds"),
    "fill": later("with {axis} of its elements set to {factor}"),
}
"""An operator behind an op; "_value": with another value."""


def _inserted(edit: InsertOperator) -> str:
    numbers = [str(number) for number in edit.numbers] or [f"{edit.number:.6g}"]
    pairs = list(zip(numbers[::2], numbers[1::2], strict=False))
    if edit.slots:
        several = "_several" if edit.op == "flip" and len(numbers) > 1 else ""
        text = _(AT_INPUTS[edit.op + several])
    elif edit.op in ("roll", "flip"):
        along = pairs if edit.op == "roll" else [(axis, "") for axis in numbers]
        text = _(BEHIND[edit.op])
        return _(" and ").join(text.format(axis=axis, rest=steps) for axis, steps in along)
    else:
        value = "_value" if edit.name and f"{edit.op}_value" in BEHIND else ""
        text = _(BEHIND[edit.op + value])
    return text.format(
        slots=_slots(edit),
        numbers=numbers,
        ends=", ".join(" + ".join(pair) for pair in pairs),
        factor=factor_text(edit.factor) if edit.factor else "",
        name=clean(edit.name),
        dtype=edit.name,
        shape=list(edit.shape),
        order=", ".join(numbers),
        axes=", ".join(numbers),
        axis=numbers[0],
        rest=", ".join(numbers[1:]),
        parts=len(numbers) - 1,
    )


def _removed(found: Cause, names: dict[str, str]) -> str:
    """That one side alone has an op, and goes on with what that reads."""
    (edit,) = found.edits
    assert isinstance(edit, RemoveOperator)
    text = _("Cause, tried: without `{op}`, {engine} has the value of {other} ({figures})")
    if edit.hands_on:
        text = _(
            "Cause, tried: without `{op}`, of which input {slot} is handed on, {engine} has the value of"
            " {other} ({figures})"
        )
    text = text.format(slot=edit.hands_on + 1, **names)
    if edit.later is None:
        return text
    return _("{text}; {other} comes to `{leaf}` later, at {line}").format(
        text=text,
        other=names["other"],
        leaf=clean(edit.later.label),
        line=clean(edit.later.source),
    )


def factor_text(factor: Factor) -> str:
    """A factor, and what it stands for: "0.125 = 1/√64"."""
    number, of = f"{factor.value:.6g}", f"{factor.of:.6g}"
    if factor.form in ("", "n", "p"):
        return number  # which says it itself
    # The name of a size or of a probability is a letter.
    form = re.sub("[np]", of, factor.form.replace("-", " - "))
    return f"{number} = {form}"


def _layers(found: Cause, engines: tuple[str, str]) -> str:
    """How the two layers were made, as far as it bears on the cause; "" where that is not known.

    That are the settings that have the name or a value of the arguments in question.
    """
    shown = []
    values = (*found.own.values(), *found.arguments.values())
    for engine, layer in zip(engines, found.layers, strict=True):
        settings = [] if layer is None else list(layer.settings.items())
        told = [
            argument_text(name, value)
            for name, value in settings
            if name in found.own or (not isinstance(value, (bool, int)) and value in values)
        ]
        if layer is None or not told:
            return ""
        shown.append(f"`{clean(layer.name)}({', '.join(told)})` ({engine})")
    return _("the layers: {left}, {right}").format(left=shown[0], right=shown[1])
