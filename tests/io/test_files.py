"""Files, folders, globs, standard input: which are read, in which order, under which names."""

import errno
import gzip
import io
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.errors import (
    DuplicateIdError,
    EmptySourceError,
    InternalError,
    MalformedRowError,
    MissingColumnError,
    OptionError,
    SourceError,
)
from lookalike.io import open_files, open_source
from lookalike.io.stream import COMPRESSIONS, read_stream, write_stream


def write_jsonl(path, texts, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"text": text, **{name: values[at] for name, values in columns.items()}}
        for at, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A folder `data` with files of several kinds, seen from its parent."""
    data = tmp_path / "data"
    write_jsonl(data / "b.jsonl", ["b0", "b1"])
    write_jsonl(data / "a" / "deep.ndjson", ["d0"])
    write_jsonl(data / ".hidden.jsonl", ["hidden"])
    write_jsonl(data / ".cache" / "x.jsonl", ["hidden"])
    (data / "README.md").write_text("not data")
    (data / "c.txt").write_text("c0\nstill c0\n")
    (data / "t.csv").write_text("text\nt0\n")
    monkeypatch.chdir(tmp_path)
    return data


def labels(source):
    return [file.label for file in source.files]


def test_a_folder_is_searched_in_sorted_order_and_what_is_passed_over_is_counted(tree, read_all):
    source = open_files("data")
    assert labels(source) == ["data/a/deep.ndjson", "data/b.jsonl", "data/c.txt", "data/t.csv"]
    assert read_all(source)["text"].to_pylist() == ["d0", "b0", "b1", "c0\nstill c0\n", "t0"]
    assert source.passed_over == 1
    assert source.format == "csv+jsonl+txt"
    assert source.bytes == sum(file.path.stat().st_size for file in source.files)


def test_the_order_of_the_inputs_does_not_matter_and_a_file_is_read_once(tree):
    one = open_files(["data/t.csv", "data", "data/*.jsonl", "data/b.jsonl"])
    two = open_files(["data/b.jsonl", "data/t.csv", "data/**/*.*"])
    assert labels(one) == labels(two) == ["data/a/deep.ndjson", "data/b.jsonl", "data/c.txt", "data/t.csv"]


def test_without_an_id_column_a_row_is_path_and_row(tree):
    source = open_files("data")
    assert source.ids(np.array([4, 0, 2, 1])).to_pylist() == [
        "data/t.csv:0",
        "data/a/deep.ndjson:0",
        "data/b.jsonl:1",
        "data/b.jsonl:0",
    ]


def test_kept_files_have_the_names_they_have_below_what_was_given(tree, tmp_path):
    everything = np.ones(5, dtype=bool)
    for given in ("data", "data/**", str(tree), ["data/*.*", "data/*/*.ndjson"]):
        source = open_files(given)
        target = tmp_path / "kept"
        written = [path.relative_to(target).as_posix() for path in source.write_kept(target, everything)]
        assert written == ["a/deep.ndjson", "b.jsonl", "c.txt", "t.csv"]
        assert (target / "c.txt").read_bytes() == (tree / "c.txt").read_bytes()
        for path in written:
            (target / path).unlink()


def test_files_that_would_be_called_the_same_are_kept_apart(tmp_path):
    for name in ("x", "y"):
        write_jsonl(tmp_path / name / "a.jsonl", [name])
    source = open_files([tmp_path / "x", tmp_path / "y"])
    written = source.write_kept(tmp_path / "kept", np.ones(2, dtype=bool))
    assert written == [tmp_path / "kept" / "x" / "a.jsonl", tmp_path / "kept" / "y" / "a.jsonl"]


def test_a_text_file_that_is_dropped_is_not_copied(tree, tmp_path):
    source = open_files("data/c.txt")
    assert source.write_kept(tmp_path / "kept", np.array([False])) == []


@pytest.mark.parametrize(("suffix", "codec"), [(".gz", "gzip"), (".zst", "zstd")])
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.txt"])
def test_compressed_files_stay_compressed(tmp_path, read_all, suffix, codec, name):
    content = {"a.jsonl": '{"text": "ü"}\n', "a.csv": "text\nü\n", "a.tsv": "text\nü\n", "a.txt": "ü"}[name]
    path = tmp_path / (name + suffix)
    with pa.output_stream(path, compression=codec) as stream:
        stream.write(content.encode())
    source = open_files(path)
    assert read_all(source)["text"].to_pylist() == ["ü"]
    (kept,) = source.write_kept(tmp_path / "kept", np.array([True]))
    assert kept.name == path.name
    with pa.input_stream(kept, compression=codec) as stream:
        assert stream.read() == content.encode()


def test_files_of_several_formats_agree_on_the_type_of_an_id(tmp_path, read_all):
    write_jsonl(tmp_path / "a.jsonl", ["a"], key=[1])
    pq.write_table(pa.table({"text": ["b"], "key": pa.array([2], pa.int32())}), tmp_path / "b.parquet")
    source = open_files(tmp_path, id="key")
    assert read_all(source).schema.field("id").type == pa.int64()

    (tmp_path / "c.csv").write_text("text,key\nc,003\n")
    source = open_files(tmp_path, id="key")
    assert read_all(source)["id"].to_pylist() == ["1", "2", "003"]
    assert source.ids(np.array([2])).to_pylist() == ["003"]


def test_a_column_that_begins_empty_takes_the_type_it_has_elsewhere(tmp_path, read_all):
    write_jsonl(tmp_path / "a.jsonl", ["a"], score=[None])
    write_jsonl(tmp_path / "b.jsonl", ["b"], score=[2])
    assert read_all(open_files(tmp_path, columns=["score"]))["score"].to_pylist() == [None, 2.0]


def test_empty_files_among_others_have_no_rows(tmp_path, read_all):
    write_jsonl(tmp_path / "b.jsonl", ["b"])
    for name in ("a.jsonl", "c.csv"):
        (tmp_path / name).touch()
    (tmp_path / "d.csv").write_text("text\n")
    source = open_files(tmp_path)
    assert read_all(source)["text"].to_pylist() == ["b"]
    assert source.ids(np.array([0])).to_pylist() == [f"{tmp_path}/b.jsonl:0"]
    written = source.write_kept(tmp_path / "kept", np.array([True]))
    assert [path.read_text() for path in written] == ["", '{"text": "b"}\n', "", "text\n"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.jsonl.gz"])
def test_nothing_to_read_is_an_error(tmp_path, read_all, name):
    (tmp_path / name).write_bytes(gzip.compress(b"") if name.endswith(".gz") else b"")
    with pytest.raises(EmptySourceError, match="nothing to read"):
        read_all(open_files(tmp_path))


def test_a_folder_without_readable_files_says_what_could_be_read(tmp_path):
    (tmp_path / "a.docx").touch()
    with pytest.raises(EmptySourceError, match=r"\.parquet, \.jsonl, .*\.txt.*\.gz or \.zst"):
        open_files(tmp_path)


def test_a_glob_that_matches_nothing_is_an_error(tmp_path):
    with pytest.raises(EmptySourceError, match=r"no readable file matches .*\*\.jsonl"):
        open_files(tmp_path / "*.jsonl")


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(SourceError, match=r"there is no file or folder .*missing\.jsonl"):
        open_files(tmp_path / "missing.jsonl")


@pytest.mark.parametrize("name", ["a.docx", "a", "a.parquet.gz", "a.gz", "a.jsonl.bz2"])
def test_a_file_of_unknown_kind_is_refused_by_name(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(SourceError, match=r"no kind that can be read: files end in \.parquet, \.jsonl"):
        open_files(tmp_path / name)


def test_no_input_at_all_is_an_error():
    with pytest.raises(OptionError, match="no input was named"):
        open_files([])


def test_an_unknown_way_with_errors_is_refused(tree):
    with pytest.raises(OptionError, match="on_error='ignore' is unknown: choose raise or skip"):
        open_files("data", on_error="ignore")


def test_text_files_have_no_columns(tree):
    with pytest.raises(MissingColumnError, match=r"no column 'key'.*one document"):
        open_files("data/c.txt", id="key")


def test_a_text_file_that_is_not_utf8_is_named(tmp_path, read_all):
    (tmp_path / "a.txt").write_bytes(b"fine")
    (tmp_path / "b.txt").write_bytes("ü".encode("latin-1"))
    with pytest.raises(MalformedRowError, match=r"b\.txt: 'text' is not UTF-8: byte 0xfc at offset 0"):
        read_all(open_files(tmp_path))
    source = open_files(tmp_path, on_error="skip")
    assert read_all(source)["text"].to_pylist() == ["fine"]
    assert source.rows == 2
    assert [path.name for path in source.write_kept(tmp_path / "kept", np.array([True]))] == ["a.txt"]


def test_a_byte_order_mark_is_no_text(tmp_path, read_all):
    (tmp_path / "a.txt").write_text("a", encoding="utf-8-sig")
    assert read_all(open_files(tmp_path))["text"].to_pylist() == ["a"]


def test_many_small_files_come_in_few_batches(tmp_path):
    for number in range(300):
        (tmp_path / f"{number:03}.txt").write_text(str(number))
    (batch,) = open_files(tmp_path).scan()
    assert batch["text"].to_pylist() == [str(number) for number in range(300)]


def test_links_to_folders_are_followed_and_a_loop_ends(tmp_path):
    write_jsonl(tmp_path / "far" / "a.jsonl", ["a"])
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "near").symlink_to(tmp_path / "far")
    (tmp_path / "far" / "loop").symlink_to(tmp_path / "data")
    assert labels(open_files(tmp_path / "data")) == [f"{tmp_path}/data/near/a.jsonl"]


def test_names_in_another_encoding_can_be_ids(tmp_path):
    name = os.fsdecode(b"caf\xe9.jsonl")
    write_jsonl(tmp_path / name, ["a"])
    assert open_files(tmp_path).ids(np.array([0])).to_pylist() == [rf"{tmp_path}/caf\udce9.jsonl:0"]


def test_duplicate_ids_are_named_with_both_places(tmp_path, read_all):
    write_jsonl(tmp_path / "a.jsonl", ["a", "b"], key=["x", "y"])
    write_jsonl(tmp_path / "b.jsonl", ["c", "d"], key=["z", "y"])
    with pytest.raises(DuplicateIdError, match=r"id 'y' occurs twice, at .*a\.jsonl:1 and at .*b\.jsonl:1"):
        read_all(open_files(tmp_path, id="key"))


def test_a_file_that_changed_meanwhile_is_not_mixed_with_what_was_read(tmp_path, read_all):
    path = write_jsonl(tmp_path / "a.jsonl", ["a", "b"])
    source = open_files(path)
    read_all(source)
    write_jsonl(path, ["a", "b", "c"])
    with pytest.raises(SourceError, match="was changed while"):
        source.write_kept(tmp_path / "kept", np.ones(2, dtype=bool))
    path.unlink()
    with pytest.raises(SourceError, match="is gone"):
        source.write_kept(tmp_path / "kept", np.ones(2, dtype=bool))
    with pytest.raises(SourceError, match="cannot be read"):
        read_all(source)


def test_a_mask_of_the_wrong_length_is_our_mistake(tree, tmp_path):
    with pytest.raises(InternalError):
        open_files("data").write_kept(tmp_path / "kept", np.ones(3, dtype=bool))


def test_kept_rows_of_files_can_be_had_as_a_table(tree):
    source = open_files("data")
    assert source.kept(np.array([True, False, True, False, True]))["text"].to_pylist() == ["d0", "b1", "t0"]


def test_if_nothing_can_be_read_the_first_reason_is_told(tmp_path, read_all):
    (tmp_path / "a.jsonl").write_text("oops\n")
    with pytest.raises(
        EmptySourceError, match=r"1 row and 0 files were skipped; the first was .*a\.jsonl, line 1"
    ):
        read_all(open_files(tmp_path, on_error="skip"))


def test_standard_input_is_jsonl_and_can_be_read_twice(tmp_path, monkeypatch, read_all):
    stream = io.BytesIO(b'{"text": "a"}\n{"text": "b"}\n')
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream))
    with open_files(["-"], scratch=tmp_path) as source:
        assert read_all(source).equals(read_all(source))
        assert source.ids(np.array([1])).to_pylist() == ["-:1"]
        (kept,) = source.write_kept(tmp_path / "kept", np.array([False, True]))
        assert (kept.name, kept.read_text()) == ("standard-input.jsonl", '{"text": "b"}\n')
        path = source.files[0].path
        assert path.exists()
    assert not path.exists()
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept"]


def test_standard_input_and_files_do_not_mix(tree):
    with pytest.raises(OptionError, match="standard input"):
        open_files(["data", "-"])


def test_one_string_or_paths_name_files_and_a_list_of_strings_is_documents(tree, read_all):
    assert labels(open_source("data/b.jsonl")) == ["data/b.jsonl"]
    assert labels(open_source([tree / "b.jsonl", tree / "t.csv"])) == [f"{tree}/b.jsonl", f"{tree}/t.csv"]
    assert read_all(open_source(["data/b.jsonl"]))["text"].to_pylist() == ["data/b.jsonl"]
    with pytest.raises(OptionError, match="paths and strings"):
        open_source([tree, "data"])
    with pytest.raises(SourceError, match="there is no file or folder a text instead") as missing:
        open_source("a text instead of a path")
    assert "list" in missing.value.__notes__[0]


def test_what_the_system_does_not_let_us_read_is_refused_or_counted(tmp_path, read_all):
    write_jsonl(tmp_path / "a.jsonl", ["one", "two"])
    os.symlink("nowhere", tmp_path / "b.jsonl")
    with pytest.raises(SourceError, match=r"b\.jsonl: .*a link to what is not there\)"):
        open_files(tmp_path)
    source = open_files(tmp_path, on_error="skip")
    assert read_all(source)["text"].to_pylist() == ["one", "two"]
    assert source.unreadable.files == 1
    assert "b.jsonl" in source.unreadable.places[0].path
    # It is none of the files that a later run would look for.
    assert source.paths == [tmp_path / "a.jsonl"]
    os.unlink(tmp_path / "a.jsonl")
    with pytest.raises(EmptySourceError, match="0 rows and 1 file were skipped"):
        open_files(tmp_path, on_error="skip")


@pytest.mark.parametrize("name", ["pipe.jsonl", "pipe.csv", "pipe.txt", "pipe.parquet"])
def test_a_pipe_is_refused_or_counted_and_nobody_waits_for_its_writer(tmp_path, read_all, name):
    write_jsonl(tmp_path / "a.jsonl", ["one"])
    os.mkfifo(tmp_path / name)
    for given in (tmp_path, tmp_path / name):
        with pytest.raises(SourceError, match=rf"{name}: .*a pipe or a device"):
            open_files(given)
    source = open_files(tmp_path, on_error="skip")
    assert read_all(source)["text"].to_pylist() == ["one"]
    assert source.unreadable.files == 1


def test_files_of_others_are_refused_or_counted(tmp_path, monkeypatch):
    write_jsonl(tmp_path / "a.jsonl", ["one"])
    write_jsonl(tmp_path / "b.jsonl", ["two"])
    # Root may read whatever there is.
    monkeypatch.setattr(os, "access", lambda path, mode: os.path.basename(path) != "b.jsonl")
    with pytest.raises(SourceError, match=r"b\.jsonl: it cannot be read \(Permission denied\)"):
        open_files(tmp_path)
    source = open_files(tmp_path, on_error="skip")
    assert (source.read, source.unreadable.files) == (1, 1)


def test_an_input_without_a_name_is_not_the_folder_we_are_in(tree):
    with pytest.raises(OptionError, match="has no name"):
        open_files([""])


def test_a_name_that_the_system_cannot_look_for_is_an_error(tmp_path, monkeypatch):
    def denied(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", denied)
    with pytest.raises(SourceError, match=r"cannot look for .*a\.jsonl: Permission denied"):
        open_files(tmp_path / "a.jsonl")


@pytest.mark.parametrize("name", [b"caf\xe9.jsonl", b"caf\xe9.csv.gz", b"caf\xe9.txt.zst"])
def test_files_of_names_in_another_encoding_are_read_and_kept(tmp_path, name):
    given = os.fsdecode(os.path.join(os.fsencode(tmp_path), name))
    content = b'{"text": "x"}\n' if b"jsonl" in name else b"text\nx\n"
    with write_stream(Path(given), COMPRESSIONS.get(Path(given).suffix)) as out:
        out.write(content)
    source = open_files(given)
    kept = source.write_kept(tmp_path / "kept", np.ones(source.read, bool))
    assert [os.fsencode(path.name) for path in kept] == [name]
    with read_stream(kept[0], COMPRESSIONS.get(kept[0].suffix)) as stream:
        assert bytes(stream.read(100)) == content


def test_parquet_of_a_name_in_another_encoding_is_refused(tmp_path):
    pq.write_table(pa.table({"text": ["x"]}), tmp_path / "a.parquet")
    os.rename(tmp_path / "a.parquet", os.path.join(os.fsencode(tmp_path), b"caf\xe9.parquet"))
    with pytest.raises(SourceError, match=r"caf\\udce9\.parquet: .*not UTF-8.*rename it"):
        open_files(tmp_path)
