from pathlib import Path

import pytest

from schedlab.base.errors import StoreError, UsageError
from schedlab.base.files import read_bytes, read_json, read_text


def test_no_more_is_read_than_a_file_may_hold(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"x" * (1 << 20))
    assert read_bytes(file, 1 << 20) == b"x" * (1 << 20)
    with pytest.raises(UsageError, match="f: is longer than 0 MiB, the most that is read"):
        read_bytes(file, (1 << 20) - 1)
    with pytest.raises(StoreError, match="longer than 1 MiB"):
        read_bytes(Path("/dev/zero"), 1 << 20, StoreError)


def test_what_is_no_text_or_json_is_named(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b'{"a": 1}')
    assert read_json(file, 100) == {"a": 1}
    for content, why in ((b"\xff", "not UTF-8"), (b"{", "not JSON"), (b"[" * 99_999, "not JSON")):
        file.write_bytes(content)
        with pytest.raises(UsageError, match=f"f: is {why}"):
            read_json(file, 1 << 20)
    with pytest.raises(UsageError, match=r"none: cannot be read: No such file"):
        read_text(tmp_path / "none", 100)
