"""csv and tsv: what Python's csv module reads, with every byte kept."""

import csv
import io

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lookalike.errors import MalformedRowError, MissingColumnError, SourceError
from lookalike.io import as_values, open_files, records

relaxed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

fields = st.text(alphabet='ab,"\t\n\r é€0', max_size=6)
two_fields = st.tuples(fields, fields)


def written(rows, *, delimiter=",", line_break="\n", quoting=csv.QUOTE_MINIMAL) -> bytes:
    # Python before 3.13 leaves bare returns unquoted, which no reader can tell from the end of a row.
    if any("\r" in field for row in rows for field in row):
        quoting = csv.QUOTE_ALL
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=line_break, quoting=quoting).writerows(rows)
    return out.getvalue().encode()


@relaxed
@given(
    rows=st.lists(two_fields, min_size=1, max_size=10),
    line_break=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    delimiter=st.sampled_from([",", "\t"]),
    data=st.data(),
)
def test_any_csv_is_read_and_written_back_byte_by_byte(
    tmp_path_factory, read_all, rows, line_break, quoting, delimiter, data
):
    folder = tmp_path_factory.mktemp("csv")
    header = written([["text", "other"]], delimiter=delimiter, line_break=line_break)
    records_of_rows = [
        written([row], delimiter=delimiter, line_break=line_break, quoting=quoting) for row in rows
    ]
    bom = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    blank = data.draw(st.sampled_from([b"", line_break.encode()]))
    path = folder / ("a.csv" if delimiter == "," else "a.tsv")
    path.write_bytes(bom + header + blank + blank.join(records_of_rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "STEP", data.draw(st.sampled_from([1, 5, 1 << 18])))
        source = open_files(path, columns=["other"])
        table = read_all(source, data.draw(st.sampled_from([3, 40, 1 << 20])))
        assert list(zip(*table.to_pydict().values(), strict=True)) == rows

        mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
        (kept,) = source.write_kept(folder / "kept", mask)
    expected = b"".join(record for record, keep in zip(records_of_rows, mask, strict=True) if keep)
    assert kept.read_bytes() == bom + header + expected


@relaxed
@given(
    content=st.lists(st.sampled_from([b'"', b",", b"\n", b"\r\n", b"a", b'""', b'"a"', b"\r"]), max_size=30)
)
@example(content=[b'"a"', b"\r\n", b'"', b"\n", b'"', b"\r"])
def test_whatever_the_bytes_every_way_to_cut_them_finds_the_same_rows(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes(b"text,b\nfirst,row\n" + b"".join(content))
    outcomes = []
    for step in (1, 4, 1 << 18):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(records, "STEP", step)
            source = open_files(path, columns=["b"], on_error="skip")
            table = pa.Table.from_batches(list(source.scan(1 if step < 9 else 1 << 20)))
            (kept,) = source.write_kept(path.parent / f"kept{step}", np.ones(source.read, dtype=bool))
            outcomes.append((table.to_pydict(), source.unreadable, kept.read_bytes()))
    assert outcomes[0] == outcomes[1] == outcomes[2]
    # What was kept is sound, and reads the same again.
    again = open_files(kept, columns=["b"])
    assert pa.Table.from_batches(list(again.scan())).to_pydict() == table.to_pydict()


def test_nothing_is_retyped(tmp_path, read_all):
    path = tmp_path / "a.csv"
    path.write_text("id,text,n\n007,NULL,1.50\n08,,true\n")
    source = open_files(path, id="id", columns=["n"])
    assert read_all(source).to_pydict() == {"text": ["NULL", ""], "id": ["007", "08"], "n": ["1.50", "true"]}
    assert source.ids(np.array([0])).to_pylist() == ["007"]


def test_strings_that_are_all_numbers_can_be_had_as_numbers(tmp_path, read_all):
    path = tmp_path / "a.csv"
    path.write_text("text,n,m\na,10, 5\nb,9.5,x\n")
    table = read_all(open_files(path, columns=["n", "m"]))
    assert as_values(table["n"]).to_pylist() == [10.0, 9.5]
    assert as_values(table["m"]).to_pylist() == [" 5", "x"]
    assert as_values(pa.chunked_array([[1, 2]])).type == pa.int64()


BROKEN = {
    "too few fields": (b"only one", "1 field where the header has 2"),
    "too many fields": (b"a,b,c", "3 fields where the header has 2"),
    "a quote after a closing quote": (b'"a" b,c', "a quote or a carriage return is out of place"),
    "a bare return": (b"a\rb,c", "a quote or a carriage return is out of place"),
    "not UTF-8": (b"a\xff,b", "byte 0xff at offset 1"),
}


@pytest.mark.parametrize(("row", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_row_is_named_with_file_and_line(tmp_path, read_all, step, row, reason):
    path = tmp_path / "a.csv"
    path.write_bytes(b'text,b\n"two\nlines",x\n\n' + row + b"\nlast,y\n")
    with pytest.raises(MalformedRowError, match=rf"a\.csv, line 5: .*{reason}"):
        read_all(open_files(path))
    source = open_files(path, on_error="skip")
    assert read_all(source)["text"].to_pylist() == ["two\nlines", "last"]
    assert source.unreadable.rows == 1
    (kept,) = source.write_kept(tmp_path / "kept", np.array([True, True]))
    assert kept.read_bytes() == b'text,b\n"two\nlines",x\nlast,y\n'


def test_a_quote_never_closed_is_named_where_it_opens(tmp_path, read_all, step):
    path = tmp_path / "a.csv"
    path.write_bytes(b'text,b\na,x\n"open,y\nc,z\n')
    with pytest.raises(MalformedRowError, match="line 3: a quoted field is never closed"):
        read_all(open_files(path))
    source = open_files(path, on_error="skip")
    assert read_all(source)["text"].to_pylist() == ["a", "c"]


def test_quotes_inside_plain_fields_are_read_as_they_stand(tmp_path, read_all, step):
    path = tmp_path / "a.csv"
    path.write_text('text,b\n5" disk,x\nsay "hi",y\n')
    assert read_all(open_files(path))["text"].to_pylist() == ['5" disk', 'say "hi"']


def test_fields_longer_than_a_block_are_read(tmp_path, read_all):
    texts = ["x" * (3 << 20), 'with "quotes"\nand lines ' * 200_000]
    path = tmp_path / "a.csv"
    path.write_bytes(written([["text"], *([text] for text in texts)]))
    assert read_all(open_files(path))["text"].to_pylist() == texts


def test_a_missing_column_is_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,Text\n1,a\n")
    with pytest.raises(MissingColumnError, match=r"it has id, Text\. Did you mean 'Text'"):
        open_files(path)


def test_a_column_named_twice_is_refused_only_if_it_is_wanted(tmp_path, read_all):
    path = tmp_path / "a.csv"
    path.write_text("text,x,x\na,1,2\n")
    assert read_all(open_files(path))["text"].to_pylist() == ["a"]
    with pytest.raises(SourceError, match="2 columns called 'x'"):
        open_files(path, columns=["x"])


def test_a_header_that_cannot_be_read_makes_the_file_unreadable(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("text,b\n".encode("utf-16"))
    with pytest.raises(SourceError, match=r"a\.csv: .*header on line 1 cannot be read: not UTF-8: byte 0xff"):
        open_files(path)
