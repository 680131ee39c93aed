"""Answers that are equal stand together."""

from explorer.topics.agreement import grouped


def test_each_answer_stands_once_with_all_who_gave_it() -> None:
    answers = {"graph": [1, 2], "tape": [3], "torch": [1, 2]}
    assert grouped(answers) == [(["graph", "torch"], [1, 2]), (["tape"], [3])]


def test_nobody_answers_nothing() -> None:
    assert grouped({}) == []
