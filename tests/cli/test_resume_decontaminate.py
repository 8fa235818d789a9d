"""decontaminate that is killed goes on, with the same answer; and needs no memory for the training files."""

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.killing import answer, interrupt, killed, steps_of_a_run

from lookalike.applications.decontaminate import parts, search
from lookalike.applications.decontaminate.sought import TestItems
from lookalike.cli import main

KILLS = 8


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Test items, and training documents of which every seventh holds a piece of one."""
    folder = tmp_path_factory.mktemp("files")
    draw = random.Random(2)
    words = [f"w{n}" for n in range(400)]
    test = [" ".join(draw.choices(words, k=30)) for _ in range(40)]
    train = [" ".join(draw.choices(words, k=60)) for _ in range(300)]
    for at in range(0, 300, 7):
        train[at] += " " + " ".join(test[at % 40].split()[: 10 + at % 21])
    pq.write_table(
        pa.table({"name": [f"t{at * 7 % 40:02}" for at in range(40)], "text": test}), folder / "t.parquet"
    )
    for part in range(2):
        pq.write_table(pa.table({"text": train[part::2]}), folder / f"train{part}.parquet")
    return folder


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(parts, "PART_BYTES", 20_000)
    monkeypatch.setattr(search, "BATCH_BYTES", 3_000)


def arguments(files, out, *more):
    return [
        *("decontaminate", str(files / "t.parquet"), "--id", "name", "--with", str(files / "train0.parquet")),
        *(str(files / "train1.parquet"), "-o", str(out), "--progress", "off", *more),
    ]


def stopped_before_writing(monkeypatch, files, out, *more):
    with monkeypatch.context() as patch:
        patch.setattr("lookalike.applications.decontaminate.DecontaminateResult.write_into", interrupt)
        assert main(arguments(files, out, *more)) == 130
    return out.parent / f".{out.name}.unfinished"


def test_a_run_killed_anywhere_ends_as_one_never_killed(monkeypatch, files, tmp_path):
    whole = tmp_path / "whole"
    count = steps_of_a_run(monkeypatch, *arguments(files, whole))
    assert len(answer(whole)["pairs.parquet"]) > 20
    draw = random.Random(1)
    for moment in sorted(draw.sample(range(1, count + 1), KILLS)):
        out = tmp_path / f"out{moment}"
        assert killed(monkeypatch, moment, *arguments(files, out))
        again = arguments(files, out, "--resume", "--overwrite")
        if moment % 3 == 0:
            killed(monkeypatch, draw.randrange(1, count), *again)
        assert main(again) == 0
        assert answer(out) == answer(whole)
        assert not (tmp_path / f".{out.name}.unfinished").exists()


def test_what_is_searched_is_not_searched_again(monkeypatch, files, tmp_path, capsys):
    whole, out = tmp_path / "whole", tmp_path / "out"
    assert main(arguments(files, whole)) == 0
    unfinished = stopped_before_writing(monkeypatch, files, out)
    stages = sorted(unfinished.glob("search-*.stage"))
    assert len(stages) > 3
    # A part that is damaged is searched again, and only that.
    content = bytearray(stages[1].read_bytes())
    content[len(content) // 2] ^= 1
    stages[1].write_bytes(content)
    searched = []
    look = TestItems.__call__
    with monkeypatch.context() as patch:
        # Another size of batches: where parts end must not depend on it.
        patch.setattr(search, "BATCH_BYTES", 5_000)
        patch.setattr(
            TestItems, "__call__", lambda self, batch: searched.append(len(batch)) or look(self, batch)
        )
        assert main(arguments(files, out, "--resume", "--threads", "1", "--memory", "20MB")) == 0
    assert 0 < sum(searched) < 100
    assert "going on" in capsys.readouterr().err
    assert answer(out) == answer(whole)


def test_other_options_or_training_files_are_refused(monkeypatch, files, tmp_path, capsys):
    out = tmp_path / "out"
    stopped_before_writing(monkeypatch, files, out)
    for more, said in [(["--run", "9"], "run"), (["--with", str(files / "t.parquet")], "not as often")]:
        capsys.readouterr()
        assert main(arguments(files, out, "--resume", *more)) == 2
        assert said in capsys.readouterr().err
    assert main(arguments(files, out, "--resume")) == 0


def test_memory_is_bounded_and_changes_nothing(monkeypatch, files, tmp_path):
    monkeypatch.setattr(search, "BATCH_BYTES", 4 << 20)
    assert main(arguments(files, tmp_path / "whole")) == 0
    sizes = []
    look = TestItems.__call__
    monkeypatch.setattr(search, "_TIMES", 2_000)
    monkeypatch.setattr(
        TestItems, "__call__", lambda self, batch: sizes.append(batch["text"].nbytes) or look(self, batch)
    )
    assert main(arguments(files, tmp_path / "small", "--memory", "16MB", "--threads", "2")) == 0
    assert len(sizes) > 50
    assert max(sizes) < 16_000_000 // 4 / 2_000 + 400
    assert answer(tmp_path / "small") == answer(tmp_path / "whole")


def test_test_items_that_do_not_fit_are_refused_with_what_does(tmp_path, capsys):
    words = random.Random(0).choices([f"w{n}" for n in range(9_999)], k=100_000)
    (tmp_path / "test.txt").write_text(
        "\n".join(" ".join(words[at : at + 20]) for at in range(0, 100_000, 20))
    )
    (tmp_path / "train.txt").write_text("something else\n")
    command = ["decontaminate", str(tmp_path / "test.txt"), "--with", str(tmp_path / "train.txt")]
    assert main([*command, "-o", str(tmp_path / "out"), "--memory", "16MB"]) == 2
    said = capsys.readouterr().err
    assert "the test items take" in said
    advised = said.split("--memory ")[1].split()[0]
    assert not (tmp_path / "out").exists()
    assert main([*command, "-o", str(tmp_path / "out"), "--memory", advised]) == 0


def test_a_training_document_larger_than_the_memory_is_refused(tmp_path, capsys):
    (tmp_path / "test.txt").write_text("who was the first person to walk on the moon\n")
    (tmp_path / "train.txt").write_text("word " * 2_000_000)
    command = ["decontaminate", str(tmp_path / "test.txt"), "--with", str(tmp_path / "train.txt")]
    assert main([*command, "-o", str(tmp_path / "out"), "--memory", "16MB"]) == 2
    assert "10.0 MB of text, more than half of the memory" in capsys.readouterr().err
