"""Records the operators, the tape's nodes and the saved tensors of a forward and its backward.

A dispatch mode sees the operators, and hooks on the tape's nodes say which of them runs backward.
PYNATIVE_MODE executes asynchronously unless it is made to wait, and to look up where a tensor lies is to
wait for it: events are only noted, and become nodes of a graph when a pass over the net is over.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import mindspore as ms

from explorer.engines.mindspore.dispatch import MsDispatchMode, identity_of, node_of
from explorer.engines.mindspore.net import Net, flat
from explorer.engines.mindspore.net_capture import NetCapture
from explorer.engines.mindspore.operators import RUNNING_STATISTICS, written_operands
from explorer.engines.mindspore.proof import RecordedCall
from explorer.engines.mindspore.rounding import perform
from explorer.engines.mindspore.source_lines import NOWHERE, CallSite, CallSites
from explorer.engines.mindspore.tape_capture import TapeCapture
from explorer.engines.mindspore.tape_nodes import inner_nodes
from explorer.engines.mindspore.tape_tensors import (
    OperatorCall,
    TapeTensor,
    on_tape,
    tensors_in,
)
from explorer.engines.mindspore.tape_views import assignments_watched, indexing_watched
from explorer.model.graph import GradGraph, Phase, is_users
from explorer.model.requests import ProofScope

STOPS = (__file__, str(Path(__file__).with_name("tape.py")))
"""The files of the engine that call the net, and its gradient."""

READ_AT_START = "explorer.read"
"""A mark on tensors whose values were read before anything ran."""


class Sites(Protocol):
    """Tells where operators are called from."""

    def here(self, *stops: str) -> CallSite:
        """The path of the running module, and the lines up the stack to one of the files ``stops``."""


class TapeRecorder(MsDispatchMode):  # type: ignore[misc]  # mindspore ships no types
    """Records operators, and the nodes of the tape that are hooked; a context manager around them.

    ``pack`` and ``unpack`` are the hooks of saved tensors.
    """

    def __init__(self, capture: TapeCapture, sites: Sites) -> None:
        self._capture = capture
        self._sites = sites
        self._events: list[Callable[[], None]] = []
        self._paused = False
        self._hooked: dict[int, Any] = {}
        self._alive: list[Any] = []
        self._watches = ExitStack()

    def __enter__(self) -> "TapeRecorder":
        super().__enter__()
        self._watches.enter_context(indexing_watched(self._indexed))
        watch = assignments_watched(self._before_assignment, self._assigned)
        self._watches.enter_context(watch)
        return self

    def __exit__(self, *error: object) -> None:
        self._watches.close()
        super().__exit__(*error)

    def _indexed(self, tensor: Any, part: Any) -> None:
        """Note where a view was taken by indexing."""
        if self._paused or not isinstance(part, ms.Tensor):
            return
        node, site = node_of(part), self._sites.here(*STOPS)
        if node is not None:
            self._events.append(partial(self._capture.view_taken, node, site))
        elif self._capture.phase == "forward":
            self._events.append(partial(self._capture.part_taken, tensor, part, site))
            self._alive.append((tensor, part))

    def _before_assignment(self, tensor: Any) -> None:
        """Read a tensor that is about to be assigned another one, and what was noted of it."""
        if not self._paused:
            self._settle()
            tensor._set_user_data(READ_AT_START, False)
            with self._unwatched():
                self._capture.graph.keep_values([tensor])

    def _assigned(self, tensor: Any, value: Any) -> None:
        """Note what a tensor was assigned."""
        if not self._paused and isinstance(value, ms.Tensor):
            with self._unwatched():
                self._capture.assigned(tensor, value)

    def let_go(self) -> None:
        """Let go of the tensors, since hooks inside MindSpore keep the recorder itself alive."""
        self._hooked.clear()
        self._alive.clear()
        del self._capture

    def _settle(self) -> None:
        """Make nodes of the events that were noted."""
        events, self._events = self._events, []
        with self._unwatched():
            for event in events:
                event()

    @contextmanager
    def _unwatched(self) -> Iterator[None]:
        """Record no operators meanwhile: casts with which the engine reads are not the net's."""
        before, self._paused = self._paused, True
        try:
            yield
        finally:
            self._paused = before

    # Operators

    def operator_starts(self) -> None:
        """A call starts that may be an operator; dispatch modes see it only when it is one."""
        if not self._paused:
            self._events.append(self._capture.operator_starts)

    def __ms_dispatch__(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        if self._paused:
            return func(*args, **(kwargs or {}))
        site = self._sites.here(*STOPS)
        call = self._begin(func, args)
        result = perform(func, args, kwargs or {})
        self._finish(call, self._shown(site), args, result)
        return result

    def _begin(self, func: Any, args: tuple[Any, ...]) -> OperatorCall:
        """Note that an operator is about to run."""
        call = operator_call(func, args)
        if self._capture.graph.has_values:
            self._keep_values(call)
        self._events.append(self._capture.operator_starts)
        return call

    def _shown(self, site: CallSite) -> CallSite:
        """The site of an operator; none of the operators of backward itself, which the framework calls."""
        is_own = is_users(next(iter(site[1]), "mindspore/"))
        return NOWHERE if self._capture.phase == "backward" and not is_own else site

    def _finish(
        self, call: OperatorCall, site: CallSite, args: tuple[Any, ...], result: Any
    ) -> None:
        """Note what an operator has returned."""
        outputs = list(tensors_in((result,)))
        if outputs:
            self._events.append(partial(self._capture.operator_ran, call, outputs, site))
            # A tensor is known by its memory, which must not be used again (see TensorOrigins).
            self._alive.append((args, result))

    def _keep_values(self, call: OperatorCall) -> None:
        """Read the tensors that an operator will overwrite, unless their values are known."""
        tensors = [operand.tensor for operand in call.operands]
        places = written_operands(call.op)
        written: list[Any] = []
        if places:
            written = tensors[places]
        # To read is to wait: parameters that were read at the start, and that no operator but
        # batch norm has taken since, are not read again.
        if not all(tensor._get_user_data(READ_AT_START) for tensor in written):
            self._settle()
            self._capture.graph.keep_values(written)
        if call.op in RUNNING_STATISTICS:
            return  # these operators make no views
        # Views of the operands may exist from now on, whose values would have to be kept.
        for tensor in tensors:
            if tensor._get_user_data(READ_AT_START):
                tensor._set_user_data(READ_AT_START, False)

    # The tape

    def _hook(self, outputs: list[Any]) -> None:
        """Hook the nodes of the tape behind ``outputs`` that are not hooked yet."""
        for node in inner_nodes([tensor._grad_node for tensor in outputs], self._hooked):
            self._capture.find_operator(node)
            identity = identity_of(node)
            self._hooked[identity] = node
            node.register_prehook(self._before(identity, node.name()))
            node.register_hook(self._after(node))

    def _before(self, identity: int, name: str) -> Callable[[Any], None]:
        def prehook(gradients: Any) -> None:
            if self._paused:
                return
            arrive = partial(self._capture.gradients_arrive, identity, name, gradients)
            self._events.append(arrive)

        return prehook

    def _after(self, node: Any) -> Callable[[Any, Any], None]:
        identity, name = identity_of(node), node.name()
        edges = [(child and identity_of(child), place) for child, place in node.next_functions]

        def hook(results: Any, gradients: Any) -> None:
            if self._paused:
                return
            ran = partial(self._capture.tape_node_ran, identity, name)
            self._events.append(partial(ran, _tensors(gradients), _tensors(results), edges))

        return hook

    # Saved tensors

    def pack(self, tensor: Any) -> Any:
        """The hook of a tensor that is saved, called during an operator or right after it."""
        if not self._paused:
            self._events.append(partial(self._capture.saved, tensor))
        return tensor

    def unpack(self, tensor: Any) -> Any:
        """The hook of a saved tensor that is taken out again."""
        if isinstance(tensor, ms.Tensor) and not self._paused:
            self._events.append(partial(self._capture.unpacked, on_tape(tensor)))
        return tensor


class Recorder(TapeRecorder):
    """Records one gradient computation of one net.

    It is a context manager around the computation; ``watch`` wraps the net.
    """

    _capture: NetCapture

    def __init__(self, net: Net, values: bool, proof: ProofScope = "none") -> None:
        super().__init__(NetCapture(net, values), CallSites(net.call))
        self._net = net
        self._proof = proof
        for name in self._capture.start:
            net.parameters[name]._set_user_data(READ_AT_START, True)

    def finish(self, names: tuple[str, ...], gradients: list[Any]) -> None:
        """Name the gradients that the call returned, and read all values."""
        self._settle()
        self._capture.add_state()
        self._capture.add_gradients(names, gradients)

    def calls_of(self, nodes: Iterable[str]) -> dict[str, RecordedCall]:
        """What the operators of the nodes with these ids were called with, as far as it is known."""
        with self._unwatched():
            return self._capture.calls_of(nodes)

    def record(self, case: str) -> GradGraph:
        """The record of the graph for the case with that label.

        Lets go of the tensors.
        """
        if self._proof != "none":
            with self._unwatched():
                self._capture.prove(self._proof == "all")
        graph = self._capture.record(case, self._net.layers)
        self.let_go()
        return graph

    def watch(self, call: Any, phase: Phase) -> Callable[..., Any]:
        """``call`` as a function that hooks the tape it leaves; its operators are of ``phase``."""

        def watched(*arguments: Any) -> Any:
            capture = self._capture
            self._settle()
            with self._unwatched():
                capture.enter(arguments)
            before, capture.phase = capture.phase, phase
            returned = call(*arguments)
            self._settle()
            capture.phase = before
            leaves = list(flat(returned))
            outputs = [leaf for leaf in leaves if isinstance(leaf, ms.Tensor)]
            with self._unwatched():
                capture.leave(outputs)
                self._hook(outputs)
                if phase == "forward":
                    capture.add_outputs(leaves)
            return returned

        return watched


def _tensors(values: Any) -> dict[int, TapeTensor]:
    """The tensors among some values, as they are now, by their places."""
    tensors = {}
    for place, value in enumerate(values):
        if isinstance(value, ms.Tensor):
            tensors[place] = on_tape(value)
    return tensors


def operator_call(function: Any, args: tuple[Any, ...]) -> OperatorCall:
    """The call of an operator with ``args``, with its tensors as they are now."""
    # A Primitive is an argument itself, and its operands come as the third one (2.10.0).
    values = args
    if args and isinstance(args[0], ms.ops.Primitive):
        values = args[2]
    operands = list(map(on_tape, tensors_in(values)))
    flags = tuple(value for value in values if isinstance(value, bool))
    return OperatorCall(function, args, operands, flags)
