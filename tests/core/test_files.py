"""What may be uploaded, and what a run may have."""

from __future__ import annotations

import pytest

from chalicelib.core import files, ids
from chalicelib.core.errors import InvalidInput, NoRoom
from chalicelib.core.files import ARTIFACTS, INPUTS, MAX_BYTES, OTHER
from chalicelib.core.tools import FileRef
from tests.builders import RUN_ID


@pytest.mark.parametrize("name", ["a.csv", "Übersicht 2026.csv", ".hidden", "a" * 200, "a..b", "ü" * 100])
def test_a_files_name_may_be_any_that_leads_nowhere(name: str) -> None:
    files.check(name, "text/csv", 1)


@pytest.mark.parametrize(
    ("name", "media_type", "size", "code", "field"),
    [
        ("", "text/csv", 1, "text_empty", "name"),
        (" ", "text/csv", 1, "text_empty", "name"),
        ("a" * 201, "text/csv", 1, "text_too_long", "name"),
        ("ü" * 101, "text/csv", 1, "text_too_long", "name"),
        ("../a.csv", "text/csv", 1, "invalid_file_name", "name"),
        ("a\\b.csv", "text/csv", 1, "invalid_file_name", "name"),
        ("..", "text/csv", 1, "invalid_file_name", "name"),
        ("a\n.csv", "text/csv", 1, "invalid_file_name", "name"),
        ("a\x00.csv", "text/csv", 1, "invalid_file_name", "name"),
        ("a\u202evsc.exe", "text/csv", 1, "invalid_file_name", "name"),
        (" a.csv", "text/csv", 1, "invalid_file_name", "name"),
        ("a.html", "text/html", 1, "media_type_not_taken", "media_type"),
        ("a.csv", "text/csv; charset=utf-8", 1, "media_type_not_taken", "media_type"),
        ("a.csv", "text/csv", 0, "out_of_range", "size"),
        ("a.csv", "text/csv", MAX_BYTES + 1, "out_of_range", "size"),
    ],
)
def test_what_is_not_taken_is_refused_by_field(name: str, media_type: str, size: int, code: str, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        files.check(name, media_type, size)

    assert (refused.value.code, refused.value.field) == (code, field)
    assert refused.value.expected


def test_what_a_run_is_given_is_bounded_together() -> None:
    whole = [FileRef(f"{number}", "a", INPUTS.bytes // 5, "text/csv") for number in range(5)]

    files.check_inputs(whole)

    with pytest.raises(InvalidInput) as refused:
        files.check_inputs([*whole, FileRef("6", "a", 1, "text/csv")])
    assert (refused.value.code, refused.value.field) == ("files_too_large", "files")


def test_the_same_content_under_the_same_name_is_the_same_artifact_of_its_run_alone() -> None:
    made = files.artifact(RUN_ID, "plot.png", b"png", "image/png")

    assert ids.is_file_id(made.file_id)
    assert files.artifact(RUN_ID, "plot.png", b"png", "image/png") == made
    others = [(RUN_ID, "plot2.png", b"png"), (RUN_ID, "plot.png", b"pn"), ("run_2", "plot.png", b"png")]
    assert len({files.artifact(*other, "image/png").file_id for other in others} | {made.file_id}) == 4


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("out/plot.png", "plot.png"),
        ("/etc/passwd", "passwd"),
        ("..", "file"),
        ("", "file"),
        ("a\nb", "a_b"),
        ("a\\b", "a_b"),
        ("\udcff.txt", "?.txt"),
        ("ü" * 150, "ü" * 100),
    ],
)
def test_a_tool_may_call_a_file_what_it_likes_and_the_name_fits(given: str, kept: str) -> None:
    assert files.artifact(RUN_ID, given, b"x", "text/plain").name == kept


def test_an_artifact_of_a_type_that_is_not_taken_is_just_bytes() -> None:
    assert files.artifact(RUN_ID, "a.html", b"<script>", "text/html").media_type == OTHER


def test_an_artifact_that_is_too_large_or_one_too_many_finds_no_room() -> None:
    file = files.artifact(RUN_ID, "a", b"x" * MAX_BYTES, OTHER)

    files.check_room(ARTIFACTS.count - 1, ARTIFACTS.bytes - file.size, file)

    for count, size in ((ARTIFACTS.count, 0), (0, ARTIFACTS.bytes - file.size + 1)):
        with pytest.raises(NoRoom):
            files.check_room(count, size, file)
    with pytest.raises(NoRoom):
        files.artifact(RUN_ID, "a", b"x" * (MAX_BYTES + 1), OTHER)
