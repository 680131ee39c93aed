"""Findings about random nets as text."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from explorer.model.fuzz import FindingClass, Kind, Sighting
from explorer.text.language import _, later
from explorer.text.messages import one_line
from explorer.words.divergences import sentence
from explorer.words.scenarios import BETWEEN_REASONS
from explorer.words.unpaired import detail as unpaired_detail

CLASSES: dict[FindingClass, str] = {
    "framework": later("a framework is wrong or gives no result"),
    "ours": later("the explorer is wrong"),
    "unsteady": later("did not occur again in a second run"),
    "ill_conditioned": later("does not occur at nearby inputs"),
    "known": later("known"),
}
"""Descriptions of the classes of findings, in the order in which they are reported."""

KINDS: dict[Kind, str] = {
    "agrees": later("agrees"),
    "refused": later("refused"),
    "raises": later("raises"),
    "differs": later("differs"),
    "values": later("values"),
    "oracle": later("oracle"),
    "graph": later("graph"),
    "lost": later("lost"),
    "fault": later("fault"),
}
"""Names of the kinds of sightings."""


def detail(sighting: Sighting) -> str:
    """What the engines of a sighting report: errors, the result that differs, a divergence."""
    if sighting.errors:
        return " | ".join(sighting.errors)
    if sighting.problem:
        return _("no graph: {problem}").format(problem=sighting.problem)
    if sighting.contradiction is not None:
        node = sighting.contradiction.node
        detail = unpaired_detail(sighting.contradiction, sighting.pair)
        return _("{what}: {values}").format(what=node, values=detail)
    if sighting.divergence is not None:
        return sentence(sighting.divergence, sighting.pair)
    if not sighting.is_finite:
        text = _("{leaf}: a number that is not finite against one that is")
        return text.format(leaf=sighting.leaf)
    return sighting.leaf


def reasons(known: Sequence[str]) -> str:
    """The recorded reasons of a known finding."""
    return _(BETWEEN_REASONS).join(map(_, known))


def about(operators: Iterable[str], dtype: str, order: int) -> str:
    """A net in short: "tanh, mul, float32, order 1"."""
    names = ", ".join(operators) or _("no operator")
    text = _("{operators}, {dtype}, order {order}")
    return text.format(operators=names, dtype=dtype, order=order)


def finding(found: FindingClass, sighting: Sighting, known: Sequence[str], net: str) -> str:
    """A finding in a line, after the number of its net; ``net`` is the net in short."""
    return _("{found}: {kind} ({net}): {engines}: {why}").format(
        found=_(CLASSES[found]),
        kind=_(KINDS[sighting.kind]),
        net=net,
        engines=", ".join(sighting.engines),
        why=reasons(known) or one_line(detail(sighting)),
    )


def title(number: int, seed: int, found: FindingClass) -> str:
    """The title of a finding's scenario."""
    text = _("Random net {number} of seed {seed}: {found}")
    return text.format(number=number, seed=seed, found=_(CLASSES[found]))


def notes(sighting: Sighting, command: str, operators: Iterable[str]) -> str:
    """The notes of a finding's scenario; ``operators`` are those of the whole net."""
    seen = _("Seen: {kind}: {engines}: {detail}").format(
        kind=_(KINDS[sighting.kind]),
        engines=", ".join(sighting.engines),
        detail=one_line(detail(sighting)),
    )
    run = _(
        "Run it with `{command}`. The net from which it was reduced has the operators\n{operators}."
    ).format(command=command, operators=", ".join(operators))
    return f"{seen}\n\n{run}"


def summary(seen: Mapping[Kind, int], found: Iterable[FindingClass], seconds: float) -> str:
    """The counts in a line: "60 nets in 110 s: 48 agree, 2 rejected; 10 findings: 10 known"."""
    nets = sum(seen.values())
    text = _("1 net in {seconds} s") if nets == 1 else _("{n} nets in {seconds} s")
    whole = text.format(n=nets, seconds=f"{seconds:.0f}")
    verdicts = _("{agree} agree, {refused} rejected")
    verdicts = verdicts.format(agree=seen.get("agrees", 0), refused=seen.get("refused", 0))
    counts = Counter(found)
    number = sum(counts.values())
    findings = _("1 finding") if number == 1 else _("{n} findings").format(n=number)
    line = _("{nets}: {verdicts}; {findings}")
    line = line.format(nets=whole, verdicts=verdicts, findings=findings)
    parts = []
    for name, description in CLASSES.items():
        if counts[name]:
            part = _("{n} {description}")
            parts.append(part.format(n=counts[name], description=_(description)))
    if not parts:
        return line
    return _("{line}: {parts}").format(line=line, parts=", ".join(parts))
