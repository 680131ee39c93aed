"""Functions that tests have a worker run: they answer, raise, crash, hang, print, or look around."""

import ast
import contextlib
import gc
import importlib
import os
import random
import sys
import tempfile
import time
import weakref
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import numpy as np

from explorer.model.causes import TrialsRequest
from explorer.model.engines import ENGINES
from explorer.model.errors import RefusedNetError
from explorer.model.graph import NodeKind, Output, Phase
from explorer.model.measurement import Ask, Found
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, OracleResult, Result, ResultNoise
from explorer.workers.garbage_collection import paused

HELD: list[bytes] = []


class Word(msgspec.Struct, frozen=True):
    """One string, there and back."""

    text: str


def echo(word: Word) -> Word:
    """The same word."""
    return word


def takes(word: Word) -> Word:
    """From when to when it has slept for that many seconds, on the clock of time.monotonic()."""
    start = time.monotonic()
    time.sleep(float(word.text))
    return Word(f"{start} {time.monotonic()}")


def holds(word: Word) -> Word:
    """The id of the process, which keeps that many megabytes."""
    HELD.append(b"x" * (int(word.text) * 10**6))
    return Word(str(os.getpid()))


def process_on(request: TrialsRequest) -> Word:
    """The id of the process that is asked, whatever the device."""
    return Word(str(os.getpid()))


def answer_after_long(request: CaseRequest) -> Result:
    """MindSpore's answer in graph style, where any time is long."""
    from explorer.engines.mindspore import answers

    usual, answers.LONG_SECONDS = answers.LONG_SECONDS, 0.0
    try:
        return answers.answer(request)
    finally:
        answers.LONG_SECONDS = usual


def captured_before_2_9(request: CaseRequest) -> Captured:
    """MindSpore's tape where nobody sees the operators of backward."""
    from explorer.engines.mindspore import tape
    from explorer.engines.mindspore.tape_recorder import Recorder

    class OfForward(Recorder):
        """Records the operators of the forward alone."""

        def __ms_dispatch__(self, func: Any, args: Any, kwargs: Any = None) -> Any:
            if self._capture.phase == "forward":
                return super().__ms_dispatch__(func, args, kwargs)
            return func(*args, **(kwargs or {}))

    with patch.object(tape, "Recorder", OfForward):
        return tape.capture(request)


def noise_before_2_9(request: CaseRequest) -> ResultNoise:
    """The noise of MindSpore's tape where operators are not seen."""
    from explorer.engines.mindspore import noise

    with patch.object(noise, "has", lambda name: False):
        return noise.results(request)


def placed_beside_equals(word: Word) -> Word:
    """The modules of norms with equal values, of which the compiler says one site for all."""
    from explorer.engines.capture.builder import GraphBuilder
    from explorer.engines.mindspore.operator_sites import RanOperator, place_operators
    from explorer.engines.mindspore.operators import plain
    from explorer.numeric.summaries import summarise

    summary = summarise(np.linspace(-1, 1, 6, dtype=np.float32))
    builder = GraphBuilder()
    for _ in range(3):
        outputs = (Output((6,), "float32", summary),)
        builder.add(
            "GroupNorm", "op", "forward", scope="last", source=("net.py:9",), outputs=outputs
        )
    form = plain("GroupNorm"), ((6,),)
    sites = [("block.0", ("net.py:2",)), ("block.1", ("net.py:2",)), ("last", (word.text,))]
    ran = [RanOperator(form, site, summary) for site in sites]
    place_operators(builder, ran, lambda number: False)
    return Word(" ".join(node.scope for node in builder.nodes))


def rounded_beside_memory(word: Word) -> Word:
    """Thirds in random rounding, beside unwritten memory that holds multiples of a number."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    from explorer.engines.torch.noise import RandomRounding

    class Memory(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
        """Memory in which something else lies each time."""

        held = float(word.text)

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            result = func(*args, **(kwargs or {}))
            if func is torch.ops.aten.empty.memory_format:
                result.fill_(self.held)
                self.held *= 2
            return result

    with Memory(), RandomRounding(1):
        torch.empty((8, 2))
        thirds = torch.arange(64.0) / 3
    return Word(str(thirds.double().tolist()))


def guards_timed(word: Word) -> Word:
    """How often Dynamo times guards of a function in graph style, and whether it would after it failed."""
    import torch
    from torch._dynamo import guards

    from explorer.topics.operators.in_torch_styles import styled

    timed = []
    usual, guards.profile_guard_manager = guards.profile_guard_manager, lambda *_: timed.append(1)
    try:
        doubled = styled(lambda x: 2 * x, "graph")(torch.ones(2))
        with contextlib.suppress(RuntimeError):
            styled(lambda x: x @ torch.ones(3), "graph")(torch.ones(2))
        guards.profile_guard_manager()
    finally:
        guards.profile_guard_manager = usual
    return Word(f"{doubled.tolist()} {len(timed)}")


def parsed(word: Word) -> Word:
    """How many places of nodes MindSpore's parser names, and how many are others than were kept."""
    import mindspore as ms
    from mindspore import nn

    from explorer.engines.mindspore.versions import provided

    parser_class = provided("graph._parse.parser")

    importlib.import_module("explorer.engines.mindspore.graph")  # from here on, places are kept
    kept, places, wrong = parser_class.get_location, 0, 0
    (find,) = [cell.cell_contents for cell in kept.__closure__ if callable(cell.cell_contents)]
    for function in (nn.Dense.construct, nn.MSELoss.construct, ms.grad, parsed):
        parser = parser_class(function)
        _, tree = parser.parse()
        for node in ast.walk(tree):
            for asked in (node, [*ast.iter_child_nodes(node)]):
                for again in (kept(parser, asked), kept(parser, asked)):
                    places += 1
                    wrong += again != find(parser, asked)
    return Word(f"{places} {wrong}")


def failure_of_an_operator(word: Word) -> Word:
    """When MindSpore's tape raises the error of an operator: "at once", or when it is "read"."""
    import mindspore as ms

    matrix = ms.Tensor([[1.0, 2.0]])
    try:
        product = ms.ops.matmul(matrix, matrix)
    except (RuntimeError, ValueError):
        return Word("at once")
    try:
        product.asnumpy()
    except (RuntimeError, ValueError):
        return Word("read")
    return Word("never")


class Link:
    """One that refers to itself, so that only a search for garbage finds it."""

    def __init__(self) -> None:
        self.itself = self


left_behind: list[weakref.ref[Link]] = []
"""What leave_garbage() has made."""


def leave_garbage(word: Word) -> Word:
    """Makes a cycle in a call that imports a framework, and leaves it behind."""
    importlib.import_module(word.text)
    left_behind.append(weakref.ref(Link()))
    return word


def garbage(word: Word) -> Word:
    """How many objects a search for garbage leaves out, and how many left behind it has not found."""
    gc.collect()
    return Word(f"{gc.get_freeze_count()} {sum(link() is not None for link in left_behind)}")


def state_of_collector(word: Word) -> Word:
    """Imports a module while it runs.

    Whether the collector runs, how many objects it leaves out, and how many it looks through.
    """
    importlib.import_module(word.text)
    return Word(f"{gc.isenabled()} {gc.get_freeze_count()} {len(gc.get_objects())}")


def capture_then_look(request: CaseRequest) -> Word:
    """Which parts of PyTorch there are once its tape is captured, and answered to."""
    from explorer.engines.torch import tape

    tape.describe(request.net)
    tape.answer(request)
    tape.capture(request)
    parts = ("autograd", "_dynamo", "_functorch.aot_autograd")
    return Word(" ".join(part for part in parts if f"torch.{part}" in sys.modules))


def tensors_left(request: CaseRequest) -> Word:
    """How many tensors of PyTorch more there are after a capture, before any search for garbage."""
    import torch

    def tensors() -> int:
        return sum(issubclass(type(value), torch.Tensor) for value in gc.get_objects())

    engine = importlib.import_module(ENGINES[request.net.engine].module)
    engine.capture(request)  # what is made once and kept
    gc.collect()
    with paused():
        before = tensors()
        engine.capture(request)
        return Word(str(tensors() - before))


def known_when_gone(word: Word) -> Word:
    """Whether a recorded tensor that may not be held is known: while it is there, and afterwards."""
    import torch

    from explorer.engines.torch.tape_records import OperatorRecord, TensorOrigins

    tensor = torch.zeros(2)
    record = OperatorRecord(None, (), {}, "backward", [], [], word.text, [tensor])
    tensors = TensorOrigins([record])
    tensors.hold_aliases(0)
    key = id(tensor)
    known = key in tensors.origins and key in tensors.storages
    del tensor
    return Word(f"{known} {key in tensors.origins or key in tensors.storages}")


def evaluated(expression: Word) -> Word:
    """The value of an expression in the process that answers."""
    return Word(str(eval(expression.text)))


def process(word: Word) -> Word:
    """The id of the process that answers."""
    return Word(str(os.getpid()))


def noisy(word: Word) -> Word:
    """Prints on both streams, at both levels, before it answers."""
    print(word.text)
    sys.stderr.write(word.text)
    os.write(1, b"raw bytes on file descriptor 1")
    return word


def raises(word: Word) -> Word:
    """Fails as a fault of the explorer would."""
    raise ZeroDivisionError(word.text)


def refuses(word: Word) -> Word:
    """Refuses a net as an engine does."""
    raise RefusedNetError("keyword_only", word.text, "mask")


def lacks(word: Word) -> Word:
    """Needs a package that is not there."""
    raise ModuleNotFoundError(f"No module named {word.text!r}")


def aborts(word: Word) -> Word:
    """Dies by a signal, with last words."""
    sys.stderr.write(word.text)
    sys.stderr.flush()
    os.abort()


def folders(word: Word) -> Word:
    """The working directory, and where temporary files go by the environment and by Python."""
    return Word(f"{os.getcwd()} {os.environ['TMPDIR']} {tempfile.gettempdir()}")


def hangs(word: Word) -> Word:
    """Outlives any limit."""
    time.sleep(float(word.text))
    return word


def never_yields(word: Word) -> Word:
    """Computes without end in C, where no other thread of the process gets its turn."""
    pow(7, 10**9)
    return word


def forks_and_hangs(word: Word) -> Word:
    """Outlives any limit, beside a child that does so too."""
    os.fork()
    time.sleep(600)
    return word


def forks_and_exits(word: Word) -> Word:
    """Leaves without answering, but for a child that stays."""
    if os.fork():
        os._exit(int(word.text))
    time.sleep(600)
    return word


def measured(ask: Ask) -> Found:
    """A measurement of a number that its options give."""
    return Found({"twice": 2 * ask.options["x"]})


def written_by_capture(request: CaseRequest) -> Word:
    """What a capture in graph style left on the disk, beside empty files: types of files, and kernels.

    A file of a kernel begins with the kernel's type.
    """
    from explorer.engines.mindspore.graph import capture
    from explorer.workers.environments import GRAPHS_FOLDER

    assert capture(request).graphs
    scratch = Path(os.environ[GRAPHS_FOLDER]).parent
    kinds = set()
    for path in scratch.rglob("*.*"):
        if path.is_file() and path.stat().st_size and path.parent.name != ".dump_metadata":
            kinds.add(
                f"{path.name.partition('.')[0]}.npy" if path.suffix == ".npy" else path.suffix
            )
    return Word(" ".join(sorted(kinds)))


def links_among_all(word: Word) -> Word:
    """How many links random graphs have, and how many others where every copy is weighed, near or not."""
    from explorer.engines.mindspore.forward_links import ForwardLinks

    class Thorough(ForwardLinks):
        """Takes every node for near."""

        def _near(self, number: int) -> set[int]:
            return set(range(len(self._nodes)))

    linked = others = 0
    for seed in range(int(word.text)):
        quick = _links_of_random_graph(seed, ForwardLinks)
        thorough = _links_of_random_graph(seed, Thorough)
        linked += len(quick)
        others += sum(quick[number] != thorough[number] for number in quick)
    return Word(f"{linked} {others}")


def _links_of_random_graph(seed: int, kind: Any) -> dict[int, int | None]:
    """The forward nodes of the backward nodes of a random graph, which name one of two identities."""
    from explorer.engines.capture.builder import GraphBuilder
    from explorer.engines.mindspore.forward_links import ForwardIdentities, ForwardReference

    draw = random.Random(seed)
    builder, identities = GraphBuilder(), ForwardIdentities()
    forwards, backwards = draw.randint(3, 16), draw.randint(3, 8)
    for number in range(forwards + backwards):
        inputs = tuple((draw.randrange(number), 0) for _ in range(draw.randint(0, 3)) if number)
        phase: Phase = "forward" if number < forwards else "backward"
        sums = phase == "backward" and draw.random() < 0.2
        node: NodeKind = "accumulate" if sums else "op"
        builder.add("op", node, phase, inputs, outputs=(Output((), "float32"),))
        identity = draw.choice("ab")
        if phase == "forward":
            identities._carry(identity, number)
        elif not sums:
            identities._references[number] = ForwardReference(identity)
    kind(builder, identities, {}).settle()
    return {
        number: draft.forward
        for number, draft in enumerate(builder.nodes)
        if draft.phase == "backward" and draft.kind == "op"
    }


class TimeFor(msgspec.Struct, frozen=True):
    """A case for the oracle, and how many derivatives it has time for."""

    request: CaseRequest
    derivatives: int


def estimate_in_time(given: TimeFor) -> OracleResult:
    """The oracle's answer by a clock on which every derivative takes a second, and nothing else any time."""
    oracle: Any = importlib.import_module("explorer.engines.oracle")
    double_net: Any = importlib.import_module("explorer.engines.torch.double_net")
    with (
        patch.object(oracle, "SECONDS", float(given.derivatives)),
        patch.object(oracle, "TimeSpent", partial(Ticking, 1.0)),
        # The start of each of two evaluations is set, then the net runs.
        patch.object(double_net, "TimeSpent", partial(Ticking, 0.25)),
    ):
        result: OracleResult = oracle.estimate(given.request)
    return result


class Ticking:
    """A TimeSpent by which each piece of work takes so many seconds."""

    def __init__(self, tick: float) -> None:
        self.seconds = 0.0
        self._tick = tick

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        yield
        self.seconds += self._tick


def lacking(word: Word) -> Word:
    """What is said of the feature of MindSpore named ``word``, as of one that its version lacks."""
    from explorer.engines.mindspore import versions
    from explorer.text.failures import message

    name: Any = word.text
    versions.provided(name)
    before, versions.HERE = versions.HERE, (2, 0)
    try:
        assert not versions.has(name)
        if versions.FEATURES[name].fallback.startswith("explorer."):
            versions.provided(name)
        return Word(message(versions.lacks(name).failure))
    finally:
        versions.HERE = before


def loaded_modules(framework: Word) -> Word:
    """The modules of the explorer that this worker has loaded, with all of a framework's engines."""
    for style in ("tape", "graph"):
        importlib.import_module(f"explorer.engines.{framework.text}.{style}")
    return Word(" ".join(name for name in sys.modules if name.startswith("explorer.")))


def arguments_of_text(word: Word) -> Word:
    """The arguments of the first statement of an IR text, none of whose operands is a tensor."""
    from explorer.engines.mindspore.ir import parse
    from explorer.engines.mindspore.ir_statements import program
    from explorer.engines.mindspore.operator_arguments import statement_arguments

    statement = next(iter(program(parse(word.text, "given.ir")).values()))[0]
    found = statement_arguments(statement, [None] * len(statement.operands))
    missing = found.absence and (found.absence.kind, found.absence.detail)
    return Word(f"{found.arguments} {missing}")


class SavedStorages(msgspec.Struct, frozen=True):
    """The total size of the storages that the hooks were shown."""

    bytes: int


def saved_storages(request: CaseRequest) -> SavedStorages:
    """What the forward of a net keeps."""
    import torch

    from explorer.engines.torch.net import forward
    from explorer.engines.torch.tape import ready

    sizes: dict[int, int] = {}
    held = []

    def pack(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
        held.append(tensor)
        return tensor

    net = ready(request)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        forward(net)
    return SavedStorages(sum(sizes.values()))
