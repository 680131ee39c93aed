"""A scenario that is saved again is answered for as it reads now, in workers that know it from before."""

import os
from pathlib import Path

import pytest

from explorer.workers.workers import Workers
from tests.support.engine_requests import answer, each, of_file, values
from tests.support.scenario_files import Side, scenario_text, written
from tests.support.standard_engines import ENGINES


@pytest.mark.parametrize("engine", each(ENGINES))
def test_a_scenario_saved_again_in_the_same_second_is_answered_for_as_it_reads_now(
    workers: Workers, engine: str, tmp_path: Path
) -> None:
    times = None
    for factor in (2, 3):
        side = Side("", f"return ({factor} * x).sum()")
        inputs = 'return {"x": np.array([1.0, -2.0], np.float32)}'
        path = written(tmp_path, scenario_text(inputs, side, side))
        times = times or (path.stat().st_atime_ns, path.stat().st_mtime_ns)
        os.utime(path, ns=times)
        assert values(answer(workers, of_file(path, engine))) == {"dx": [factor, factor]}
