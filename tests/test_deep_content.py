import pytest

import tms


def nested(depth, wrap):
    content = {"leaf": 1}
    for _ in range(depth - 1):
        content = wrap(content)
    return content


WRAPS = [
    pytest.param(lambda inner: {"in": inner}, id="objects"),
    pytest.param(lambda inner: {"in": [inner]}, id="lists too"),
]


@pytest.mark.parametrize("wrap", WRAPS)
def test_content_too_deep_to_be_read_back_is_refused_before_it_is_written(wrap):
    with tms.open(":memory:") as memory:
        for depth in (101, 300, 5_000, 100_000):
            with pytest.raises(tms.InvalidContent, match="nested"):
                memory.source("Feed:1", content=nested(depth, wrap))
        assert memory.head is None


def test_the_deepest_content_that_is_kept_has_a_json_form_everywhere():
    with tms.open(":memory:") as memory:
        content = nested(100, lambda inner: {"in": inner})
        memory.source("Feed:1", content=content)
        assert memory.get("Feed:1").content == content
        for result in (memory.get("Feed:1"), memory.scan(), memory.history("Feed:1")[0]):
            assert str(content).replace("'", '"').replace(" ", "") in result.to_json()
