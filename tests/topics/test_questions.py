"""What studies and claims are declared with: questions and topics; without a framework."""

import dataclasses
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from explorer.model.claim import Listing, Observation, Ruling
from explorer.model.failures import Failure
from explorer.model.measurement import Ask, Found, Measured
from explorer.model.study import Chart, Table
from explorer.topics import TOPICS, topic
from explorer.topics.boards import _board, judged, needed
from explorer.topics.evidence import Evidence
from explorer.topics.in_worker import run
from explorer.topics.measurements import measure
from explorer.topics.question import LOOKED_AT, PARTIES, Target
from explorer.topics.topic import Topic
from explorer.words.claims import evidence_text
from explorer.workers.workers import Workers
from tests.support.tellings import telling_text


@pytest.fixture
def weather() -> Topic:
    """A topic about nothing."""
    return Topic(name="weather", package="tests.weather")


def outcome(**figures: Any) -> Measured:
    return Measured(outcome="ok", figures=figures)


LOST = Measured(outcome="crashed", error=Failure("crashed", "signal 11"))

MINDSPORE, TORCH = "weather.rain.mindspore", "weather.rain.torch"


def drops(mindspore: int | Measured, torch: int) -> dict[str, Measured]:
    """How many drops both answer, or what became of MindSpore's measurement."""
    first = outcome(drops=mindspore) if isinstance(mindspore, int) else mindspore
    return {MINDSPORE: first, TORCH: outcome(drops=torch)}


def test_a_question_is_one_measurement_a_party(weather: Topic) -> None:
    rain = weather.ask("rain", ("mindspore-graph", "torch", "keras"), options={"hours": 3})
    graph, torch, keras = rain.measurements(Target(device="cuda:0"))
    assert graph.name == "weather.rain.mindspore-graph"
    assert (graph.kind, graph.target) == ("mindspore", "tests.weather.in_mindspore:rain")
    assert graph.options == {"style": "graph", "hours": 3}
    assert (torch.target, torch.options) == ("tests.weather.in_torch:rain", {"hours": 3})
    assert (keras.kind, keras.target) == ("torch", "tests.weather.in_keras:rain")
    assert {graph.device, torch.device, keras.device} == {"cuda:0"}


@pytest.mark.parametrize(
    ("program", "target"),
    [
        ("", "tests.weather.in_torch:rain"),
        ("drops", "tests.weather.in_torch:drops"),
        ("clouds:drops", "tests.weather.in_torch_clouds:drops"),
        ({"torch": "elsewhere:drops"}, "tests.weather.elsewhere:drops"),
    ],
)
def test_a_program_is_named_by_convention_or_in_full(
    weather: Topic, program: str | dict[str, str], target: str
) -> None:
    (measurement,) = weather.ask("rain", ("torch",), program=program).measurements(Target())
    assert measurement.target == target


def test_options_and_workers_of_one_party_are_its_own(weather: Topic) -> None:
    rain = weather.ask(
        "rain",
        ("mindspore", "torch"),
        options={"hours": 3},
        options_of={"torch": {"hours": 4}},
        kinds={"mindspore": "mindspore-capture"},
    )
    first, second = rain.measurements(Target())
    assert (first.kind, first.options) == ("mindspore-capture", {"hours": 3})
    assert (second.kind, second.options) == ("torch", {"hours": 4})


def test_a_question_about_the_scenario_looked_at_needs_one(weather: Topic) -> None:
    rain = weather.ask("rain", ("torch",), scenario=LOOKED_AT)
    (there,) = rain.measurements(Target(scenario="/nets/mine.py"))
    assert there.scenario == "/nets/mine.py"
    (fixed,) = rain.on("dense_mse").measurements(Target())
    assert Path(fixed.scenario).name == "dense_mse.py"
    with pytest.raises(ValueError, match=r"weather\.rain is about a scenario"):
        rain.measurements(Target())


def test_a_question_is_not_asked_on_a_scenario_that_another_is_always_about(weather: Topic) -> None:
    rain = weather.ask("rain", ("torch",), scenario=LOOKED_AT, unless_on="/nets/wave.py")
    assert rain.measurements(Target("/nets/wave.py")) == []
    (elsewhere,) = rain.measurements(Target("/nets/mine.py"))
    assert elsewhere.scenario == "/nets/mine.py"


def test_a_question_can_be_put_to_some_of_its_parties_alone(weather: Topic) -> None:
    rain = weather.ask("rain", ("mindspore", "torch"))
    (alone,) = rain.by("torch").measurements(Target())
    assert alone.name == "weather.rain.torch"
    assert rain.by("torch") != rain
    with pytest.raises(ValueError, match="not asked of keras; of mindspore, torch"):
        rain.by("keras")


def test_a_question_is_asked_once(weather: Topic) -> None:
    weather.ask("rain", ("torch",))
    with pytest.raises(ValueError, match="weather asks 'rain' twice"):
        weather.ask("rain", ("mindspore",))


def test_what_needs_an_answer_is_told_only_when_everybody_gave_it(weather: Topic) -> None:
    rain = weather.ask("rain", ("mindspore", "torch"))

    @weather.finding(rain)
    def finding(evidence: Evidence) -> Iterator[str]:
        yield f"{evidence[rain]['torch']['drops']} drops"

    @weather.finding()
    def about_anything(evidence: Evidence) -> Iterator[str]:
        yield f"{len(evidence[rain])} answered"

    @weather.table(rain)
    def table(evidence: Evidence) -> Iterator[Table]:
        yield Table(title="rain", columns=("drops",), rows=((2,),))

    @weather.chart(rain)
    def chart(evidence: Evidence) -> Iterator[Chart]:
        yield Chart(name="rain", title="rain", kind="bars", x="", y="drops")

    telling = telling_text(weather, Evidence(drops(LOST, 2)))
    assert (telling.findings, telling.tables, telling.charts) == (("1 answered",), (), ())

    telling = telling_text(weather, Evidence(drops(1, 2)))
    assert telling.findings == ("2 drops", "2 answered")
    assert [table.title for table in telling.tables] == ["rain"]
    assert [chart.name for chart in telling.charts] == ["rain"]


def claim_about_rain(weather: Topic, id: int = 7, heading: str = "networks") -> None:
    rain = weather.questions.get("rain") or weather.ask("rain", ("mindspore", "torch"))

    @weather.claim(
        id,
        "It rains.",
        heading=heading,
        guides=("000",),
        would="drops",
        asks=(rain,),
        expects={"drops": 2},
    )
    def it_rains(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
        holds = all(answer["drops"] == expects["drops"] for answer in evidence[rain].values())
        seen = (Observation("rain", "seen", ("mindspore",), holds),)
        return Ruling("holds" if holds else "does_not_hold", seen, "Take an umbrella.")


def test_a_claim_is_judged_on_its_own_questions_and_the_guide_s_figures(weather: Topic) -> None:
    claim_about_rain(weather)
    claim = weather.claims[7]
    assert [measurement.name for measurement in needed([claim])] == [MINDSPORE, TORCH]
    assert judged(claim, drops(2, 2)).verdict == "holds"
    assert judged(claim, drops(2, 3)).verdict == "does_not_hold"


def test_a_claim_whose_question_was_lost_has_no_verdict_and_says_why(weather: Topic) -> None:
    claim_about_rain(weather)
    row = judged(weather.claims[7], drops(LOST, 2))
    assert row.verdict is None
    assert evidence_text(row) == f"could not be run: {MINDSPORE}: crashed: signal 11"
    assert row.measured == (MINDSPORE, TORCH)


def test_code_that_two_parties_ran_alike_stands_once_in_the_row(weather: Topic) -> None:
    claim_about_rain(weather)
    names = (MINDSPORE, TORCH)
    alike = Measured(outcome="ok", figures={"drops": 2}, printed="rain(1)\n")
    row = judged(weather.claims[7], dict.fromkeys(names, alike))
    assert row.printed == (Listing("rain(1)\n", names),)
    assert row.meant == ()

    repaired = msgspec.structs.replace(alike, meant="rain(2)\n")
    row = judged(weather.claims[7], {names[0]: alike, names[1]: repaired})
    assert row.meant == (Listing("rain(2)\n", names[1:]),)


def test_code_that_could_not_be_run_to_its_end_is_shown_too(weather: Topic) -> None:
    claim_about_rain(weather)
    raised = msgspec.structs.replace(LOST, outcome="raised", printed="rain(1)\n")
    row = judged(weather.claims[7], drops(raised, 2))
    assert row.verdict is None
    assert row.printed == (Listing("rain(1)\n", (MINDSPORE,)),)


def test_the_worker_takes_printed_and_meant_code_from_the_program_s_module(weather: Topic) -> None:
    rain = weather.ask(
        "rain",
        ("torch",),
        program={"torch": "topics.test_questions:rain"},
        printed="rain_as_printed",
        meant="rain_as_meant",
    )
    (measurement,) = dataclasses.replace(rain, package="tests").measurements(Target())
    measured = run(measurement)
    assert measured.figures == {"printed": 1, "meant": 2}
    printed, helper = inspect.getsource(rain_as_printed), inspect.getsource(one)
    assert measured.printed == f"{printed}\n\n{helper}"
    assert measured.meant == inspect.getsource(rain_as_meant)
    assert printed in measured.code


def rain(ask: Ask) -> Found:
    return Found({"printed": rain_as_printed(), "meant": rain_as_meant()})


def rain_as_printed() -> int:
    """Not rain_as_meant: what is only spoken of is not shown."""
    return one()


def one() -> int:
    return 1


def rain_as_meant() -> int:
    return 2


def test_a_row_is_judged_once_and_stands_under_a_heading_of_the_board(weather: Topic) -> None:
    claim_about_rain(weather)
    with pytest.raises(ValueError, match="weather judges row 7 twice"):
        claim_about_rain(weather)
    with pytest.raises(ValueError, match="claim 8 stands under 'clouds'; the board has gradients"):
        claim_about_rain(weather, id=8, heading="clouds")


def test_a_board_is_dated_by_the_first_of_its_measurements() -> None:
    measured = {
        "late": Measured(outcome="ok", date="2026-03-01"),
        "early": Measured(outcome="ok", date="2026-02-01"),
        "between": Measured(outcome="ok", date="2026-02-15"),
    }
    assert _board((), measured, {}).date == "2026-02-01"


def test_two_measurements_of_one_name_are_refused(weather: Topic) -> None:
    (first,) = weather.ask("rain", ("torch",)).measurements(Target())
    (other,) = (
        Topic(name="weather", package="elsewhere").ask("rain", ("torch",)).measurements(Target())
    )
    with (
        Workers() as workers,
        pytest.raises(ValueError, match=r"two measurements are called weather\.rain"),
    ):
        measure([first, other], workers)


@pytest.mark.parametrize("name", TOPICS)
def test_every_topic_declares_programs_that_are_there(name: str) -> None:
    target = Target(scenario="net.py")
    for measurement in topic(name).measurements(target):
        module, _, function = measurement.target.partition(":")
        path = Path(*module.split(".")).with_suffix(".py")
        assert f"def {function}(" in path.read_text(encoding="utf-8"), measurement.name
        assert measurement.name.rpartition(".")[2] in PARTIES
