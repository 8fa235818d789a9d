"""lookalike pairs --bits."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike import similar_bits
from lookalike.errors import OptionError
from lookalike.runs import RunRecord

HASHES = ["ffff0000", "ffff0001", "0000ffff", "ffff0000", "ffff0007"]


@pytest.fixture
def photos(tmp_path):
    rows = [f"{place},{bits}" for place, bits in zip("pqrst", HASHES, strict=True)]
    (tmp_path / "photos.csv").write_text("\n".join(["photo,phash", *rows]) + "\n")
    return tmp_path / "photos.csv"


@pytest.mark.parametrize(
    ("more", "options"),
    [
        ((), {}),
        (("--threshold", "1"), {"threshold": 1}),
        (("--measure", "jaccard", "--threshold", "0.9"), {"measure": "jaccard", "threshold": 0.9}),
        (("--method", "exact", "--copies", "stars"), {"method": "exact", "copies": "stars"}),
    ],
)
def test_the_command_finds_what_the_library_finds(type_, photos, tmp_path, more, options):
    out = tmp_path / "out"
    given = ("pairs", photos, "--bits", "--text", "phash", "--id", "photo", *more)
    ended = type_(*given, "-o", out)
    assert (ended.code, ended.err) == (0, "")
    expected = similar_bits(photos, column="phash", id="photo", **options)
    assert len(expected) > 0
    assert pq.read_table(out / "pairs.parquet").to_pylist() == expected.to_arrow().to_pylist()
    record = RunRecord.read(out)
    record.verify(out)
    assert record.counts["rows"] == 5
    assert record.counts["pairs"] == len(expected)
    assert "all near pairs found" in ended.out


def test_lines_of_a_text_file_and_two_collections(type_, tmp_path):
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text("\n".join(HASHES[:2]) + "\n")
    other.write_text("\n".join(HASHES[2:]) + "\n")
    ended = type_("pairs", one, "--with", other, "--bits", "-o", tmp_path / "out", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["counts"]["near_pairs"] == 4
    rows = pq.read_table(tmp_path / "out" / "pairs.parquet").to_pylist()
    found = [(row["a"], row["b"], row["distance"]) for row in rows]
    assert found == [
        (f"{one}:{a}", f"{other}:{b}", apart) for a, b, apart in [(0, 1, 0), (0, 2, 3), (1, 1, 1), (1, 2, 2)]
    ]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--threshold", "-1"), "-1"),
        (("--measure", "angle"), "angle"),
        (("--sets",), "--sets"),
        (("--distance", "20"), "--distance"),
        (("--shingle", "words:3"), "--shingle"),
        (("--not-copies", "0.2"), "--not-copies"),
        (("--text", "nothing"), "nothing"),
        (("--text", "photo"), "hexadecimal"),
    ],
)
def test_bad_input_is_named_and_leaves_nothing(refused, photos, tmp_path, more, said):
    text = () if "--text" in more else ("--text", "phash")
    message = refused("pairs", photos, "--bits", *text, *more, "-o", tmp_path / "out")
    assert said in message
    assert sorted(tmp_path.iterdir()) == [photos]


@pytest.mark.parametrize("name", ["hashes.csv", "hashes.txt", "hashes.jsonl"])
def test_rows_that_are_no_bits_of_the_common_width_are_skipped_and_counted(type_, refused, tmp_path, name):
    given, out = tmp_path / name, tmp_path / "out"
    good, bad = HASHES[:2], ["ffff00", "0xffff0000ff", "what"]
    strings = [bad[2], good[0], *bad[:2], f" 0x{good[1].upper()} "]
    if name.endswith("csv"):
        given.write_text("\n".join(["bits", *strings]) + "\n")
    elif name.endswith("jsonl"):
        given.write_text("".join(json.dumps({"bits": string}) + "\n" for string in [*strings, None]))
    else:
        given.write_text("\n".join([*strings, ""]) + "\n")
    skipped = 3 if name.endswith("csv") else 4
    ended = type_("pairs", given, "--bits", "--on-error", "skip", "-o", out)
    assert ended.code == 0
    assert f"{skipped} rows could not be read" in ended.err
    assert "'what', not hexadecimal" in ended.err
    rows = pq.read_table(out / "pairs.parquet").to_pylist()
    assert rows == [{"a": f"{given}:1", "b": f"{given}:4", "distance": 1}]
    counts = RunRecord.read(out).counts
    assert (counts["rows"], counts["unreadable"], counts["pairs"]) == (2, skipped, 1)
    assert refused("pairs", given, "--bits", "-o", tmp_path / "other")


@pytest.fixture
def fingerprints(tmp_path):
    """The same 64 bits in files of every kind, some near and some copies, and what brute force finds."""
    draw = np.random.default_rng(2)
    numbers = draw.integers(0, 1 << 63, 60).astype(np.uint64)
    numbers = np.concatenate(
        [numbers, numbers[:30] ^ (np.uint64(1) << draw.integers(0, 64, 30).astype(np.uint64))]
    )
    numbers = np.concatenate([numbers, numbers[20:40]])
    binaries = [int(number).to_bytes(8, "big") for number in numbers]
    folder = tmp_path / "given"
    folder.mkdir()
    np.save(folder / "numbers.npy", numbers)
    np.save(folder / "bytes.npy", np.array([list(row) for row in binaries], np.uint8))
    (folder / "digits.hex").write_text("".join(row.hex() + "\n" for row in binaries))
    ids = [f"r{row:03}" for row in range(len(numbers))]
    table = {"number": pa.array(numbers), "packed": pa.array(binaries), "id": ids}
    pq.write_table(pa.table(table), folder / "columns.parquet")
    truth = {
        (a, b): (int(numbers[a]) ^ int(numbers[b])).bit_count()
        for a in range(len(numbers))
        for b in range(a + 1, len(numbers))
    }
    return folder, {pair: apart for pair, apart in truth.items() if apart <= 2}


GIVEN = [("numbers.npy", ()), ("bytes.npy", ()), ("digits.hex", ())]
GIVEN += [("columns.parquet", ("--text", name, "--id", "id")) for name in ("number", "packed")]


def numbered(out):
    rows = pq.read_table(out / "pairs.parquet").to_pylist()
    return {tuple(int(row[end].rsplit(":")[-1].strip("r")) for end in "ab"): row["distance"] for row in rows}


@pytest.mark.parametrize(("name", "more"), GIVEN)
def test_packed_bits_in_files_give_what_brute_force_finds(type_, fingerprints, tmp_path, name, more):
    folder, truth = fingerprints
    given = ("pairs", folder / name, "--bits", "-t", "2", *more, "--memory", "16MB")
    assert type_(*given, "-o", tmp_path / "out").code == 0
    assert numbered(tmp_path / "out") == truth


@pytest.mark.parametrize("name", ["numbers.npy", "bytes.npy", "digits.hex"])
def test_collections_of_two_kinds_are_compared(type_, fingerprints, tmp_path, name):
    folder, truth = fingerprints
    given = ("pairs", folder / "bytes.npy", "--with", folder / name, "--bits", "-t", "2")
    assert type_(*given, "-o", tmp_path / "out").code == 0
    both = truth | {(b, a): apart for (a, b), apart in truth.items()}
    assert numbered(tmp_path / "out") == both | {(row, row): 0 for row in range(110)}


def test_collections_of_two_widths_are_refused(refused, fingerprints, tmp_path):
    np.save(tmp_path / "narrow.npy", np.zeros((3, 4), np.uint8))
    given = ("pairs", fingerprints[0] / "bytes.npy", "--with", tmp_path / "narrow.npy", "--bits")
    assert "bits of 64 and of 32 do not compare" in refused(*given, "-o", tmp_path / "out")


def test_the_first_row_may_be_the_odd_one(type_, refused, tmp_path):
    (tmp_path / "x.hex").write_text("\n".join(["ffff", *HASHES]) + "\n")
    given = ("pairs", tmp_path / "x.hex", "--bits")
    assert "line 2: 'bits' has 8 hexadecimal digits where the first row has 4" in refused(
        *given, "-o", tmp_path / "out"
    )
    ended = type_(*given, "--on-error", "skip", "-o", tmp_path / "out")
    assert "line 1: 'bits' has 4 hexadecimal digits where most rows have 8" in ended.err
    assert RunRecord.read(tmp_path / "out").counts["rows"] == len(HASHES)


def test_a_digits_column_may_be_the_id(type_, photos, tmp_path):
    lines = photos.read_text().splitlines()
    photos.write_text("\n".join(lines[:4]) + "\n")
    given = ("pairs", photos, "--bits", "--text", "phash", "--id", "phash", "-o", tmp_path / "out")
    assert type_(*given).code == 0
    assert pq.read_table(tmp_path / "out" / "pairs.parquet").to_pylist() == [
        {"a": "ffff0000", "b": "ffff0001", "distance": 1}
    ]


@pytest.mark.parametrize("name", ["b.npy", "b.hex"])
def test_a_column_is_refused_where_no_collection_has_one(refused, type_, tmp_path, name):
    np.save(tmp_path / "b.npy", np.array([7, 8], np.uint64))
    (tmp_path / "b.hex").write_text(f"{7:016x}\n{8:016x}\n")
    (tmp_path / "b.csv").write_text(f"phash\n{7:016x}\n")
    said = refused("pairs", "--bits", tmp_path / name, "--text", "phash", "-o", tmp_path / "near")
    assert said == "--text phash names a column, and what was given has none: leave it out"
    # Another collection may need it.
    beside = ["--bits", tmp_path / name, "--with", tmp_path / "b.csv", "--text", "phash"]
    assert type_("pairs", *beside, "-o", tmp_path / "near").code == 0
    with pytest.raises(OptionError, match="column='phash' names a column"):
        similar_bits(tmp_path / name, column="phash")
    with pytest.raises(OptionError, match="column='phash' names a column"):
        similar_bits(np.array([7, 8], np.uint64), column="phash")
