"""How many lines of IR text the reader takes in per second.

It reads the files named on the command line, or two texts that the benchmark makes up. These have
the shape of a 50-block residual net's: in one, nodes share their source lines, as they do in real
files; in the other no two lines are the same, so that nothing which the reader remembers can help.

Run: python -m benchmarks.ir_reader [FILE …]
"""

import sys
import time
from pathlib import Path

from explorer.engines.mindspore.ir import parse

NODES = 20_000
ROUNDS = 3
LIMIT = 50_000
"""Lines a second below which the benchmark fails."""

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


def speed(text: str) -> tuple[int, float]:
    """The number of lines, and the lines per second: the best of some rounds.

    Seconds of processor time, so that what other programs do does not count.
    """
    lines = text.count("\n")
    best = 0.0
    for _ in range(ROUNDS):
        start = time.process_time()
        parse(text, "benchmark")
        best = max(best, lines / (time.process_time() - start))
    return lines, best


def main() -> None:
    """Prints one line a text."""
    texts = {name: Path(name).read_bytes().decode() for name in sys.argv[1:]}
    texts = texts or {
        "lines that recur": made_up(NODES, distinct=False),
        "no two lines alike": made_up(NODES, distinct=True),
    }
    slow = []
    for name, text in texts.items():
        lines, rate = speed(text)
        print(f"{name}: {lines} lines, {rate:,.0f} lines/s")
        if rate < LIMIT:
            slow.append(name)
    if slow:
        raise SystemExit(f"below {LIMIT:,} lines/s: {', '.join(slow)}")


if __name__ == "__main__":
    main()
