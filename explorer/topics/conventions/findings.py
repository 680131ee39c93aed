"""What the study finds of conventions: what each framework gives, and who chooses alike."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from explorer.model.engines import (
    FRAMEWORK_LABELS,
    FRAMEWORKS,
    NEEDED,
    Framework,
    framework_of,
)
from explorer.model.message import Message, Text
from explorer.model.study import Table
from explorer.topics.attempts import raised
from explorer.topics.cells import missing, sentences, yes_or_no
from explorer.topics.conventions.names import NAMES
from explorer.topics.conventions.questions import ASKED, KINKS, TOPIC
from explorer.topics.evidence import EMPTY, Evidence, grouped
from explorer.topics.messages import Messages
from explorer.topics.operators.findings_kinks import gradient
from explorer.topics.operators.kink_functions import KINKS as KINK_TABLE
from explorer.topics.operators.wording import digits, label, short
from explorer.topics.question import PARTIES, Question

say = Messages("conventions")

JOINING = tuple(name for name in FRAMEWORKS if name not in NEEDED)
"""The frameworks that join where they are installed."""

AT_KINKS = "kinks"


@dataclass(frozen=True)
class Choice:
    """One convention, and what each party that was asked gave: a figure, or what it raised."""

    group: str
    what: Text
    answers: Mapping[str, Any]

    def of(self, framework: str) -> dict[str, Any]:
        """What the parties of one framework gave."""
        return {name: each for name, each in self.answers.items() if home(name) == framework}

    @property
    def is_shared(self) -> bool:
        """Whether all parties give the same."""
        return len(grouped(_keys(self.answers))) == 1


def home(party: str) -> Framework | None:
    """The framework that a party belongs to."""
    return framework_of(PARTIES[party].kind)


def choices(evidence: Evidence) -> Iterator[Choice]:
    """Every convention that somebody gave an answer on, group by group."""
    for group, names in NAMES.items():
        answers = evidence[ASKED[group]]
        for name in names:
            given = {party: figures[name] for party, figures in answers.items() if name in figures}
            if given:
                yield Choice(group, say(f"{group}.{name}"), given)
    yield from kinks(evidence)


def kinks(evidence: Evidence) -> Iterator[Choice]:
    """The kinks, with the value and the gradient that each engine gave there."""
    for kink in KINK_TABLE.values():
        answers = evidence[KINKS[kink.group]]
        given = {
            party: figures[kink.name]["found"]
            for party, figures in answers.items()
            if kink.name in figures
        }
        if given:
            yield Choice(AT_KINKS, Message(f"operators.kink {kink.name}"), given)


# What is the same


def key(answer: Any) -> str:
    """What is the same when two answers agree: numbers in four digits; refusals are alike."""
    if raised(answer):
        return "raises"
    if isinstance(answer, dict):
        return f"{digits(answer['value'])} {digits(answer['gradient'])}"
    if answer is None or isinstance(answer, (bool, str)):
        return str(answer)
    return digits(answer)


def _keys(answers: Mapping[str, Any]) -> dict[str, str]:
    return {party: key(answer) for party, answer in answers.items()}


def alike(choice: Choice, framework: str) -> list[str]:
    """The parties of other frameworks that give what one framework gives in all of its styles."""
    own = set(_keys(choice.of(framework)).values())
    if len(own) != 1:
        return []
    return [
        party
        for party, answer in choice.answers.items()
        if home(party) != framework and key(answer) in own
    ]


def wholly_alike(choice: Choice, framework: str) -> tuple[Framework, ...]:
    """The other frameworks of which every party gives what this one gives."""
    same = set(alike(choice, framework))
    others = [name for name in FRAMEWORKS if name != framework and choice.of(name)]
    return tuple(name for name in others if set(choice.of(name)) <= same)


# In words


def words(answer: Any, *, with_value: bool = False) -> Text:
    """An answer as a reader has it; of a kink its gradient, behind the value where that is wanted."""
    if isinstance(answer, dict) and not raised(answer):
        slope = gradient(answer)
        if with_value:
            return Message(
                "operators.value_and_gradient",
                {"value": digits(answer["value"]), "gradient": slope},
            )
        return slope
    return answer if isinstance(answer, str) else short(answer)


def cell(choice: Choice, framework: str) -> Text:
    """What one framework gives; each of its styles where they differ."""
    given = choice.of(framework)
    if not given:
        return EMPTY
    values = [each["value"] for each in choice.answers.values() if _has_value(each)]
    in_words = partial(words, with_value=len({digits(value) for value in values}) > 1)
    groups = grouped(_keys(given))
    if len(groups) == 1:
        return in_words(next(iter(given.values())))
    parts = []
    for parties, _ in groups:
        parts.append(say("of", who=named(parties), what=in_words(given[parties[0]])))
    return say("parts", parts=tuple(parts))


def _has_value(answer: Any) -> bool:
    return isinstance(answer, dict) and not raised(answer)


def named(parties: Iterable[str]) -> Text:
    """The names of some parties of one framework."""
    return say("listed", names=tuple(map(label, parties)))


def company(choice: Choice, framework: str) -> Text:
    """With whom one framework goes."""
    own = choice.of(framework)
    if not own:
        return EMPTY
    if len(grouped(_keys(own))) > 1:
        return say("split")
    same = alike(choice, framework)
    if not same:
        return say("nobody")
    whole = wholly_alike(choice, framework)
    if choice.is_shared:
        return say("everybody")
    labels: list[Text] = [FRAMEWORK_LABELS[name] for name in whole]
    labels.extend(label(party) for party in same if home(party) not in whole)
    return say("listed", names=tuple(labels))


# Findings


@TOPIC.finding()
def shared_choices(evidence: Evidence) -> Iterator[Message]:
    """On how many choices all that were asked agree."""
    every = list(choices(evidence))
    if every:
        shared = sum(choice.is_shared for choice in every)
        yield say("shared", shared=shared, of=len(every))


@TOPIC.finding()
def not_asked(evidence: Evidence) -> Iterator[Message]:
    """Which framework was not asked, since it is not found."""
    asked = {home(party) for question in _questions() for party in evidence.asked(question)}
    for framework in JOINING:
        if asked and framework not in asked:
            yield say("not_asked", framework=FRAMEWORK_LABELS[framework])


def _questions() -> tuple[Question, ...]:
    return (*ASKED.values(), *KINKS.values())


@TOPIC.finding()
def choices_alike(evidence: Evidence) -> Iterator[Message]:
    """How often a framework that joins chooses as others do."""
    every = list(choices(evidence))
    for framework in JOINING:
        answered = [choice for choice in every if choice.of(framework)]
        if answered:
            ways = tuple(_counts(answered, framework))
            yield say("alike", framework=FRAMEWORK_LABELS[framework], of=len(answered), ways=ways)


def _counts(answered: list[Choice], framework: str) -> Iterator[Message]:
    """How many choices one framework shares with which others, the most first."""
    counts: dict[tuple[Framework, ...], int] = {}
    for choice in answered:
        whole = wholly_alike(choice, framework)
        counts[whole] = counts.get(whole, 0) + 1
    for whole, n in sorted(counts.items(), key=lambda item: -item[1]):
        if whole:
            yield say("with", n=n, who=tuple(FRAMEWORK_LABELS[name] for name in whole))
        else:
            yield say("with_none", n=n)


@TOPIC.finding()
def referee(evidence: Evidence) -> Iterator[Message]:
    """Where the two that are always compared differ, and with whom a joining framework goes there."""
    for group in (AT_KINKS, *NAMES):
        parted = [
            choice for choice in choices(evidence) if choice.group == group and _parts(choice)
        ]
        if parted:
            who = tuple(FRAMEWORK_LABELS[name] for name in NEEDED)
            whats = tuple(choice.what for choice in parted)
            yield say("parted", group=say(f"{group}.title"), who=who, n=len(parted), whats=whats)
            yield from _sides_of_each(parted)


def _sides_of_each(parted: list[Choice]) -> Iterator[Message]:
    for framework in JOINING:
        answered = [choice for choice in parted if choice.of(framework)]
        if answered:
            ways = tuple(_sides(answered, framework))
            yield say("referee", framework=FRAMEWORK_LABELS[framework], ways=ways)


def _parts(choice: Choice) -> bool:
    """Whether a choice parts the frameworks that are always compared."""
    given = [set(_keys(choice.of(name)).values()) for name in NEEDED]
    return all(given) and any(each != given[0] for each in given)


def _sides(answered: list[Choice], framework: str) -> Iterator[Message]:
    """The choices of each side, by the framework that this one goes with; none counts too."""
    sides: dict[tuple[Framework, ...], list[Text]] = {}
    for choice in answered:
        sides.setdefault(wholly_alike(choice, framework), []).append(choice.what)
    for name in NEEDED:
        if (name,) in sides:
            whats = tuple(sides[name,])
            yield say("side", n=len(whats), who=FRAMEWORK_LABELS[name], whats=whats)
    if () in sides:
        yield say("side_none", n=len(sides[()]), whats=tuple(sides[()]))


# Tables


@TOPIC.table()
def table_of_each_group(evidence: Evidence) -> Iterator[Table[Text]]:
    """What each framework gives, and with whom those go that join."""
    every = list(choices(evidence))
    for group in (*NAMES, AT_KINKS):
        of_group = [choice for choice in every if choice.group == group]
        questions = [ASKED[group]] if group in ASKED else list(KINKS.values())
        if of_group:
            yield _table(group, of_group, evidence, questions)


def _table(
    group: str, of_group: list[Choice], evidence: Evidence, questions: list[Question]
) -> Table[Text]:
    asked = [question.by(*evidence.asked(question)) for question in questions]
    here = {home(party) for question in asked for party in question.asks}
    frameworks = [name for name in FRAMEWORKS if name in here]
    joining = [name for name in JOINING if name in here]
    rows = []
    for choice in of_group:
        cells = [cell(choice, name) for name in frameworks]
        sides = [company(choice, name) for name in joining]
        rows.append((choice.what, *cells, yes_or_no(choice.is_shared), *sides))
    heads: list[Text] = [FRAMEWORK_LABELS[name] for name in frameworks]
    goes: list[Text] = [say("goes_with", framework=FRAMEWORK_LABELS[name]) for name in joining]
    return Table[Text](
        title=say(f"{group}.title"),
        columns=(say("choice"), *heads, say("agree"), *goes),
        rows=tuple(rows),
        note=sentences(say(f"{group}.note"), missing(evidence, *asked)),
    )
