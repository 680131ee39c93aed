"""The call sites of a compiled net's operators, as one run of its forward on the tape shows them.

The compiler keeps one program for all calls of a function or a Cell with like arguments: whatever
it makes of a later call carries the lines and the module of the first one (2.10.0).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mindspore as ms
import msgspec
import numpy as np

from explorer.engines.capture.builder import GraphBuilder, NodeDraft
from explorer.engines.mindspore.dispatch import MsDispatchMode
from explorer.engines.mindspore.net import array_of, build, dtype_of
from explorer.engines.mindspore.operators import plain
from explorer.engines.mindspore.rounding import perform
from explorer.engines.mindspore.source_lines import CallSite, CallSites
from explorer.engines.mindspore.tape_tensors import tensors_in
from explorer.model.arrays import Summary
from explorer.model.graph import is_users
from explorer.model.requests import NetRequest
from explorer.numeric.summaries import summarise_all

CLOSE = 1e-3
"""How far the figures of two kernels for one operator may be apart, relative to the norm."""

Form = tuple[str, tuple[tuple[int, ...], ...]]
"""An operator's plain name, and the shapes of its outputs."""


@dataclass(frozen=True)
class RanOperator:
    """An operator that ran on the tape: its form, where it was called, and its first output."""

    form: Form
    site: CallSite
    summary: Summary | None = None


class _Recorder(MsDispatchMode):  # type: ignore[misc]  # mindspore ships no types
    """Notes each operator of a forward; a context manager around it."""

    def __init__(self, net: Any) -> None:
        self.sites: list[CallSite] = []
        self.results: list[tuple[str, list[Any]]] = []
        self._sites = CallSites(net)

    def __ms_dispatch__(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        site = self._sites.here(__file__)
        result = perform(func, args, kwargs or {})
        outputs = list(tensors_in((result,)))
        if outputs:
            self.sites.append(site)
            # What is overwritten later would show other values than the operator yielded.
            self.results.append((func.name, outputs))
        return result


def ran_operators(request: NetRequest, values: bool) -> tuple[RanOperator, ...]:
    """The operators of a net's forward in the order in which they ran on the tape.

    A net of its own is run. Empty where that raises: some nets run compiled alone.
    """
    with _mode_kept():
        try:
            net = build(msgspec.structs.replace(request, engine="mindspore-tape"))
            recorder = _Recorder(net.call)
            with recorder:
                net.call(*net.arguments)
            summaries: Sequence[Summary | None] = [None] * len(recorder.results)
            if values:
                summaries = _summaries([outputs[0] for _, outputs in recorder.results])
        except Exception:
            return ()
    ran = []
    for site, (op, outputs), summary in zip(
        recorder.sites, recorder.results, summaries, strict=True
    ):
        shapes = tuple(tuple(output.shape) for output in outputs)
        ran.append(RanOperator((plain(op), shapes), site, summary))
    return tuple(ran)


@contextmanager
def _mode_kept() -> Iterator[None]:
    mode = ms.get_context("mode")
    try:
        yield
    finally:
        ms.set_context(mode=mode)


def _summaries(tensors: Sequence[Any]) -> Sequence[Summary]:
    return summarise_all(list(map(array_of, tensors)), list(map(dtype_of, tensors)))


# Putting the nodes of a graph in their places


def place_operators(
    builder: GraphBuilder, ran: Collection[RanOperator], has_own_place: Callable[[int], bool]
) -> None:
    """Give the operators of a graph the call sites that they have on the tape.

    One that is not found there keeps what the compiler says. What derives from an operator is where
    that one is; what ``has_own_place``, that of the user's own backward, keeps its lines.
    """
    waiting: dict[Form, list[RanOperator]] = {}
    modules: dict[tuple[str, ...], set[str]] = {}
    for operator in ran:
        waiting.setdefault(operator.form, []).append(operator)
        path, lines = operator.site
        modules.setdefault(_users_lines(lines), set()).add(path)
    if not waiting:
        return
    placed: set[int] = set()
    scoped: set[int] = set()
    shared = _shared_sites(builder, ran)
    for number in _in_order(builder):
        node = builder.nodes[number]
        candidates = waiting.get(_form(node))
        if candidates:
            is_shared = _said_site(node) in shared
            found = max(candidates, key=lambda ran: _likeness(node, ran, is_shared))
            if _values_agree(node, found) is not False:
                # One program that several calls enter shows its last run alone.
                candidates.remove(found)
                _place(node, found.site)
                placed.add(number)
        if number not in placed:
            # Views are not announced: one is in the module of what else is on its line.
            paths = modules.get(_users_lines(node.source), set())
            if len(paths) == 1:
                (node.scope,) = paths
                scoped.add(number)
    for number in builder.kept():
        forward = _forward_of(builder, number)
        if forward is None:
            continue
        if forward in placed or forward in scoped:
            builder.nodes[number].scope = builder.nodes[forward].scope
        if forward in placed and not has_own_place(number):
            builder.nodes[number].source = builder.nodes[forward].source


SaidSite = tuple[Form, str, tuple[str, ...]]
"""An operator's form, its module and the user's lines, as the compiler says them."""


def _said_site(node: NodeDraft) -> SaidSite:
    return _form(node), node.scope, _users_lines(node.source)


def _shared_sites(builder: GraphBuilder, ran: Collection[RanOperator]) -> frozenset[SaidSite]:
    """The sites at which a graph has more operators of a form than ran there.

    The compiler keeps one program for several calls: its operators are all at the site of one.
    """
    there: Counter[SaidSite] = Counter()
    for operator in ran:
        path, lines = operator.site
        there[operator.form, path, _users_lines(lines)] += 1
    here = Counter(_said_site(builder.nodes[number]) for number in _in_order(builder))
    return frozenset(site for site, count in here.items() if count > max(there[site], 1))


def _in_order(builder: GraphBuilder) -> Iterator[int]:
    """The operators of forward, in the order in which they run."""
    for number in builder.kept():
        node = builder.nodes[number]
        if node.kind == "op" and node.phase == "forward":
            yield number


def _form(node: NodeDraft) -> Form:
    return plain(node.op), tuple(output.shape for output in node.outputs)


def _likeness(node: NodeDraft, ran: RanOperator, is_shared: bool) -> tuple[bool, bool, bool, bool]:
    """How much speaks for it that a node is an operator of the tape; the first of equals counts.

    A site that ``is_shared`` is that of other nodes too, and says nothing of this one.
    """
    agrees = _values_agree(node, ran) is True
    if is_shared:
        return agrees, False, False, False
    path, lines = ran.site
    same_lines = _users_lines(node.source) == _users_lines(lines)
    innermost = _users_lines(node.source)[:1] == _users_lines(lines)[:1]
    return agrees, same_lines, innermost, node.scope == path


def _users_lines(source: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(filter(is_users, source))


def _values_agree(node: NodeDraft, ran: RanOperator) -> bool | None:
    """Whether both show the same values; None where they do not show any."""
    shown = node.outputs[0].values if node.outputs else None
    if shown is None or ran.summary is None:
        return None
    scale = max(shown.norm, ran.summary.norm)
    pairs = [
        (shown.norm, ran.summary.norm),
        (shown.minimum, ran.summary.minimum),
        (shown.maximum, ran.summary.maximum),
        (shown.mean, ran.summary.mean),
    ]
    for one, other in pairs:
        if np.isfinite(one) != np.isfinite(other):
            return False
        if np.isfinite(one) and abs(one - other) > CLOSE * scale:
            return False
    return shown.nonfinite == ran.summary.nonfinite


def _place(node: NodeDraft, site: CallSite) -> None:
    node.scope, node.source = site
    node.missing = {key: why for key, why in node.missing.items() if key != "source"}


def _forward_of(builder: GraphBuilder, number: int) -> int | None:
    """The operator that a node of backward derives from."""
    node = builder.nodes[number]
    if node.phase == "forward" or node.forward is None:
        return None
    return builder.resolve((node.forward, 0))[0]
