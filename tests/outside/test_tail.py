import os

import pytest

from grpo_gui.outside.tail import LineTail


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"")
    return path


def lines(tail, **options):
    return [line.data.decode() for line in tail.lines(**options)]


def append(path, data):
    with path.open("ab") as file:
        file.write(data)


def test_that_a_partial_last_line_is_held_back(path):
    tail = LineTail(path)
    append(path, b"one\ntw")
    assert lines(tail) == ["one"]
    append(path, b"o\nthree")
    assert lines(tail) == ["two"]
    assert lines(tail, final=True) == ["three"]


def test_that_a_truncated_file_is_read_anew(path):
    tail = LineTail(path)
    append(path, b"one\ntwo\n")
    assert lines(tail) == ["one", "two"]
    path.write_bytes(b"new\n")
    assert lines(tail) == ["new"]
    assert tail.segment == 1


def test_that_a_file_that_was_written_anew_and_is_longer_is_read_anew(path):
    tail = LineTail(path)
    append(path, b"one\n")
    lines(tail)
    path.write_bytes(b"another\nand more\n")
    assert lines(tail) == ["another", "and more"]


def test_that_a_rotated_file_is_read_from_its_start(path):
    tail = LineTail(path)
    append(path, b"one\n")
    lines(tail)
    os.replace(path, path.with_suffix(".1"))
    path.write_bytes(b"two\n")
    assert lines(tail) == ["two"]


def test_that_a_later_process_goes_on_where_the_first_one_stopped(path):
    first = LineTail(path)
    append(path, b"one\ntwo\n")
    lines(first)
    append(path, b"three\n")
    second = LineTail(path, identity=first.identity, offset=first.offset, number=first.number)
    (line,) = second.lines()
    assert (line.data, line.number, line.start, line.end) == (b"three", 3, 8, 14)


def test_that_a_later_process_sees_that_the_file_is_another_one(path):
    first = LineTail(path)
    append(path, b"one\ntwo\n")
    lines(first)
    path.write_bytes(b"uno\ndue\ntre\n")
    second = LineTail(path, identity=first.identity, offset=first.offset, number=first.number)
    assert lines(second) == ["uno", "due", "tre"]


def test_that_windows_line_ends_and_empty_lines_are_harmless(path):
    append(path, b"one\r\n\r\ntwo\n")
    assert lines(LineTail(path)) == ["one", "", "two"]
