"""A fourth framework is a column of the catalogue: its names, its words in mends, what stands for what."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import explorer

ENGINES = {
    '"torch", "jax"]': '"torch", "jax", "paddle"]',
    '"torch", "jax")': '"torch", "jax", "paddle")',
    'frozenset({"jax"})': 'frozenset({"jax", "paddle"})',
    "_TABLE = (": """_TABLE = (
    Engine(
        framework="paddle", style="tape", answers_in=("paddle",), captures_in="paddle", how="grad"
    ),""",
}
"""What the table of engines says of it: that it is there."""

COLUMNS = {
    "activations": {
        'jax = "jax.nn.gelu"\n': """jax = "jax.nn.gelu"
paddle.call = "paddle.nn.functional.gelu"
paddle.graph = "pd_op.gelu"
paddle.graph_arguments.approximate = "approximate"
""",
        "jax = \"approximate=True\", tried = \"'none', 'tanh'\", way.jax": (
            'jax = "approximate=True", paddle = "approximate=False",'
            " tried = \"'none', 'tanh'\", way.paddle = \"tanh\", way.jax"
        ),
    },
    "alternatives": {
        '["of each element"]\n': '["of each element"]\npaddle = "pd_op.gelu pd_op.relu"\n'
    },
}
"""Its column, as far as this test needs it."""

PROGRAM = """
import json
from explorer.operators.mends import mends
from explorer.model.causes import Cause, SetArguments
from explorer.model.graph import Node
from explorer.operators.table import alternatives, function_of

def written(engine, op, own, other):
    edit = SetArguments(own={"approximate": own}, arguments={"approximate": other})
    layers = None, None
    cause = Cause(side="left", node="n0", op=op, edits=(edit,), proven="computed_again",
                  greatest=0.0, noise=None, layers=layers, tried=1)
    node = Node(id="n0", op=op, kind="op", phase="forward", arguments={"approximate": own})
    engines = engine, "paddle-tape" if engine == "torch-tape" else "torch-tape"
    return [[mend.side, mend.call, mend.arguments] for mend in mends(cause, node, engines)]

print(json.dumps([
    function_of("paddle", "pd_op.gelu").name("torch"),
    alternatives("pd_op.gelu"),
    written("torch-tape", "aten.gelu.default", "none", "tanh"),
    written("paddle-tape", "pd_op.gelu", False, True),
]))
"""


@pytest.mark.slow
def test_a_fourth_framework_is_one_entry_of_engines_and_one_column(tmp_path: Path) -> None:
    package = tmp_path / "explorer"
    package.mkdir()
    for part in Path(explorer.__file__).parent.iterdir():
        if part.name in ("model", "operators"):
            shutil.copytree(part, package / part.name)
        else:
            (package / part.name).symlink_to(part)
    edited = {package / "model" / "engines.py": ENGINES}
    for name, columns in COLUMNS.items():
        edited[package / "operators" / "catalogue" / f"{name}.toml"] = columns
    for path, changes in edited.items():
        text = path.read_text(encoding="utf-8")
        for old, new in changes.items():
            assert old in text, f"{path.name} has no {old!r}"
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")

    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)

    row, others, beside_torch, of_its_own = json.loads(done.stdout)
    assert row == "torch.nn.functional.gelu"
    assert others == ["pd_op.relu"]
    gelu = "torch.nn.functional.gelu"
    assert beside_torch == [
        ["left", gelu, {"approximate": "tanh"}],
        ["right", "paddle.nn.functional.gelu", {"approximate": False}],
    ]
    assert of_its_own[0] == ["left", "paddle.nn.functional.gelu", {"approximate": True}]
