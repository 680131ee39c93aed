"""The start of a record as arrays, and as what a net of either framework loads."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from explorer.compare.training.comparison import compare
from explorer.model.arrays import pack
from explorer.model.errors import UsageError
from explorer.model.trace import Start, Trace
from explorer.model.training import Training
from explorer.numeric.summaries import excerpt
from explorer.recording.files import read_training, write_trace, write_training
from explorer.words.training import details
from tests.support.command_line import python
from tests.support.recorded_files import loaded_trace, loaded_training

WEIGHT = np.arange(6, dtype=np.float32).reshape(2, 3)
MEAN = np.ones(3, np.float32)
START = (
    Start("fc.weight", "parameter", pack(WEIGHT), trained=True),
    Start("norm.running_mean", "buffer", pack(MEAN)),
    Start("x", "input", pack(MEAN)),
)
TRAINING = Training(name="run", framework="torch", engine="torch-tape", start=START)
TRACE = Trace(name="run", framework="torch", start=START)


def test_a_start_is_saved_as_arrays_of_what_the_net_holds(tmp_path: Path) -> None:
    write_training(tmp_path / "run.training", TRAINING)
    saved = loaded_training(tmp_path / "run.training").start.save(tmp_path / "start.npz")
    with np.load(saved) as arrays:
        assert set(arrays) == {"fc.weight", "norm.running_mean"}
        assert arrays["fc.weight"].tolist() == WEIGHT.tolist()


@pytest.mark.parametrize(
    ("trace", "ending", "message"),
    [
        (TRACE, "txt", r"\.npz"),
        (msgspec.structs.replace(TRACE, framework="jax"), "npz", "lies as in JAX's program"),
        (msgspec.structs.replace(TRACE, start=START[2:]), "npz", "no parameters in its start"),
        (
            msgspec.structs.replace(
                TRACE, start=(Start("table", "parameter", excerpt(pack(np.zeros(1 << 21)))),)
            ),
            "npz",
            r"an excerpt of table; record a step with record\(…, start=2097152\)",
        ),
    ],
)
def test_a_start_that_cannot_be_saved_is_refused(
    trace: Trace, ending: str, message: str, tmp_path: Path
) -> None:
    write_trace(tmp_path / "run.trace", trace)
    with pytest.raises(UsageError, match=message):
        loaded_trace(tmp_path / "run.trace").start.save(tmp_path / f"start.{ending}")


PROGRAMS = {
    "torch": """
import sys, numpy as np, torch
from torch import nn
import explorer

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(10, 6), nn.Linear(6, 10)
        self.head.weight = self.table.weight
        self.conv, self.line = nn.Conv2d(1, 4, 3, padding=1), nn.Conv1d(4, 4, 3, padding=1)
        self.bn, self.norm = nn.BatchNorm2d(4), nn.LayerNorm(6)

    def forward(self, tokens):
        x = self.bn(self.conv(self.table(tokens)[:, None]))
        return self.head(self.norm(self.line(x.mean(2)).mean(1)))

net = Net()
exec(sys.argv[1])
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
tokens = torch.from_numpy(np.arange(40).reshape(8, 5) % 10)
with explorer.recorder(training=True, out="torch.training").step():
    nn.CrossEntropyLoss()(net(tokens), tokens[:, 0]).backward()
    optimizer.step()
""",
    "mindspore": """
import sys, numpy as np, mindspore as ms
from mindspore import nn
import explorer

class Port(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 6, embedding_table="normal")
        self.classifier = nn.Dense(6, 10)
        self.classifier.weight = self.embedding.embedding_table
        same = {"pad_mode": "pad", "padding": 1, "has_bias": True}
        self.conv_in, self.conv_seq = nn.Conv2d(1, 4, 3, **same), nn.Conv1d(4, 4, 3, **same)
        self.batchnorm, self.layernorm = nn.BatchNorm2d(4), nn.LayerNorm((6,), epsilon=1e-5)

    def construct(self, tokens):
        x = self.batchnorm(self.conv_in(self.embedding(tokens).expand_dims(1)))
        return self.classifier(self.layernorm(self.conv_seq(x.mean(2)).mean(1)))

net = Port()
net.set_train()
exec(sys.argv[1])
optimizer = nn.SGD(net.trainable_params(), 0.1)
loss_of = nn.CrossEntropyLoss()
gradient = ms.value_and_grad(lambda x, y: loss_of(net(x), y), None, optimizer.parameters)
tokens = ms.Tensor(np.arange(40).reshape(8, 5) % 10, ms.int32)
with explorer.recorder(training=True, out="mindspore.training").step():
    optimizer(gradient(tokens, tokens[:, 0])[1])
""",
}
"""A net with tied weights and statistics, and its port with names of its own."""


def recorded(folder: Path, framework: str, line: str = "") -> Training:
    """The training of a program that runs a line when its net is made."""
    python("-c", PROGRAMS[framework], line, cwd=folder)
    return read_training(folder / f"{framework}.training")


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.whole
@pytest.mark.parametrize("first", ["torch", "mindspore"])
def test_two_programs_have_one_start_by_the_lines_that_their_comparison_says(
    first: str, tmp_path: Path
) -> None:
    second = "mindspore" if first == "torch" else "torch"
    sides = [
        msgspec.structs.replace(recorded(tmp_path, side), name=side) for side in (first, second)
    ]
    difference = compare(*sides).difference
    assert difference is not None
    assert (difference.question, difference.reason) == ("start", "values")
    lines = {
        side: line.partition(": ")[2]
        for line in details(compare(*sides))
        for side, name in (("torch", "  PyTorch: "), ("mindspore", "  MindSpore: "))
        if line.startswith(name)
    }
    (tmp_path / f"{first}.training").rename(tmp_path / "kept.training")
    again = [
        recorded(tmp_path, side, lines[side].replace(f"{first}.training", "kept.training"))
        for side in (first, second)
    ]
    answers = {answer.question: answer.status for answer in compare(*again).answers}
    assert answers["start"] == answers["loss"] == "same"


@pytest.mark.torch
def test_a_net_of_other_parameters_is_refused(tmp_path: Path) -> None:
    two = (
        Start("norm.gain", "parameter", pack(MEAN)),
        Start("norm.offset", "parameter", pack(MEAN)),
    )
    training = msgspec.structs.replace(TRAINING, start=(*START, *two))
    write_training(tmp_path / "run.training", training)
    program = (
        "import torch, explorer\n"
        "net = torch.nn.Sequential(torch.nn.Linear(3, 2, bias=False), torch.nn.Linear(2, 5))\n"
        "two = torch.nn.Module()\n"
        "two.a, two.b = (torch.nn.Parameter(torch.ones(3)) for _ in 'ab')\n"
        "turned = torch.nn.Module()\n"  # its names say another order than that of the record
        "turned.new_offset, turned.new_gain = two.a, two.b\n"
        "one, other = {'weight': 'fc.wieght'}, {'wieght': 'fc.weight'}\n"
        "for given in ((net[0],), (net,), (two,), (turned,), ({},), (net[0], one), (net[0], other)):\n"
        "    try:\n"
        "        print(explorer.start('run.training', *given)['weight'].tolist())\n"
        "    except explorer.recording.starts.UsageError as error:\n"
        "        print(error)\n"
    )
    said = python("-c", program, cwd=tmp_path).splitlines()
    taken, unclear, guessed, crossed, odd, missing, unknown = said
    assert taken == str(WEIGHT.tolist())
    for words in ("1.weight, 1.bias of the net", "names={'1.weight': …}", "run.training"):
        assert words in unclear
    assert "a, b of the net" in guessed
    assert "new_offset, new_gain of the net" in crossed
    assert odd.endswith("got a dict")
    assert (
        "no 'fc.wieght' of the shape of 'weight', (2, 3); of that shape are: fc.weight" in missing
    )
    assert unknown == "names: the net has no parameter 'wieght'; it has weight"
