"""What would happen. Random worlds are judged in test_machine.py, by asking and then doing."""

import threading

import pytest
from making import plain

import tms
from benchmarks.families import FAMILIES


@pytest.fixture
def memory() -> tms.Memory:
    memory = tms.open(":memory:")
    memory.source("Feed:1")
    memory.source("Scan:1")
    memory.axiom("Policy:1", id="house")
    memory.justify("Flag:14", "Feed:1", id="feed-14")
    memory.justify("Flag:14", "Scan:1", id="scan-14")
    memory.justify("Flag:22", "Feed:1", id="feed-22")
    memory.justify(["Block:14", "Page:14"], ["Flag:14", "Policy:1"], id="block-14")
    memory.justify("Block:22", ["Flag:22", "Policy:1"], id="block-22")
    return memory


def same(preview: tms.Report, done: tms.Report) -> bool:
    blank = {"after": None, "reason": None, "by": None}
    return preview.to_json() == done.model_copy(update=blank).to_json()


def test_a_preview_is_the_report_that_doing_it_gives(memory: tms.Memory) -> None:
    preview = memory.what_if(retract="Feed:1")
    assert preview.died == ("Block:22", "Flag:22")
    assert [survivor.fact for survivor in preview.survived_via] == ["Flag:14"]
    assert (preview.op, preview.after) == ("retract", None)
    assert memory.what_if(retract="Feed:1") == preview  # nothing was done
    assert same(preview, memory.retract("Feed:1", reason="wrong", by="me"))
    again = memory.what_if(unretract=["Feed:1"])
    assert again.op == "unretract"
    assert same(again, memory.unretract("Feed:1"))


def test_all_three_are_previewed_as_one_commit(memory: tms.Memory) -> None:
    memory.retract("Scan:1")
    preview = memory.what_if(
        retract=["Feed:1", "justification:house"],
        unretract="Scan:1",
        justify=[
            ("Block:22", "Scan:1"),
            {"source": "Phone:1"},
            {"source": "Phone:1", "content": {"number": 7}},
            {"fact": "Flag:22", "content": {"v": 1}},
            {"justification": "call", "premises": ["Phone:1"], "derives": ["Call:1", "Flag:22"]},
            {"axiom": "Rule:1"},
        ],
    )
    with memory.batch() as batch:
        memory.retract(["Feed:1", "justification:house"])
        memory.unretract("Scan:1")
        memory.justify("Block:22", "Scan:1")
        memory.source("Phone:1", content={"number": 7})
        memory.fact("Flag:22", content={"v": 1})
        memory.justify(["Call:1", "Flag:22"], "Phone:1", id="call")
        memory.axiom("Rule:1")
    assert same(preview, batch.report)
    assert preview.revived == ("Call:1", "Rule:1")
    assert [survivor.fact for survivor in preview.survived_via] == [
        "Block:22",
        "Flag:14",
        "Flag:22",
    ]


def test_what_would_change_nothing_is_falsy(memory: tms.Memory) -> None:
    assert not memory.what_if()
    assert not memory.what_if(unretract="Feed:1")
    assert not memory.what_if(retract="Feed:1", unretract="Feed:1")
    assert not memory.what_if(justify=[("Flag:22", ["Feed:1"])]).died
    memory.retract("Feed:1")
    assert not memory.what_if(retract="Feed:1")
    assert memory.what_if(retract="Feed:1").before == memory.head


def test_an_earlier_commit_is_asked_as_it_was(memory: tms.Memory) -> None:
    before = memory.head
    preview = memory.what_if(retract="Feed:1")
    memory.justify("Flag:22", "Scan:1", id="scan-22")
    memory.retract("justification:block-14")
    view = memory.as_of(recorded=before)
    assert view.what_if(retract="Feed:1") == preview
    assert memory.what_if(retract="Feed:1").died == ()
    with pytest.raises(tms.NoSuchJustification):
        view.what_if(retract="justification:scan-22")
    late = view.what_if(justify=[{"justification": "scan-22", "premises": ["Scan:1"],
                                  "derives": ["Flag:22"]}], retract="Feed:1")  # fmt: skip
    assert late.died == ()
    assert late.survived_via[1].via == ("scan-22",)


def test_a_view_names_the_same_support_whatever_is_written_later(memory: tms.Memory) -> None:
    memory.source("S:0")
    memory.justify("F:0", "S:0", id="j1")
    memory.justify("F:6", "S:0", id="j2")
    memory.justify("F:6", "F:0", id="j3")
    memory.axiom("F:6", id="a5")
    view = memory.as_of(recorded=memory.head)
    preview = view.what_if(retract="justification:j2")
    live = memory.what_if(retract="justification:j2")
    memory.source("S:1")
    assert view.what_if(retract="justification:j2") == preview
    assert same(live.model_copy(update={"before": memory.head}), memory.retract("justification:j2"))
    assert view.what_if(retract="justification:j2") == preview


def test_rows_are_refused_in_the_order_in_which_a_load_refuses_them(memory: tms.Memory) -> None:
    unknown, itself = ("Flag:1", "Typo:1"), ("Flag:1", "Flag:1")
    with pytest.raises(tms.NoSuchNode):
        memory.what_if(justify=[unknown, itself])
    with pytest.raises(tms.InvalidJustification):
        memory.what_if(justify=[itself, unknown])


@pytest.mark.parametrize("limit", [2**31, 2**63, 2**200, "1", None, 1.0, True])
def test_a_limit_out_of_range_is_refused_by_every_question(memory: tms.Memory, limit) -> None:
    for ask in (memory.why, memory.why_not, memory.impact, memory.neighbourhood):
        with pytest.raises(tms.InvalidArgument):
            ask("Flag:14", nodes=limit)
    for ask in (memory.environments, memory.cuts):
        with pytest.raises(tms.InvalidArgument):
            ask("Flag:14", limit=limit)
    with pytest.raises(tms.InvalidArgument):
        memory.critical(limit=limit)
    with pytest.raises(tms.InvalidArgument):
        memory.neighbourhood("Flag:14", depth=limit)


def test_inside_a_batch_the_last_commit_is_asked(memory: tms.Memory) -> None:
    preview = memory.what_if(retract="Feed:1")
    with memory.batch():
        memory.retract("Scan:1")
        memory.justify("Flag:22", "Scan:1")
        with memory.batch():
            assert memory.what_if(retract="Feed:1") == preview
            assert memory.impact("Feed:1").died == 2


def test_what_is_wrong_is_refused_as_the_verbs_refuse_it(memory: tms.Memory) -> None:
    before = memory.stats()
    refused = {
        tms.NoSuchNode: {"retract": "Feed:9"},
        tms.NoSuchJustification: {"unretract": "justification:none"},
        tms.InvalidRef: {"retract": "Feed"},
        tms.InvalidJustification: {"justify": [("Flag:1", "Flag:1")]},
        tms.ContentConflict: {"justify": [{"fact": "Feed:1"}]},
        tms.InvalidContent: {"justify": [{"retract": "Feed:1"}]},
    }
    for error, asked in refused.items():
        with pytest.raises(error):
            memory.what_if(**asked)
    for wrong in ("Feed:1", 3, [3], {"fact": "F:1"}, [{}], [("Flag:1",)]):
        with pytest.raises(tms.TMSError):
            memory.what_if(justify=wrong)
    with pytest.raises(tms.NoSuchNode):
        memory.what_if(justify=[("Flag:1", "Typo:1")])
    with pytest.raises(tms.InvalidArgument):
        memory.impact("Feed:1", nodes=-1)
    assert memory.stats() == before


def test_a_preview_goes_on_beside_a_writer_and_writes_nothing(tmp_path) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path) as memory:
        memory.load(FAMILIES["security"].rows(300))
    with tms.open(path, timeout=0) as reader, tms.open(path) as writer:
        preview = reader.what_if(retract="Feed:bad")
        with writer.batch():
            writer.source("New:1")
            assert reader.what_if(retract="Feed:bad") == preview  # no lock is asked for
        stop = threading.Event()
        met: list[BaseException] = []

        def ask() -> None:
            with tms.open(path, read_only=True) as other:
                while not stop.is_set():
                    try:
                        report = other.what_if(retract="Feed:bad")
                        assert len(report.died) + len(report.survived_via) in (0, 450)
                    except BaseException as error:
                        met.append(error)
                        return

        thread = threading.Thread(target=ask)
        thread.start()
        for _ in range(10):
            writer.retract("Feed:bad")
            writer.unretract("Feed:bad")
        stop.set()
        thread.join()
        assert not met


def test_without_its_cache_a_file_answers_as_with_it(tmp_path) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path) as memory:
        memory.load(FAMILIES["rings"].rows(400))
        asked = memory.what_if(retract="Ground:g0"), memory.impact("Ground:g0")
    with plain(path) as shell:
        shell.execute("DROP TABLE cache_label")
    with tms.open(path, read_only=True) as memory:
        assert (memory.what_if(retract="Ground:g0"), memory.impact("Ground:g0")) == asked


@pytest.mark.parametrize("family", ["chain", "fan", "layers", "rings", "security", "memory"])
def test_large_worlds_are_previewed_as_they_fall_at_the_head_and_in_the_past(family: str) -> None:
    with tms.open(":memory:") as memory:
        memory.load(FAMILIES[family].rows(3_000))
        withdrawn = FAMILIES[family].withdrawn
        head = memory.head
        preview = memory.what_if(retract=withdrawn)
        impact = memory.impact(withdrawn)
        memory.source("Late:1")
        view = memory.as_of(recorded=head)
        earlier = view.what_if(retract=withdrawn)
        assert view.impact(withdrawn) == impact
        assert same(memory.what_if(retract=withdrawn), done := memory.retract(withdrawn))
        assert (preview.died, earlier.died) == (done.died, done.died)
        assert [s.via for s in earlier.survived_via] == [s.via for s in done.survived_via]
        assert impact.died == len(done.died)
        assert impact.survived == len(done.survived_via)


def test_impact_accounts_for_every_fact_that_is_believed(memory: tms.Memory) -> None:
    impact = memory.impact("Feed:1")
    assert (impact.died, impact.survived, impact.untouched, impact.out_of_reach) == (2, 1, 2, 1)
    assert impact.believed == memory.stats().believed == 6
    assert [(step.ref, step.fate, step.depth) for step in impact] == [
        ("Flag:14", "survived", 1),
        ("Flag:22", "died", 1),
        ("Block:14", "untouched", 2),
        ("Block:22", "died", 2),
        ("Page:14", "untouched", 2),
    ]
    assert impact.path("Page:14") == (
        *("Feed:1", "justification:feed-14", "Flag:14", "justification:block-14", "Page:14"),
    )
    with pytest.raises(KeyError):
        impact.path("Policy:1")
    assert memory.impact("justification:feed-22").path("Block:22") == (
        *("justification:feed-22", "Flag:22", "justification:block-22", "Block:22"),
    )
    flag = memory.impact("Flag:22")
    assert [(step.ref, step.depth) for step in flag] == [("Flag:22", 0), ("Block:22", 1)]
    assert not memory.impact("Scan:1").died
    memory.retract("Feed:1")
    assert not memory.impact("Feed:1")
    assert memory.impact("Feed:1").out_of_reach == 4


def test_a_limit_cuts_what_is_named_and_not_what_is_counted() -> None:
    with tms.open(":memory:") as memory:
        memory.load(FAMILIES["fan"].rows(1_500))
        impact = memory.impact("Root:0")
        assert (len(impact.reached), impact.died, impact.truncated) == (1_000, 1_500, True)
        assert memory.impact("Root:0", nodes=1_500).truncated is False
        assert memory.impact("Root:0", nodes=0).reached == ()
        assert str(impact).endswith("… more, left out because of a limit")
