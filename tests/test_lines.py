import pytest

import tms
from tms.interchange import commits, objects


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b'{"fact":\n', "line 2 is no JSON: Expecting value at character 10."),
        ('{"fact":\n', "line 2 is no JSON: Expecting value at character 10."),
        (b"\xff\xfe\n", "line 2 cannot be read: 'utf-8' codec can't decode byte 0xff"),
        (b'["F:1"]\n', "line 2 is no JSON object: ['F:1']."),
        (b"[" * 100_000, "line 2 cannot be read: it is nested too deeply."),
    ],
)
def test_a_line_that_cannot_be_read_is_named_by_its_number_and_place(line, told):
    with pytest.raises(tms.InvalidContent) as caught:
        list(objects([b'{"source": "F:1"}\n', line]))
    assert caught.value.message.startswith(told)


def test_lines_of_text_or_bytes_are_read_alike_with_or_without_a_byte_order_mark():
    row = {"source": "Föhn:1"}
    for line in ('{"source": "Föhn:1"}', '{"source": "Föhn:1"}'.encode()):
        assert list(objects([line])) == [row]
    assert list(objects([b"\xef\xbb\xbf" + '{"source": "Föhn:1"}'.encode()])) == [row]


@pytest.mark.parametrize("said", [3, None, "now", ["now"]])
def test_a_commit_row_without_an_object_says_what_it_should_be(said):
    rows = (row for group in commits([{"commit": said}]) for row in group.rows)
    with pytest.raises(tms.InvalidContent, match="a commit row has one key and an object in it"):
        next(rows)
