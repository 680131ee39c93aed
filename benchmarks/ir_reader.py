"""How many lines of IR text the reader takes in per second.

It reads the files named on the command line, or two texts that the benchmark makes up. These have
the shape of a 50-block residual net's: in one, nodes share their source lines, as they do in real
files; in the other no two lines are the same, so that nothing which the reader remembers can help.

Lines are counted by the second of processor time, so that what other programs do does not count.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks._figures import Figure
from benchmarks._presenting import parser, present
from explorer.engines.mindspore.ir import parse

NODES = 20_000
ROUNDS = 3
LIMIT = 50_000
"""Lines a second that are read at least."""

HEADER = """# IR entry: @1_net_2
# Total subgraphs: 1

# Attrs:
less_bn: 0

# Total params: 2
# Params:
%para1_x: <Tensor[Float32], (2, 8)> : [2, 8]
%para2_fc.weight: <Ref[Tensor[Float32]], (8, 8), ref_key=fc.weight, is_parameter>  :  has_default

subgraph attr:
subgraph instance: 1_net_2 : 0x1000
subgraph @1_net_2() {
"""

NODE = (
    "  %{i}(CNode_{i}) = PrimFunc_MatMul({before}, %para2_fc.weight, Bool(0), I64({u}))"
    " {{instance name: matmul}} primitive_attrs: {{output_names: [output], epsilon: F32(1e-05)}}"
    " cnode_attrs: {{checkpoint: Bool(1)}}"
    ' cnode_primal_attrs: {{forward_node_name: "MatMul_{i}", forward_unique_id: "{i}"}}\n'
    "      : (<Tensor[Float32], ({u}, 8)>,"
    " <Ref[Tensor[Float32]], (8, {u}), ref_key=fc.weight, is_parameter>,"
    " <Bool, NoShape>, <Int64, NoShape>) -> (<Tuple[Tensor[Float32]*2],"
    " TupleShape(({u}, 8), (8)), elements_use_flags={{[const vector]{{1, 1}}}}>)\n"
    "      # Fullname with scope: (Gradients/Default/net-Net/blocks-SequentialCell/"
    "{i}-Block/Grad_MatMul/MatMul-op{i})\n"
    "      # Corresponding forward node candidate:\n"
    "      # In file net.py:{u}~{u}, 4~43/    def construct(self, x):/\n"
    "      # In file net.py:{u}, 15~35/        return x + self.b(ops.relu(self.bn(self.a(x))))/\n"
    "      # In file net.py:{u}, 15~24/        return x + self.b(ops.relu(self.bn(self.a(x))))/"
    "<~~This line of code can be shared by multiple nodes, and may be duplicated./\n"
    "      # In file site-packages/mindspore/nn/layer/basic.py:{u}~{u}, 4~16/"
    "    def construct(self, x):/\n"
    "      # In file site-packages/mindspore/nn/layer/basic.py:{u}, 12~39/"
    "        x = self.matmul(x, self.weight)/\n"
)


def made_up(nodes: int, distinct: bool) -> str:
    """A valid IR text of that many nodes; ``distinct``: no line stands in it twice."""
    parts = [HEADER]
    for i in range(nodes):
        before = f"%{i - 1}" if i else "%para1_x"
        parts.append(NODE.format(i=i, before=before, u=i if distinct else i % 50))
    parts.append(f"  Return(%{nodes - 1})\n      : (<Tensor[Float32], (2, 8)>)\n}}\n")
    return "".join(parts)


def speeds(text: str) -> tuple[float, ...]:
    """The lines that are read in a second of processor time, in each round."""
    lines = text.count("\n")
    rates = []
    for _ in range(ROUNDS):
        start = time.process_time()
        parse(text, "benchmark")
        rates.append(lines / (time.process_time() - start))
    return tuple(rates)


def measure(files: list[str]) -> Iterator[Figure]:
    """A figure for each text: of the files, or of the two that are made up."""
    texts = {name: Path(name).read_bytes().decode() for name in files}
    texts = texts or {
        "lines that recur": made_up(NODES, distinct=False),
        "no two lines alike": made_up(NODES, distinct=True),
    }
    for name, text in texts.items():
        count = text.count("\n")
        yield Figure(
            name=name,
            unit="lines/s",
            basis="processor",
            rounds=speeds(text),
            bar=LIMIT,
            wanted="high",
            note=f"{count:,} lines",
        )


def options() -> argparse.Namespace:
    """What was typed."""
    known = parser(__doc__)
    known.add_argument("files", nargs="*", metavar="FILE", help="texts of IR; without, made up")
    return known.parse_args()


if __name__ == "__main__":
    given = options()
    sys.exit(present(measure(given.files), given.figures))
