"""Files of traces are data: what is broken, too large or hostile is refused in one line, at once."""

import hashlib
import os
import random
import time
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import pytest

from explorer.exploration.recordings import report_on
from explorer.model.arrays import AnyArray, Array, pack
from explorer.model.graph import Arguments, Edge, GradGraph, Output
from explorer.model.trace import Missing, Start, Trace
from explorer.model.training import Training
from explorer.numeric.summaries import summarise
from explorer.recording import files
from explorer.recording.files import (
    TRACE,
    TRAINING,
    Form,
    TraceError,
    decoded,
    encoded,
    form_of,
    read_trace,
    read_training,
    write_trace,
)
from explorer.recording.loops import recorder
from explorer.recording.trainings import TrainingSteps
from explorer.report.diff import comparison_lines
from tests.support.handmade_graph import HandmadeGraph

MUTANTS = 2000

Recorded = TypeVar("Recorded", Trace, Training)


def f32(*elements: float) -> AnyArray:
    return np.array(elements, np.float32)


def sample() -> Trace:
    """A small trace with each kind of field filled."""
    g = HandmadeGraph()
    x = g.leaf("x", "input", f32(1, 2))
    arguments: Arguments = {"other": 2.0, "dim": (0, 1)}
    h = g.add("aten.mul.Tensor", [x, x], scope="net", value=f32(1, 4), arguments=arguments)
    g.result("loss", h, f32(1, 4))
    g.gradient("dx", g.back("aten.mul.Tensor", h, [], [x], value=f32(2, 4)), f32(2, 4))
    return Trace(
        name="step",
        framework="torch",
        step=3,
        versions={"torch": "2.13.0"},
        start=(Start("x", "input", pack(f32(1, 2))),),
        settings={"threads": 2, "grad_enabled": True},
        graph=g.record("step"),
        missing=(Missing("compiled", "1"),),
    )


def sample_graph() -> GradGraph:
    graph = sample().graph
    assert graph is not None
    return graph


def signed(body: bytes, form: Form[Any] = TRACE) -> bytes:
    """A file with that body and a digest that fits, as a hostile author would make it."""
    digest = hashlib.sha256(body).hexdigest().encode()
    return b" ".join((form.magic, b"1", digest)) + b"\n" + body


# What is written is read


def test_a_trace_is_read_as_it_was_written_also_after_another_could_not_be(tmp_path: Path) -> None:
    path = tmp_path / "step.trace"
    write_trace(path, sample())
    assert read_trace(path) == sample()
    assert [file.name for file in tmp_path.iterdir()] == ["step.trace"]
    with pytest.raises(TypeError):
        write_trace(path, msgspec.structs.replace(sample(), settings={"a": object()}))
    assert read_trace(path) == sample()


# What is refused


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is not a trace"),
        (b"PK\x03\x04", "it is not a trace"),
        (b"explorer-trace 2 00\n", "it is a trace of version 2"),
        (encoded(sample())[:-1], "its digest differs"),
        (signed(b""), "it is a broken trace"),
        (signed(b"\x91" * 100_000), "it is a broken trace"),
        (signed(b"\x81\xa5nodes\xdd\xff\xff\xff\xff"), "it is a broken trace"),
    ],
)
def test_what_is_no_whole_trace_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(TraceError, match=said) as refused:
        decoded(content, TRACE)
    assert "\n" not in str(refused.value)


def with_graph(**changes: object) -> Trace:
    """The sample with a field of its graph changed."""
    graph = msgspec.structs.replace(sample_graph(), **changes)
    return msgspec.structs.replace(sample(), graph=graph)


def with_node(**changes: object) -> Trace:
    """The sample with a field of its second node changed."""
    first, second, *others = sample_graph().nodes
    return with_graph(nodes=(first, msgspec.structs.replace(second, **changes), *others))


def with_edge(edge: Edge) -> Trace:
    return with_graph(edges=(*sample_graph().edges, edge))


def starting_from(value: Array) -> Trace:
    return msgspec.structs.replace(sample(), start=(Start("x", "input", value),))


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        (with_node(id="n0"), "two nodes with one id"),
        (with_node(id="n7"), "the id 'n7'"),
        (with_node(forward="n9"), "derives from n9"),
        (with_node(scope="a" * 20_000), "20000 characters"),
        (with_node(outputs=(Output((-1,), "float32"),)), "a shape"),
        (with_node(outputs=(Output((1,) * 65, "float32"),)), "65 axes"),
        (with_node(outputs=(Output((3,), "float32", summarise(f32(1, 2))),)), "figures"),
        (with_edge(Edge("n0", "n8")), "refers to n8"),
        (with_edge(Edge("n0", "n1", 3)), "starts at output 3"),
        (with_edge(Edge("n3", "n1")), "backward"),
        (with_edge(Edge("n2", "n0")), "cycle"),
        (with_graph(engine="torch-tape@../x"), "engine"),
        (starting_from(Array((1 << 40,), "float32", b"")), "0 bytes"),
        (starting_from(Array((2,), "object", b"12345678")), "dtype"),
        (starting_from(Array((2,), "(2,)f4", b"12345678")), "dtype"),
        (starting_from(Array((2,), "float33", b"12345678")), "dtype"),
    ],
)
def test_what_does_not_fit_together_is_refused(trace: Trace, said: str) -> None:
    with pytest.raises(TraceError, match=said):
        decoded(signed(msgspec.msgpack.encode(trace)), TRACE)


@pytest.mark.parametrize("name", ["pipe.trace", "pipe.training", "pipe"])
def test_a_pipe_is_refused_and_not_waited_for(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    assert form_of(tmp_path / name) in (None, TRACE, TRAINING)
    for reading in (read_trace, read_training):
        with pytest.raises(TraceError, match="is a pipe or a device; copy what it holds into"):
            reading(tmp_path / name)


def test_the_folder_of_recordings_is_that_in_which_the_recorder_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    steps = recorder(training=True, out="runs")
    monkeypatch.chdir(tmp_path.parent)
    assert isinstance(steps, TrainingSteps)
    assert steps.path == tmp_path / "runs" / "run.training"


def test_a_file_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large.trace"
    write_trace(path, sample())
    monkeypatch.setattr(files, "MOST_BYTES", path.stat().st_size - 1)
    with pytest.raises(TraceError, match="files of up to 0 MB are read"):
        read_trace(path)
    monkeypatch.setattr(files, "MOST_BYTES", path.stat().st_size)
    assert read_trace(path) == sample()


# Fuzz


def mutated(body: bytes, chance: random.Random) -> bytes:
    """A body with a few bytes changed, taken out, put in, or moved."""
    data = bytearray(body)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(data))
        match chance.randrange(5):
            case 0:
                data[place] = chance.randrange(256)
            case 1:
                del data[place : place + chance.randint(1, 40)]
            case 2:
                data[place:place] = chance.randbytes(chance.randint(1, 8))
            case 3:
                end = place + chance.randint(1, 60)
                data[place:place] = data[place:end]
            case _:
                data[place] = chance.choice(b"\xdd\xdf\xdb\xc6\xcf\xd3\xcb\xc0\xc1\x80\x90\xa0\xff")
    return bytes(data)


@pytest.mark.slow
def test_2000_mutated_files_are_refused_in_a_line_or_read_and_shown() -> None:
    chance = random.Random(38)
    body = msgspec.msgpack.encode(sample())
    shown = 0
    for _ in range(MUTANTS):
        began = time.process_time()
        trace, refusal = outcome(signed(mutated(body, chance)), TRACE)
        assert time.process_time() - began < 1
        assert "\n" not in refusal
        if trace is not None and trace.graph is not None:
            report = report_on({"left": trace, "right": sample()})
            engines = [graph.engine for graph in report.graphs]
            assert engines == ["torch-tape@left", "torch-tape@right"]
            assert list(comparison_lines(report, engines, list_all=True))
            shown += 1
    assert 20 < shown < MUTANTS / 2  # some change a figure or a name only


def outcome(content: bytes, form: Form[Recorded]) -> tuple[Recorded | None, str]:
    """What a file holds, or why it is refused."""
    try:
        return decoded(content, form), ""
    except TraceError as error:
        return None, str(error)
