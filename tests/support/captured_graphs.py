"""Gradient graphs that the four engines captured of some nets, recorded: they need no framework.

``python -m tests.support.captured_graphs`` records them anew.
"""

import lzma
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from explorer.model.graph import GradGraph
from explorer.model.report import Report
from tests.support.nets import NETS

FILE = Path(__file__).parents[1] / "compare" / "captured_graphs.json.xz"

SHIPPED = (
    "aliased_input",
    "batch_norm_train",
    "checkpointing",
    "conv_transpose",
    "custom_gradient",
    "dense_mse",
    "embedding_repeats",
    "in_place_update",
    "kinks",
    "physics_informed",
    "polynomial",
    "stop_gradient",
    "tied_weights",
    "view_and_slice",
)
"""Shipped scenarios."""

WITH_MISTAKES = ("dead_metric", "own_mask", "three_kinks")
"""Nets of the tests that differ between the frameworks."""

ATTENTION_MISTAKES = {
    "norm_after": (
        "x = x + self.attention(self.norm1(x))",
        "x = self.norm1(x + self.attention(x))",
    ),
    "operands_swapped": ("scores = q @ k.transpose(-1, -2)", "scores = k @ q.transpose(-1, -2)"),
    "keys_for_values": ("(weights @ v)", "(weights @ k)"),
    "heads_not_moved_back": ("(weights @ v).transpose(1, 2)", "(weights @ v)"),
    "residual_detached": ("return x + self.down(", "return x.detach() + self.down("),
    "values_detached": ("v = self.v(x).reshape", "v = self.v(x).detach().reshape"),
}
"""What is replaced in PyTorch's half of attention_block, by the name of the mistake."""

ATTENTION_ENGINES = ("torch-tape", "mindspore-graph")

Graphs = list[GradGraph]


@cache
def captured_graphs() -> dict[str, Graphs]:
    """The last stage of each engine's graph of the main case, by the name of the net."""
    return msgspec.json.decode(lzma.decompress(FILE.read_bytes()), type=dict[str, Graphs])


def record(graphs: dict[str, Graphs]) -> None:
    """Write the file anew."""
    FILE.write_bytes(lzma.compress(msgspec.json.encode(graphs), preset=9))


def main() -> None:
    """Capture all graphs with the installed frameworks."""
    from explorer.exploration.explore import explore
    from explorer.scenario.find import find
    from explorer.scenario.load import load
    from explorer.workers.workers import Workers

    graphs: dict[str, Graphs] = {}
    with Workers() as workers:
        scenarios = [load(find(name)) for name in SHIPPED]
        scenarios += [load(NETS / "divergences" / f"{name}.py") for name in WITH_MISTAKES]
        for scenario in scenarios:
            graphs[scenario.name] = last_stages(explore(scenario, workers, selection="main"))
        with TemporaryDirectory() as folder:
            for name in ATTENTION_MISTAKES:
                scenario = load(attention_with(name, Path(folder)))
                report = explore(scenario, workers, engines=ATTENTION_ENGINES, selection="main")
                graphs[name] = last_stages(report)
    record(graphs)


def attention_with(name: str, folder: Path) -> Path:
    """A file in a folder with attention_block and a mistake in PyTorch's half."""
    before, between, after = (
        (NETS / "divergences" / "attention_block.py").read_text().partition("def torch_net")
    )
    old, new = ATTENTION_MISTAKES[name]
    assert after.count(old) == 1, name
    path = folder / "attention_block.py"
    path.write_text(before + between + after.replace(old, new))
    return path


def last_stages(report: Report) -> Graphs:
    """The last graph of each engine."""
    last = {graph.engine: graph for graph in report.graphs}
    return list(last.values())


if __name__ == "__main__":
    main()
