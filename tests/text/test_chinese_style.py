"""How Chinese is written: blanks, punctuation, and one term for one thing, as the glossary has them."""

import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from explorer.blocks.markdown import markdown
from explorer.blocks.records import Span, fill, plain
from explorer.report.claims.pages import board_markdown, claim_section
from explorer.report.claims.wording import row_as_read
from explorer.report.recorded.results import recorded_board, recorded_study
from explorer.report.scenario.page import case_line, report_html, report_markdown
from explorer.report.study import study_blocks
from explorer.text.language import Template, _, named, said_in
from explorer.topics import claims, study_topic
from explorer.topics.studies import target
from tests.support.catalogues import DOMAINS, entries
from tests.support.command_line import ROOT
from tests.support.sample_report import report

PLACE = re.compile(r"(?<!\{)\{\w+[^{}]*\}")

CODE = re.compile(r"`[^`]*`")

NEEDLESS_BLANK = re.compile("[一-鿿] +[一-鿿]|[，。；：？！（、] | [，。；：？！）、]")

NO_BLANK = re.compile("[一-鿿][A-Za-z0-9`]|[A-Za-z0-9`][一-鿿]")

HALF_WIDTH = re.compile("[一-鿿][,;:?!]|[,;:?!][一-鿿]")

ALSO_IN_PAGES = {
    "运行统计量": "滑动统计量",
    "(?<!梯度)发散": "分歧",
    "视作已修正": "若已修正",
    "最大差值": "最大差异",
    "未尝试": "未试验",
    "笔记本": "notebook",
}

TERMS = {
    **ALSO_IN_PAGES,
    r"(?<!保留)计算图(?!”页|$)": "梯度图，计算图是页面的名称，也是 PyTorch 的 retain_graph 所保留的图",
    "基准": "参照",
    "结论|说法|陈述": "判定（verdict），论断（claim）",
    "答案": "结果",
    "(?<!静态)图模式": "静态图方式，MindSpore 自己的静态图模式",
    "规约": "归约",
    "簿记": "辅助",
    "叶子": "叶张量",
    "其他分歧|第一处分歧|第一个分歧": "首个分歧点，其余分歧",
    "已证明": "已证实",
    "不可导点": "折点",
    "意外(?!之处)": "不符合预期",
    r"没有(命令|引擎|论断|研究|选项|主题|语言|名为) ?['{]": "未知的……",
    r"(?<![\w(.{])shape(?![\w=}])": "形状",
    "源码": "源代码",
    "悄悄|默默|静默": "没有提示",
    "您": "请……",
    "可用的有|可选：": "可用：",
    r"，(给出|收到|返回)的是|却是 \{": "但得到",
    "必须是|(?<!必)须为": "必须为",
    "引擎.{0,3}(拒绝|都报错)": "均报错",
    "(?<!包含)在对方算子内": "包含在对方算子内",
    "以秒计|正的(秒|兆字节)数": "（秒），（单位：秒）",
    "图对": "对比的引擎，两张图",
    r"是不是 \{": "是不是想输入",
    r"(?<![\w{.])(mindspore|torch) 的": "MindSpore，PyTorch",
    r"动态图的(节点|生命周期|内存)|动态图占用": "tape，动态图是方式的名称",
    "操作符|运算符": "算子",
}
"""What texts have been, and the term of the glossary that they have now."""

ENTRIES = [(entry.english[0], entry.chinese) for domain in DOMAINS for entry in entries(domain)]


def filled(text: str, value: str) -> str:
    whole = Template(PLACE.sub("{x}", text)).format_map(defaultdict(lambda: value))
    return CODE.sub("`x`", whole).replace("*", "")


def test_no_blank_is_between_chinese_and_chinese_whatever_fills_a_place() -> None:
    assert len(ENTRIES) > 3000
    for _english, text in ENTRIES:
        for value in ("两个引擎", "（两个引擎）", "a 引擎"):
            shown = filled(text, value)
            assert not NEEDLESS_BLANK.search(shown), shown


def test_a_blank_is_between_chinese_and_latin_words_and_punctuation_is_full_width() -> None:
    for _english, text in ENTRIES:
        assert not NO_BLANK.search(filled(text, "两")), text
        # A list in brackets is code.
        assert not HALF_WIDTH.search(re.sub(r"\[[^\]]*\]", "[]", filled(text, "x"))), text


@pytest.mark.parametrize("variant", TERMS)
def test_one_term_for_one_thing(variant: str) -> None:
    found = [text for _english, text in ENTRIES if re.search(variant, CODE.sub("", text))]
    assert found == [], TERMS[variant]


def test_a_sentence_of_two_catalogues_is_the_same_in_both() -> None:
    said: dict[str, set[str]] = defaultdict(set)
    for english, chinese in ENTRIES:
        if english.count(" ") > 3:
            said[english].add(chinese)
    assert [english for english, chinese in said.items() if len(chinese) > 1] == []


@pytest.mark.parametrize(
    ("engines", "text"),
    [
        ("torch-tape", "参照与 torch-tape 不同"),
        ("两个动态图引擎", "参照与两个动态图引擎不同"),
        ("MindSpore 的两个引擎", "参照与 MindSpore 的两个引擎不同"),
        ("引擎（两个）", "参照与引擎（两个）不同"),
        ("{x}", "参照与 {x} 不同"),
    ],
)
def test_a_blank_beside_a_place_is_there_for_latin_names_alone(engines: str, text: str) -> None:
    template = Template("参照与 {engines} 不同")
    assert template.format(engines=engines) == text
    assert template.format_map({"engines": engines}) == text
    assert plain(fill(template, engines=(Span(engines, "code"),))) == text
    assert plain(fill(template, engines=engines)) == text


def test_blanks_of_values_stay_as_they_are() -> None:
    template = Template("{title} 的场景 {name}")
    assert template.format(title="两个 网络", name="甲 乙") == "两个 网络的场景甲 乙"


def test_english_texts_keep_the_blanks_between_chinese_values() -> None:
    assert (
        _("{name} {value} is unknown; there are {allowed}")
        .format(name="甲", value="乙", allowed="")
        .startswith("甲 乙 is")
    )
    with said_in("zh"):
        assert _("{n} {verdict}").format(n=3, verdict="一致") == "3 个一致"


def test_names_are_listed_with_the_mark_of_the_language() -> None:
    assert named(("a", "b", "c")) == "a, b, c"
    assert named(()) == ""
    with said_in("zh"):
        assert named(("a", "b", "c")) == "a、b、c"


PAGES = sorted((ROOT / "docs" / "zh").glob("*.md"))

FENCED = re.compile(r"^(`{3,}).*?^\1$", re.DOTALL | re.MULTILINE)

STARTS_A_LINE = re.compile(r"[-*#|]|\d+\. ")
"""How a line of Markdown begins that does not continue the one before."""


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_a_chinese_paragraph_is_one_line(page: Path) -> None:
    # A break in the middle of a sentence is shown as a blank.
    prose = FENCED.sub("\n", page.read_text(encoding="utf-8"))
    lines = prose.splitlines()
    broken = []
    for before, line in pairwise(lines):
        if before.strip() and line.strip() and not STARTS_A_LINE.match(line):
            broken.append(line)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_the_prose_of_a_page_has_blanks_as_texts_have_them(page: Path) -> None:
    prose = FENCED.sub("\n", page.read_text(encoding="utf-8"))
    for line in prose.splitlines():
        assert not re.search("[一-鿿] +[一-鿿]", CODE.sub("`x`", line)), line


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_a_page_has_one_term_for_one_thing(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [ALSO_IN_PAGES[variant] for variant in ALSO_IN_PAGES if re.search(variant, text)] == []


def pages() -> dict[str, str]:
    board = recorded_board(claims().values())
    study = recorded_study(study_topic("operators"), target(study_topic("operators"), None, "cpu"))
    assert board is not None
    assert study is not None
    with said_in("zh"):
        sections = [claim_section(board, row_as_read(row)) for row in board.rows]
        return {
            "claims": markdown(sections),
            "board": board_markdown(board),
            "study": markdown(list(study_blocks(study))),
            "report": report_markdown(report(), {}),
            "HTML": re.sub(r"<style>.*?</style>|<[^>]+>", "\n", report_html(report())),
            "cases": "\n".join(plain(case_line(case)) for case in report().cases),
        }


@pytest.mark.whole
def test_whole_pages_have_no_blank_between_chinese_and_chinese() -> None:
    for name, page in pages().items():
        assert re.search("[一-鿿]", page), name
        prose = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
        assert re.findall("[一-鿿] +[一-鿿]", prose) == [], name
