"""What the how-to pages add to a scenario, and to the explorer, can be added as they say."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from explorer.scenario.load import load
from tests.support.command_line import ROOT, environment, ran

HOW_TO = ROOT / "docs" / "how-to"

SCENARIO, *DECLARATIONS = re.findall(
    r"```python\n(.*?)```", (HOW_TO / "scenario.md").read_text(encoding="utf-8"), re.DOTALL
)

PYTHON = re.compile(r"`(\w+\.py)`(?:(?!```|`\w+\.py`).)*?\n```python\n(.*?)```", re.DOTALL)
"""The name of a file, and the first code that follows it."""

OF_THE_TOPIC = (
    "__init__.py",
    "questions.py",
    "in_mindspore.py",
    "in_torch.py",
    "findings.py",
    "claims.py",
)


@pytest.mark.parametrize("block", DECLARATIONS, ids=[text.split()[0] for text in DECLARATIONS])
def test_a_declaration_of_the_page_is_one_that_a_scenario_can_make(
    block: str, tmp_path: Path
) -> None:
    file = tmp_path / "line.py"
    inputs = 'return {"labels": np.array([1]), "mask": np.array([1]), '
    file.write_text(f"{SCENARIO.replace('return {', inputs, 1)}\n\n{block}")
    assert load(file).title == "A line through two points"


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the explorer with the topic of the page in it."""
    for part in ("explorer", "scenarios", "tests"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, tmp_path / part, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    page = (HOW_TO / "study-and-claim.md").read_text(encoding="utf-8")
    files: dict[str, str] = dict(PYTHON.findall(page))
    topics = tmp_path / "explorer" / "topics"
    (topics / "clipping").mkdir()
    for name in OF_THE_TOPIC:
        (topics / "clipping" / name).write_text(files[name])
    (tmp_path / "tests" / "topics" / "test_clipping.py").write_text(files["test_clipping.py"])
    table = (topics / "__init__.py").read_text(encoding="utf-8")
    entry = 'TOPICS = {\n    "clipping": "explorer.topics.clipping",'
    (topics / "__init__.py").write_text(table.replace("TOPICS = {", entry, 1))
    return tmp_path


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
def test_the_topic_of_the_page_is_a_study_a_claim_and_tests_that_pass(house: Path) -> None:
    commands = {
        "at most": ["explorer", "study", "clipping"],
        "0.6": ["explorer", "claims", "95"],
        " passed": ["pytest", "-q", "tests/topics/test_clipping.py"],
    }
    for shown, command in commands.items():
        own = environment(PYTHONPATH=str(house))
        done = ran(sys.executable, "-m", *command, cwd=house, env=own, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert shown in done.stdout
