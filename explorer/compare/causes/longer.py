"""Longer rows than those of a divergence, what one side alone has, and two ops in the opposite order."""

from collections.abc import Iterator

from explorer.compare.causes.rows import (
    Ends,
    are_alike,
    at_place,
    base_of,
    goes_on_at,
    have_one_value,
    is_among,
    is_filled,
    onwards,
    sided,
    size_of,
    with_bias,
)
from explorer.compare.graphs.sameness import are_equal
from explorer.compare.graphs.view import MOVES, GraphView
from explorer.model.divergence import Divergence, ExtraOps, OtherValue
from explorer.model.graph import OTHER, Node
from explorer.operators.families import BOOKKEEPING, family
from explorer.operators.table import TRIED

NEAR = 3
"""So many ops ahead of a divergence, or behind it, are looked at."""

MOST_AHEAD = 6
"""So many of those ahead of it are tried, the nearest ones first."""

MOST_BETWEEN = 2
"""So many ops may stand between two that are in the opposite order."""

NORMS = frozenset({"layernorm", "groupnorm"})
"""Families of norms that are the same where one axis is left."""


# What is ahead of a divergence or behind it, and what one side alone has


def _of_one_state(_: Divergence, ends: Ends) -> Iterator[Ends]:
    """All ops that write to what an op writes to, where it is the last of several that do."""
    if ends.result:
        here, (node,) = ends.here, ends.own_row
        leaves = {it.id for it in here.origins(node) if it.name == ends.result}
        alike = [it for it in here.graph.nodes if it.op == node.op]
        writers = [it for it in alike if leaves & {edge.origin for edge in here.into(it)}]
        if len(writers) > 1 and writers[-1] is node:
            yield ends._replace(own_row=writers, at="state")


def up_to_what_is_read_there(_: Divergence, ends: Ends) -> Iterator[Ends]:
    """A row with the ops behind it, up to one that reads what the other row reads besides: a bias."""
    if ends.result or ends.at == "extra":
        return
    missing = _not_read(_bases(ends.there, ends.row), ends.here, ends.own_row)
    end: Node | None = None
    for behind in onwards(ends.here, ends.own_row[-1], NEAR):
        left = _not_read(missing, ends.here, [behind])
        if len(left) < len(missing):
            missing, end = left, behind
    if end is not None:
        yield ends.up_to(end)


def _with_what_is_made_beside(_: Divergence, ends: Ends) -> Iterator[Ends]:
    """A row with the ops of its line that read nothing but what it reads: two factors made of one value."""
    row, here = ends.own_row, ends.here
    if ends.result or len(row) == 1:
        return
    members, lines = {node.id for node in row}, {node.source[:1] for node in row}
    reads = {read.id: read for node in row for read in here.origins(node) if read.id not in members}
    beside = [
        read
        for read in reads.values()
        if read.kind == "op" and read.phase == row[0].phase and read.source[:1] in lines
        if all(it.id in reads for it in here.origins(read))
    ]
    if beside:
        own_row = sorted((*beside, *row), key=lambda node: node.order)
        yield ends._replace(own_row=own_row, at="beside")


def _not_read(values: list[Node], flow: GraphView, row: list[Node]) -> list[Node]:
    """The values of one side that a row of the other one does not read: no leaf of the name, nor number.

    The bias of another layer, which is read in the place of a bias, is read.
    """
    bases = _bases(flow, row)
    leaves = {_role(read) for read in bases if read.kind == "parameter"}
    others = [read for read in bases if read.kind != "parameter"]

    def is_read(value: Node) -> bool:
        if value.kind == "parameter":
            return _role(value) in leaves or is_among(value, others)
        return is_among(value, bases)

    return [value for value in values if not is_read(value)]


def _role(leaf: Node) -> tuple[str, int]:
    """What a parameter is in its layer, such as "bias", and how many elements it has."""
    return leaf.name.rpartition(".")[2], size_of(leaf)


def _bases(flow: GraphView, row: list[Node]) -> list[Node]:
    """What a row reads from outside, ahead of what only moves or spreads it."""
    members = {node.id for node in row}
    reads = [read for node in row for read in flow.origins(node) if read.id not in members]
    bases = (base_of(flow, read, BOOKKEEPING) for read in reads)
    return list({base.id: base for base in bases}.values())


def _up_to_its_kind(divergence: Divergence, ends: Ends) -> Iterator[Ends]:
    """An op with what is behind it, up to an op of the kind that ends the row of the other side."""
    if isinstance(divergence, OtherValue) and len(ends.own_row) == 1 and len(ends.row) > 1:
        (node,), last = ends.own_row, ends.row[-1]
        behind = onwards(ends.here, node, NEAR) if not are_alike(node, last) else ()
        yield from (ends.up_to(it) for it in [it for it in behind if are_alike(it, last)][:1])


def _from_what_turns_its_axes(divergence: Divergence, ends: Ends) -> Iterator[Ends]:
    """A row from an op right ahead of it that puts its axes in another order, which alone is changed."""
    here = ends.here
    for read in here.origins(ends.own_row[0]) if isinstance(divergence, OtherValue) else ():
        ahead: Node | None = read
        while ahead is not None and ahead.kind == "op" and family(ahead.op) in BOOKKEEPING:
            rank = len(ahead.outputs[0].shape) if ahead.outputs else 0
            if family(ahead.op) == "transpose" and rank > 2:
                yield ends._replace(own_row=here.row(ahead.id, ends.own_row[-1].id), at="first")
                break
            reads = here.origins(ahead)
            ahead = reads[0] if len(reads) == 1 else None


def _ahead_of_what_is_before(divergence: Divergence, ends: Ends) -> Iterator[Ends]:
    """An op and the one before it, in the opposite order, where the other side does them in several."""
    if isinstance(divergence, OtherValue) and len(ends.own_row) == 1 < len(ends.row):
        before = ends.here.previous_op(ends.own_row[0], MOVES)
        if before is not None:
            own_row = [before, *ends.own_row]
            yield ends._replace(own_row=own_row, row=ends.row[-1:], at="order")


def with_what_is_before(divergence: Divergence, ends: Ends) -> Iterator[Ends]:
    """Rows from each of the nearest ops ahead of a divergence, which alone is then changed."""
    if not isinstance(divergence, OtherValue):
        return
    if not divergence.inputs.differing and not all(divergence.inputs.alone):
        return
    here, first, last = ends.here, ends.own_row[0], ends.own_row[-1]
    ahead: list[Node] = []
    latest = [first]
    for _ in range(NEAR):
        # The ops that are read, and those behind which only numbers are moved up to there.
        found: dict[str, Node] = {}
        while latest:
            for read in here.origins(latest.pop(0)):
                if read.kind == "op" and read.phase == first.phase and read.id not in found:
                    found[read.id] = read
                    if family(read.op) in BOOKKEEPING:
                        latest.append(read)
        latest = list(found.values())
        ahead += [it for it in latest if it not in ahead]
    for node in ahead[:MOST_AHEAD]:
        yield ends._replace(own_row=here.row(node.id, last.id), at="first")


LONGER = (
    _of_one_state,
    up_to_what_is_read_there,
    _with_what_is_made_beside,
    _up_to_its_kind,
    _from_what_turns_its_axes,
    _ahead_of_what_is_before,
    with_what_is_before,
)
"""Longer rows than those of a divergence, for each of its ends: what follows, and what is before."""


def beside_what_is_read(divergence: ExtraOps, left: GraphView, right: GraphView) -> Iterator[Ends]:
    """The ops that one side alone has, beside what they read, with which the other side goes on.

    The other side's value is known to be that one, so its own ops of the kind may do nothing there.
    """
    here, there, node = sided(divergence, left, right)
    if node is None or divergence.gradients or divergence.gap.greatest is None:
        return
    # That op alone where it is not clear with which one the row begins.
    first = divergence.row.first.label, (divergence.row.first.source,)
    begins = [it for it in here.graph.nodes if (it.op, it.source[:1]) == first]
    rows = [here.row(it.id, node.id) for it in begins if it.order < node.order]
    fitting = [it for it in rows if len(it) == divergence.row.count]
    row = fitting[0] if len(fitting) == 1 else [node]
    # An op of the node's kind may hand on what it reads, where that is a value of the other side.
    alike = [it for it in there.graph.nodes if it.kind == "op" and are_alike(it, node)]
    alike = [it for it in alike if it.phase == node.phase and len(row) == 1]
    # What it reads besides may be made of a filled value: a state that starts at other numbers.
    of_filled = [it for it in here.origins(node) if any(map(is_filled, here.origins(it)))]
    own_rows = [row, *([it, node] for it in of_filled if len(row) == 1)]
    for read in [it for member in row for it in here.origins(member) if it not in row]:
        if not (read.outputs and node.outputs) or _lengths(read) != _lengths(node):
            continue
        for own_row in [it for it in own_rows if it[0] is not read]:
            yield Ends(divergence.side, here, there, own_row, [read], at="extra")
        for other in [it for it in alike if have_one_value(it, read)]:
            reads = there.tensors(other).values()
            if any(are_equal(it, other.outputs[0]) for it in reads):
                yield Ends(OTHER[divergence.side], there, here, [other], [node])


def in_its_place(divergence: ExtraOps, left: GraphView, right: GraphView) -> Iterator[Ends]:
    """The op with which the other side goes on, beside the first op that one side alone has.

    Where both read one value, the ops from there are what that side has in the place of the one.
    """
    here, there, node = sided(divergence, left, right)
    other = goes_on_at(divergence, here, node, there) if node else None
    reads = there.origins(other) if other and other.outputs else []
    first = at_place(here, divergence.row.first, reads)
    if other and first and any(is_among(read, reads) for read in here.origins(first)):
        # What its line makes of it, such as a mean of a sum.
        behind = onwards(here, first, NEAR)
        of_line = [it for it in behind if it.source[:1] == first.source[:1] != ()]
        row = here.row(first.id, of_line[-1].id if of_line else "")
        yield Ends(OTHER[divergence.side], there, here, [other], row)


def _lengths(node: Node) -> list[int]:
    """The lengths of the axes of a value that has more than one element along them."""
    return [length for length in node.outputs[0].shape if length != 1]


# Two ops in the opposite order


def in_other_order(ends: Ends) -> Ends | None:
    """Two ops that are in the opposite order on the other side; a few may stand between them.

    None where the two sides do not have the same two kinds of ops: the other one has them as the ends
    of its row, as its only op and the one behind it, or as its only op and the one before it. Of just two
    ops any kinds are tried.
    """
    here, there, (node, *rest) = ends.here, ends.there, ends.own_row
    first, *others = ends.row
    # The two ops that the other side may have: a row's first one and one behind, or around its only op.
    after = [*others, there.next_op(ends.row[-1], MOVES)]
    pairs: list[tuple[Node | None, Node | None]] = [(first, it) for it in reversed(after)]
    if not others:
        pairs.append((there.previous_op(first, MOVES), first))
    ops = [node]
    for second in onwards(here, node, MOST_BETWEEN + 1, MOVES):
        ops.append(second)
        kinds = _kind(second), _kind(node)
        like = [it for it in pairs if (_kind(it[0]), _kind(it[1])) == kinds]
        # Of two of one kind only products are told apart.
        differ = kinds[0] != kinds[1] or family(node.op) in TRIED.of_weights
        last = like[0][1] if differ and like else None
        if last is not None:
            # The other side may add the bias of the op that is the last one then in an op of its own.
            lacks_one = len(there.into(last)) < len(here.into(node))
            row = with_bias(there, [last]) if lacks_one else [last]
            return Ends(ends.side, here, there, ops, row, at="order")
    if len(rest) == 1 and here.next_op(node, MOVES) is rest[0]:
        return Ends(ends.side, here, there, ends.own_row, [ends.row[-1]], at="order")
    return None


def behind_instead(divergence: ExtraOps, left: GraphView, right: GraphView) -> Iterator[Ends]:
    """An op that one side alone has behind another one, where the other side has one of its kind ahead."""
    here, there, node = sided(divergence, left, right)
    goes_on = goes_on_at(divergence, here, node, there) if node else None
    if node is None or goes_on is None or divergence.row.count > 1:
        return
    for before in here.origins(node):
        for other in there.origins(goes_on) if before.kind == "op" else ():
            ahead: list[Node | None] = [other]
            for _ in range(NEAR):
                ahead += [there.previous_op(it, MOVES) for it in ahead[-1:] if it]
            if have_one_value(before, other) and any(are_alike(it, node) for it in ahead):
                yield Ends(divergence.side, here, there, [before, node], [other], at="order")


def _kind(node: Node | None) -> str:
    """The family of an op; one for all norms, which are the same where one axis is left.

    The maximum of a value and 0 is relu.
    """
    found = family(node.op) if node else ""
    if node and found == "max" and 0.0 in node.arguments.values():
        return "relu"
    return "norm" if found in NORMS else found
