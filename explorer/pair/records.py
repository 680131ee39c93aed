"""Two graphs side by side as plain data: what the browser shows is a function of it."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import starmap
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from explorer.drawing.shown import Shown
from explorer.drawing.structure import layer_of, module_names
from explorer.model.alignment import Alignment, Seen
from explorer.model.engines import Framework, engine_named
from explorer.model.graph import GradGraph, Layer, Node, SideName
from explorer.operators.comparison import (
    Call,
    Names,
    differing,
    of_layer,
)
from explorer.pair.component import words
from explorer.pair.details import (
    PairDetail,
    SourceLines,
    alone,
    argument_facts,
    divergence_detail,
    modules_detail,
    node_detail,
    pair_detail,
    source_lines,
    step_detail,
)
from explorer.pair.details import places as places_of
from explorer.text.arguments import argument_text, layer_text
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.words.causes import (
    attempt_text,
    attempts_text,
    mend_texts,
    not_computed,
    what_explains,
    where_to_write,
)
from explorer.words.divergences import every, summary_line
from explorer.words.known import known_line

DIFFERENT = frozenset({"difference", "refuted", "consequence"})
"""Reasons for having no partner that say a node's value is another, or follows from such a one."""

Links = Mapping[SideName, Mapping[str, list[str]]]
"""For each side, and each of its nodes that is in a pair, the ids to mark on the other side."""


class Side(msgspec.Struct, frozen=True):
    """One pane: its caption, its drawing and what its nodes' ids begin with, and the graph in it.

    The two of a page need different prefixes, so that ids stay unique on it. ``graph_key`` changes
    with the whole graph, ``new`` are ids of the nodes in it that the pass before did not have.
    """

    caption: str
    svg: str
    prefix: str
    shown: Shown
    graph: GradGraph
    graph_key: str
    new: frozenset[str] = frozenset()


def pair_record(
    left: Side, right: Side, alignment: Alignment | None, merged: Alignment | None
) -> dict[str, Any]:
    """All that the browser needs of two graphs, but for the text of their source.

    ``alignment`` is in ids of the whole graphs, ``merged`` in those of what is in sight.
    """
    return {
        "left": _pane(left, "left", alignment),
        "right": _pane(right, "right", alignment),
        "pairs": links(merged),
        "told": _told(left, right, alignment),
        "divergences": _divergences(left.shown, right.shown, alignment),
        "mended": _mended(alignment),
        "words": words(),
    }


def links(alignment: Alignment | None) -> Links:
    """The nodes that are marked with each node: its partner first, then the steps inside that."""
    left: dict[str, list[str]] = {}
    right: dict[str, list[str]] = {}
    if alignment is None:
        return {"left": left, "right": right}
    for pair in alignment.pairs:
        left_members, right_members = pair.members("left"), pair.members("right")
        for node in left_members:
            left.setdefault(node, []).extend(right_members)
        for node in right_members:
            right.setdefault(node, []).extend(left_members)
    for seen in alignment.seen:
        one, other = seen.divergence.nodes
        # What the graphs part at is no pair; it stands opposite each other all the same.
        if one and other and one not in left and other not in right:
            left[one], right[other] = [other], [one]
    return {"left": left, "right": right}


def _pane(side: Side, name: SideName, alignment: Alignment | None) -> dict[str, Any]:
    # The drawing is replaced only when its key changes: a new caption, or new pairs, leave place
    # and scale as they are.
    nodes = sorted(side.graph.nodes, key=attrgetter("order"))
    course = list(map(attrgetter("id"), nodes))
    ranks = dict(zip(course, range(len(course)), strict=True))
    return {
        "caption": side.caption,
        "svg": side.svg,
        "prefix": side.prefix,
        "key": hashlib.sha256(side.svg.encode()).hexdigest(),
        "graph": side.graph_key,
        "modules": sorted(module_names(side.graph)),
        "course": list(map(side.shown.homes.__getitem__, course)),
        "does": _doings(side.graph.engine),
        "nodes": _nodes(side, name, alignment, ranks),
        "layers": _layers(side.graph),
    }


def _layers(graph: GradGraph) -> dict[str, Any]:
    """The layers of a graph by their paths, each with its name and its settings."""
    layers = {}
    for path, layer in graph.layers.items():
        settings = argument_facts(layer.settings)
        layers[clean(path)] = {"name": clean(layer.name), "settings": settings}
    return layers


def _doings(engine: str) -> dict[str, str]:
    """What happens while the nodes of each phase run."""
    if engine_named(engine).style == "tape":
        return {"forward": _("the tape is written"), "backward": _("the tape is unwound")}
    return {
        "forward": _("the graph runs, forward"),
        "backward": _("the graph runs, backward"),
    }


def _nodes(
    side: Side, name: SideName, alignment: Alignment | None, ranks: Mapping[str, int]
) -> dict[str, Any]:
    shown = side.shown
    before: defaultdict[str, list[str]] = defaultdict(list)
    after: defaultdict[str, list[str]] = defaultdict(list)
    for edge in shown.graph.edges:
        before[edge.target].append(edge.origin)
        after[edge.origin].append(edge.target)
    marks = _marks(side, name, alignment)
    reasons = _reasons(name, alignment)
    nodes = shown.graph.by_id()
    records = {}
    for node in shown.graph.nodes:
        members = shown.members.get(node.id, ())
        at = min((ranks[member.id] for member in members), default=ranks[node.id])
        module = ""
        if node.id not in shown.modules:
            members = ()
        elif node.kind == "call":
            module = node.scope
        detail = node_detail(node, nodes, members)
        layer = layer_of(node.scope, side.graph.layers)
        records[node.id] = {
            **msgspec.structs.asdict(detail),
            "op": node.op,
            "phase": node.phase,
            "marks": sorted(marks.get(node.id, ())),
            "at": at,
            "before": before[node.id],
            "after": after[node.id],
            "module": module,
            "layer": None if layer is None else clean(layer),
            "inside": _inside(members, side.graph.layers),
            "alone": reasons.get(node.id) or _no_pairs(alignment),
        }
    return records


def _inside(members: Sequence[Node], layers: Mapping[str, Layer]) -> str:
    """What a search finds in a module: the arguments of its ops, and its layers."""
    texts: dict[str, None] = {}  # many ops have the same
    for member in members:
        texts.update(dict.fromkeys(starmap(argument_text, member.arguments.items())))
        layer = layer_of(member.scope, layers)
        if layer is not None:
            texts[layer_text(layers[layer])] = None
    return " ".join(texts)


def _marks(side: Side, name: SideName, alignment: Alignment | None) -> dict[str, set[str]]:
    """What filters ask of nodes in sight; one that shows several has the marks of all of them."""
    marks: defaultdict[str, set[str]] = defaultdict(set)
    homes = side.shown.homes
    for node in side.new:
        marks[homes[node]].add("new")
    if alignment is None:
        return marks
    for unpaired in alignment.unpaired:
        if unpaired.side == name:
            marks[homes[unpaired.node]].add("unpaired")
            if unpaired.reason in DIFFERENT:
                marks[homes[unpaired.node]].add("differs")
    for divergence in alignment.divergences:
        parted = divergence.nodes[0] if name == "left" else divergence.nodes[1]
        if parted:
            marks[homes[parted]].add("differs")
    return marks


def _reasons(name: SideName, alignment: Alignment | None) -> dict[str, str]:
    """Why nodes have no partner, by their ids in the whole graph."""
    if alignment is None:
        return {}
    engines = alignment.left, alignment.right
    reasons = {}
    for unpaired in alignment.unpaired:
        if unpaired.side == name:
            reasons[unpaired.node] = alone(unpaired, engines)
    return reasons


def _no_pairs(alignment: Alignment | None) -> str:
    if alignment is None:
        return _("There are no pairs here: they join two graphs that were run.")
    return _("No node here is its pair.")


def _told(left: Side, right: Side, alignment: Alignment | None) -> dict[str, PairDetail]:
    """What joins two nodes in sight, by both ids with a space between."""
    told: dict[str, PairDetail] = {}
    if alignment is None:
        return told
    left_nodes, right_nodes = left.graph.by_id(), right.graph.by_id()
    counts: defaultdict[str, int] = defaultdict(int)
    for pair in alignment.pairs:
        key = f"{left.shown.homes[pair.left]} {right.shown.homes[pair.right]}"
        counts[key] += 1
        is_apart = left.shown.apart([pair.left]) and right.shown.apart([pair.right])
        if not is_apart:
            told[key] = modules_detail(counts[key])
        elif key not in told:
            nodes = left_nodes[pair.left], right_nodes[pair.right]
            told[key] = _with_other_values(pair_detail(pair, *nodes), nodes, left, right)
        for step in left.shown.apart(pair.left_within):
            told.setdefault(f"{step} {right.shown.homes[pair.right]}", step_detail(pair))
        for step in right.shown.apart(pair.right_within):
            told.setdefault(f"{left.shown.homes[pair.left]} {step}", step_detail(pair))
    for key, detail in _diverging(left, right, alignment).items():
        told.setdefault(key, detail)
    return told


def _diverging(left: Side, right: Side, alignment: Alignment) -> dict[str, PairDetail]:
    """What there is to say of the two nodes of each divergence, by both ids in sight."""
    left_nodes, right_nodes = left.graph.by_id(), right.graph.by_id()
    details: dict[str, PairDetail] = {}
    for seen, sentence in every(alignment):
        one, other = seen.divergence.nodes
        if one and other:
            homes = left.shown.homes[one], right.shown.homes[other]
            nodes = left_nodes[one], right_nodes[other]
            detail = divergence_detail(sentence, *nodes)
            if seen.run:
                # The nodes have the values of the plain computation, which also differ for other reasons.
                detail = PairDetail(detail.evidence)
            if left.shown.apart([one]) and right.shown.apart([other]):
                detail = _with_other_values(detail, nodes, left, right)
            details.setdefault(" ".join(homes), detail)
    return details


def _with_other_values(
    detail: PairDetail, nodes: tuple[Node, Node], left: Side, right: Side
) -> PairDetail:
    """The detail with the names of arguments and settings that differ between the two nodes."""
    return msgspec.structs.replace(
        detail,
        arguments=_unified(differing(_op(nodes[0], left), _op(nodes[1], right))),
        settings=_unified(differing(_layer(nodes[0], left), _layer(nodes[1], right))),
    )


def _unified(names: Names) -> tuple[str, ...]:
    """The names of both sides, each once."""
    every = [*dict.fromkeys((*names[0], *names[1]))]
    # Of a list without any, every Python makes the same empty tuple, which JSON leaves out.
    return tuple(every)


def _op(node: Node, side: Side) -> Call:
    return Call(_framework(side), node.op, node.arguments, _rank(node))


def _layer(node: Node, side: Side) -> Call:
    """The layer that a node runs in; one without a name or settings where it runs in none."""
    layers = side.graph.layers
    path = layer_of(node.scope, layers)
    layer = Layer("") if path is None else layers[path]
    return of_layer(_framework(side), layer, _rank(node))


def _rank(node: Node) -> int:
    return len(node.outputs[0].shape) if node.outputs else 0


def _framework(side: Side) -> Framework:
    return engine_named(side.graph.engine).framework


class Mended(msgspec.Struct, frozen=True):
    """What to write in the net of a side: in which, and the code."""

    side: SideName
    where: str
    code: str


class Said(msgspec.Struct, frozen=True):
    """A divergence in a sentence, and why: its cause with what to write, or what was tried.

    ``known`` are the claims and surprises that are about it.
    ``nearest`` are changes that do not give the other side's value, each with how far apart it stays.
    ``at`` is the id in sight of the node at which was tried, of ``side``; "" where nothing was.
    """

    what: str
    why: str = ""
    known: str = ""
    mends: tuple[Mended, ...] = ()
    tried: str = ""
    nearest: tuple[str, ...] = ()
    side: SideName = "left"
    at: str = ""


def _divergences(left: Shown, right: Shown, alignment: Alignment | None) -> list[dict[str, Any]]:
    """The places where the graphs part, the first one first, in ids of what is in sight.

    Each has what is said of its divergences: those inside one module are in one place.
    """
    if alignment is None:
        return []
    places: dict[tuple[str | None, str | None], list[Said]] = {}
    for seen, sentence in every(alignment):
        one, other = seen.divergence.nodes
        place = left.homes.get(one or ""), right.homes.get(other or "")
        places.setdefault(place, []).append(_explained(seen, sentence, alignment, left, right))
    return [{"left": one, "right": other, "said": said} for (one, other), said in places.items()]


def _mended(alignment: Alignment | None) -> str:
    """What was computed again as if mended, and what came of it; "" where nothing was."""
    return "" if alignment is None else _shown(summary_line(alignment))


def _explained(one: Seen, sentence: str, alignment: Alignment, left: Shown, right: Shown) -> Said:
    engines = alignment.left, alignment.right
    found, made = one.cause, one.attempts
    mends = () if found is None else mend_texts(found, engines)
    sources = [end.source for end in one.divergence.ends]
    said = Said(
        what=_shown(sentence),
        why="" if found is None else _shown(what_explains(found, engines)),
        known=_shown(known_line(one.known)),
        mends=tuple(Mended(it.side, where_to_write(it, sources), clean(it.code)) for it in mends),
    )
    if made is None:
        return said
    shown = left if made.side == "left" else right
    tried = filter(None, (attempts_text(made, found, is_short=True), not_computed(made)))
    return msgspec.structs.replace(
        said,
        tried=_shown(_("; ").join(tried)),
        nearest=tuple(_shown(attempt_text(it)) for it in made.nearest),
        side=made.side,
        at=shown.homes[made.node],
    )


def _shown(text: str) -> str:
    """A sentence without Markdown, which is not shown there."""
    return clean(text).replace("`", "")


def sources(left: Shown, right: Shown, code: Sequence[Path]) -> dict[str, SourceLines]:
    """The text of all places that nodes in sight name, in the user's code or a framework."""
    # Many nodes come from one line.
    places: dict[str, SourceLines] = {}
    for shown in (left, right):
        for node in shown.graph.nodes:
            for place in places_of(node):
                if place not in places:
                    places[place] = source_lines(place, code)
    return places


MOST_OPS = 6
"""Operators that are named; the others are counted."""

Likeness = tuple[str, str, str, str]
"""What nodes of two stages have in common: ids are given anew after every pass."""


class StageChanges(msgspec.Struct, frozen=True):
    """The ids of the nodes that are new in a stage, and the operators that are new or gone."""

    new: frozenset[str]
    added: str
    removed: str


def stage_changes(before: GradGraph, after: GradGraph) -> StageChanges:
    """What changed from one stage to the next.

    Nodes are the same where operator, name, phase and the user's line are; of several alike the
    first ones.
    """
    remaining = Counter(map(_likeness, before.nodes))
    new: set[str] = set()
    added: Counter[str] = Counter()
    for node in after.nodes:
        likeness = _likeness(node)
        if remaining[likeness]:
            remaining[likeness] -= 1
        else:
            new.add(node.id)
            added[node.op] += 1
    removed: Counter[str] = Counter()
    for likeness, count in remaining.items():
        removed[likeness[0]] += count
    return StageChanges(frozenset(new), _listed(added), _listed(+removed))


def _likeness(node: Node) -> Likeness:
    return node.op, node.name, node.phase, "".join(node.source[:1])


def _listed(ops: Counter[str]) -> str:
    """Operators with their counts, the most frequent first: "4 Mul, 2 Cast, + 3"."""
    ranked = sorted(ops.items(), key=lambda item: (-item[1], item[0]))
    parts = [f"{count} {op}" for op, count in ranked[:MOST_OPS]]
    more = sum(dict(ranked[MOST_OPS:]).values())
    if more:
        parts.append(f"+ {more}")
    return ", ".join(parts)
