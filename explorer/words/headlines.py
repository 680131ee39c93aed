"""One case in a sentence: who differs from whom and by how much, and whom the oracle confirms."""

import math
from collections.abc import Sequence

from explorer.model.arrays import unpack
from explorer.model.engines import engine_named
from explorer.model.report import AnswerGroup, CaseReport, CaseVerdict, Difference
from explorer.text.clean import clean
from explorer.text.failures import typed
from explorer.text.language import _, later
from explorer.text.messages import first_sentence
from explorer.text.numbers import multiple
from explorer.words.cases import (
    Stand,
    answered,
    counted,
    directions,
    has_ratio,
    judged_by_oracle,
    judged_estimates,
    listed,
    named_nets,
    place,
    size,
    stand,
    varied,
    verdict,
    who,
)
from explorer.words.oracle import kinks, not_finite_alike, obstacles

ORACLE_AGREES: dict[Stand, str] = {
    "agrees": later("the oracle (central differences of {nets}) agrees{along}"),
    "kinked": later(
        "the oracle (central differences of {nets}) agrees{along}, except at kinks, which have no"
        " derivative ({kinks})"
    ),
    "partly": later(
        "the oracle (central differences of {nets}) agrees{along} where it can judge; it cannot where"
        " {obstacles}"
    ),
    "elsewhere": later("the oracle (central differences of {nets}) agrees{along} elsewhere"),
    "along": later("the oracle (central differences of {nets}) agrees{along}"),
    "unjudged": later(
        "the oracle (central differences of {nets}) cannot judge this case: {obstacles}"
    ),
    "timed_out": later("the oracle (central differences of {nets}) ran out of time"),
}
"""What the oracle says where it contradicts nobody."""


def headline(case: CaseReport) -> str:
    """A case in a sentence that needs no legend; its name is not part of it."""
    text = _verdict(case)
    for oracle in (not_finite_alike(case), _oracle(case)):
        if oracle:
            text = _("{outcome}; {oracle}").format(outcome=text, oracle=oracle)
    disagree = case.verdict == "differs" or case.oracle_agrees is False
    if disagree and case.expected:
        text = _("{outcome}, as the scenario expects").format(outcome=text)
    return text


# The verdict


LARGE = 0.01
"""A difference that is rounding, and of this size or more, is told with its share of the value."""

UNCOMPARED: dict[CaseVerdict, str] = {
    "drawn": later("every value depends on random numbers; structure, shapes and dtypes agree"),
    "all_raise": later("every engine raises an error"),
    "not_compared": later("fewer than two engines give a result"),
}
"""What there is to say of a case in which no values were compared."""


def _verdict(case: CaseReport) -> str:
    difference = case.greatest
    if case.verdict in UNCOMPARED:
        return _(UNCOMPARED[case.verdict])
    if case.verdict == "some_raise":
        return _raising(case)
    if case.verdict == "differs" and difference:
        return _differs(case, difference)
    # Who agrees is said, since those that gave no gradient do not.
    engines = _named_two(answered(case), _defined(case))
    if difference is None or not difference.abs:
        return _("{engines} agree").format(engines=engines)
    text = _("{engines} agree up to rounding, at most {size} apart")
    if difference.abs >= LARGE:
        text = _("{engines} agree up to rounding, at most {size} apart, {share} of the value there")
    if case.verdict == "close":
        text = _("{engines} are close, at most {size} apart{ratio}")
    ratio, share = _ratio(difference), f"{difference.rel:.2g}"
    return text.format(engines=engines, size=size(difference), ratio=ratio, share=share)


def _raising(case: CaseReport) -> str:
    """Which engines raise, and what: "only JAX raises: ValueError: ..."."""
    errors: dict[str, list[str]] = {}
    for group in case.groups:
        error = case.results[group.engines[0]].error
        if error and not _has_value(case, group):
            errors.setdefault(first_sentence(typed(error)), []).extend(group.engines)
    if not errors:
        return verdict(case)
    if len(errors) == 1:
        said = next(iter(errors))
    else:
        said = " / ".join(
            f"{who(engines, _defined(case))} {error}" for error, engines in errors.items()
        )
    return _("{verdict}: {errors}").format(verdict=verdict(case), errors=said)


def _differs(case: CaseReport, difference: Difference) -> str:
    groups = [group for group in case.groups if _has_value(case, group)]
    where = clean(place(difference.leaf, difference.index))
    if difference.what != "value":
        what = _("{what} of {leaf}") if difference.leaf else "{what}"
        what = what.format(what=_(difference.what), leaf=where)
        text = _("{subject} in the {what}")
        return text.format(subject=_subject(case, groups), what=what)
    if math.isinf(difference.abs):
        text = _("{subject} at {place}: {value} against {other}")
        value, other = _values_at(case, groups, difference)
        return text.format(subject=_subject(case, groups), place=where, value=value, other=other)
    text = _("{subject} by up to {size} at {place}{ratio}")
    if difference.swamped:
        text = _(
            "{subject} by up to {size} at {place}, which cannot be judged: rounding alone moves it by"
            " as much as its own size"
        )
    return text.format(
        subject=_subject(case, groups),
        size=size(difference),
        place=where,
        ratio=_ratio(difference),
    )


def _values_at(
    case: CaseReport, groups: Sequence[AnswerGroup], difference: Difference
) -> tuple[str, str]:
    """What each side has at an element: the two groups that _subject() names, else two engines."""
    one, other = difference.engines
    if len(groups) == 2:
        one, other = (group.engines[0] for group in _in_order(groups))
    return _value_at(case, one, difference), _value_at(case, other, difference)


def _value_at(case: CaseReport, engine: str, difference: Difference) -> str:
    leaves = {leaf.name: leaf for leaf in case.results[engine].leaves}
    return f"{unpack(leaves[difference.leaf].value)[difference.index]:.5g}"


def _in_order(groups: Sequence[AnswerGroup]) -> list[AnswerGroup]:
    """Groups as a sentence names them: fewer engines against more read best first."""
    return sorted(groups, key=lambda group: len(group.engines))


def _has_value(case: CaseReport, group: AnswerGroup) -> bool:
    return case.results[group.engines[0]].outcome == "ok"


def _subject(case: CaseReport, groups: Sequence[AnswerGroup]) -> str:
    """Who differs from whom: "both jax engines differ from all other engines, which agree"."""
    if len(groups) != 2:
        text = _("the engines give {n} results, which differ ({sides})")
        sides = " / ".join(_who(case, group) for group in groups)
        return text.format(n=len(groups), sides=sides)
    one, other = _in_order(groups)
    is_rest = len(one.engines) + len(other.engines) == len(_defined(case))
    are_few = is_rest and len(one.engines) < len(other.engines) > 2
    text = _("{one} differ from {other}")
    if are_few:
        text = _("{one} differ from all other engines, which agree,")
    if len(one.engines) == 1:
        text = _("{one} differs from {other}")
        if are_few:
            text = _("{one} differs from all other engines, which agree,")
    return text.format(one=_who(case, one), other=_who(case, other))


def _who(case: CaseReport, group: AnswerGroup) -> str:
    return who(group.engines, _defined(case))


def _named_two(engines: Sequence[str], every_engine: Sequence[str]) -> str:
    """Some engines as a sentence has them; of two in all, "a and b"."""
    if len(engines) == len(every_engine) == 2:
        return listed(engines)
    return who(engines, every_engine)


def _defined(case: CaseReport) -> list[str]:
    """The engines that the scenario has a net for."""
    defined = []
    for name, result in case.results.items():
        if result.outcome != "not_defined":
            defined.append(name)
    return defined


def _ratio(difference: Difference) -> str:
    if not has_ratio(difference):
        return ""
    return _(", {ratio} × the noise of rounding").format(ratio=multiple(difference.ratio))


# The oracle


def _oracle(case: CaseReport) -> str:
    """What the oracle says of a case; "" where it does not apply."""
    judged = stand(case)
    if judged != "differs":
        if judged not in ORACLE_AGREES:
            return ""
        return _on_two_nets(case, _agreement(case, judged))
    confirmed, refuted = judged_by_oracle(case)
    text = _("the oracle (central differences of {nets}) differs from {engines}")
    named = refuted
    if confirmed:
        # The fewer are named.
        text = _("the oracle (central differences of {nets}) differs only from {engines}")
        if len(confirmed) <= len(refuted):
            text = _("the oracle (central differences of {nets}) agrees only with {engines}")
            named = confirmed
    # It judges answers: an engine that raised is no exception to what it says.
    judged_engines = _defined(case) if case.has_two_nets else [*confirmed, *refuted]
    engines = _named_two(named, judged_engines)
    return _on_two_nets(case, text.format(engines=engines, nets=varied([case])))


def _agreement(case: CaseReport, judged: Stand) -> str:
    estimates = judged_estimates(case)
    reasons = obstacles(estimates)
    if judged == "unjudged" and not reasons and case.not_finite_alike:
        text = _("the oracle (central differences of {nets}) can judge nothing else")
        return text.format(nets=varied([case]))
    if judged == "unjudged" and not reasons:
        reasons = _("rounding hides the differences of its outputs")
        if any(estimate.at_kinks for estimate in estimates):
            reasons = _("kinks have no derivative ({places})").format(places=kinks(estimates))
    text = _(ORACLE_AGREES[judged])
    if judged == "agrees" and case.has_two_nets:
        confirmed = judged_by_oracle(case)[0]
        text = _("the oracle (central differences of {nets}) agrees with {engines}")
        return text.format(engines=who(confirmed, _defined(case)), nets=varied([case]))
    number, along = directions(case), ""
    if number:
        along = counted(number, _(" along 1 random direction"), _(" along {n} random directions"))
    return text.format(along=along, kinks=kinks(estimates), obstacles=reasons, nets=varied([case]))


def _on_two_nets(case: CaseReport, oracle: str) -> str:
    if not case.has_two_nets:
        return oracle
    own = {case.oracle.framework, *(beside.framework for beside in case.oracle.beside)}
    unjudged = [name for it in case.groups if it.oracle_agrees is None for name in it.engines]
    unjudged = [name for name in unjudged if engine_named(name).framework not in own]
    text = _(
        "{oracle}; it does not judge {engines}, whose net it cannot vary and whose outputs differ from"
        " those of {nets}"
    )
    frameworks = named_nets([case])
    return text.format(oracle=oracle, engines=who(unjudged, _defined(case)), nets=frameworks)
