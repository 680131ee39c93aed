"""Nets whose two sides differ by something that is known, and others that differ by a mistake."""

from pathlib import Path

import msgspec

from tests.support.scenario_files import Side, scenario_text, written
from tests.support.twin_nets import in_mindspore


class Net(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Both sides, the inputs, what is known ("claim 43", "selu"; () for nothing), and the engines."""

    torch: str
    inputs: str
    mindspore: str = ""
    known: tuple[str, ...] = ()
    engines: tuple[str, str] = ("torch-tape", "mindspore-tape")
    train: bool = True


TABLE = Path(__file__).with_suffix(".toml").read_bytes()

TABLES = msgspec.toml.decode(TABLE, type=dict[str, dict[str, Net]])

NETS, MISTAKES = TABLES["known"], TABLES["mistakes"]

INPUTS = """
draw = np.random.default_rng(3)

def normal(*shape):
    return draw.normal(size=shape).astype(np.float32)

def floats(*numbers):
    return np.array(numbers, np.float32)

return dict({inputs})
"""


def file_with(net: Net, folder: Path) -> Path:
    """A scenario file with a net."""
    text = scenario_text(
        INPUTS.format(inputs=net.inputs),
        _side(net.mindspore or in_mindspore(net.torch)),
        _side(net.torch),
        "x, y" if "y=" in net.inputs or "'xy'" in net.inputs else "x",
        f"TRAIN = {net.train}\ninf, nan = float('inf'), float('nan')",
    )
    return written(folder, text, "known.py")


def _side(code: str) -> Side:
    layer, _, body = code.rpartition(";;")
    if layer:
        return Side(f"self.layer = {layer}", body)
    if code.startswith("nn."):
        return Side(f"self.layer = {code}", "value = self.layer(x)\nreturn (value * value).sum()")
    return Side("", code if "return" in code else f"value = {code}\nreturn (value * value).sum()")
