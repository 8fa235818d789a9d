"""lookalike compare, and two texts side by side."""

import io
import json
import subprocess
import sys
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.applications.compare import Piece, compare
from lookalike.cli.side_by_side import elided, in_step, longest, rows, told_apart
from lookalike.measures.passages import Passage

SHARED = "it is a truth universally acknowledged that a single man in possession of a good fortune"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.txt").write_text(f"Austen begins: {SHARED}, must be in want of a wife.", encoding="utf-8")
    (tmp_path / "b.txt").write_text(f"{SHARED.upper()} needs nobody at all!", encoding="utf-8")
    return tmp_path / "a.txt", tmp_path / "b.txt"


def test_numbers_come_first_and_then_the_texts_with_what_they_share_marked_in_both(type_, files):
    ended = type_("compare", *files)
    assert (ended.code, ended.err) == (0, "")
    similarity = compare(*(file.read_text() for file in files)).similarity
    assert f"{similarity:.4f} exactly" in ended.out
    assert ended.out.count("⟦1: ") == 2
    assert "a.txt" in ended.out
    assert "\x1b" not in ended.out


def test_colours_are_for_terminals(files):
    command = [sys.executable, "-m", "lookalike", "compare", *map(str, files)]
    environment = {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "\x1b[" in ended.stdout
    assert "⟦1: " in ended.stdout


def test_json_holds_what_the_library_finds(type_, files):
    a, b = (file.read_text() for file in files)
    ended = type_("compare", *files, "--shingle", "chars:5", "--least", "20", "--json")
    assert json.loads(ended.out) == compare(a, b, shingle="chars:5", least=20).to_dict()


def test_texts_without_anything_in_common_are_not_shown(type_, tmp_path):
    (tmp_path / "a.txt").write_text("to be or not to be, that is the question")
    (tmp_path / "b.txt").write_text("whether it is nobler in the mind to suffer")
    ended = type_("compare", tmp_path / "a.txt", tmp_path / "b.txt")
    assert "none of 8 words or more" in ended.out
    assert "nobler" not in ended.out


def test_one_text_may_come_from_standard_input(type_, files, monkeypatch, refused):
    class Typed:
        buffer = io.BytesIO(SHARED.encode())

    monkeypatch.setattr(sys, "stdin", Typed)
    assert type_("compare", "-", files[1]).code == 0
    assert "once only" in refused("compare", "-", "-")


def test_texts_that_the_shingles_do_not_fit_are_noted(type_, tmp_path):
    (tmp_path / "a.txt").write_text("天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往" * 3, encoding="utf-8")
    (tmp_path / "b.txt").write_text(" \n ", encoding="utf-8")
    ended = type_("compare", tmp_path / "a.txt", tmp_path / "b.txt")
    assert ended.code == 0
    assert "chars:5" in ended.err
    assert "no shingle at all" in ended.err


def test_what_cannot_be_compared_is_refused(refused, files, tmp_path):
    assert "there is no file" in refused("compare", files[0], tmp_path / "nowhere.txt")
    assert "is a folder" in refused("compare", files[0], tmp_path)
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    message = refused("compare", files[0], tmp_path / "latin.txt")
    assert "not UTF-8" in message
    assert "0xe9 at offset 3" in message
    assert "--least 0" in refused("compare", *files, "--least", "0")
    assert "lines" in refused("compare", *files, "--shingle", "lines")


def test_a_byte_order_mark_is_no_part_of_the_text(type_, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbf" + SHARED.encode())
    (tmp_path / "b.txt").write_bytes(SHARED.encode())
    ended = type_("compare", tmp_path / "a.txt", tmp_path / "b.txt", "--shingle", "chars:5", "--json")
    assert json.loads(ended.out)["similarity"] == 1


def test_long_texts_stay_readable(type_, tmp_path):
    ours = " ".join(f"ours{number}" for number in range(20_000))
    theirs = " ".join(f"theirs{number}" for number in range(20_000))
    (tmp_path / "a.txt").write_text(f"{ours} {SHARED} {ours}")
    (tmp_path / "b.txt").write_text(f"{theirs} {SHARED} {theirs}")
    out = type_("compare", tmp_path / "a.txt", tmp_path / "b.txt").out
    assert len(out.splitlines()) < 50
    assert "ours0 " in out
    assert "theirs19999" in out
    assert "…" in out


def test_escape_sequences_of_a_file_do_not_reach_the_terminal(type_, tmp_path):
    (tmp_path / "a.txt").write_text(f"\x1b[2Jgone {SHARED} \x1b]0;title\x07")
    (tmp_path / "b.txt").write_text(f"\x9b2J {SHARED}")
    out = type_("compare", tmp_path / "a.txt", tmp_path / "b.txt").out
    assert not {"\x1b", "\x07", "\x9b"} & set(out)


# The parts of the view.


@given(st.text(max_size=300), st.integers(6, 40))
def test_elided_text_is_one_line_of_bounded_length_made_of_the_texts_ends(text, most):
    short = elided(text, most)
    assert len(short) <= most + 3
    assert short.isprintable()
    plain = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    if " … " in short and plain != short:
        head, _, tail = short.partition(" … ")
        assert plain.startswith(head)
        assert plain.endswith(short[len(head) + 3 :] if tail else "")
    else:
        assert short == plain


def passages_at(starts):
    """Passages that follow each other in a, and begin in b where `starts` says."""
    return [
        Passage(
            a_start=10 * at, a_end=10 * at + 5, b_start=10 * place, b_end=10 * place + 5, tokens=5, changed=0
        )
        for at, place in enumerate(starts)
    ]


@given(st.permutations(range(7)))
def test_the_most_passages_that_can_keep_step_do(starts):
    chain = sorted(in_step(passages_at(starts)))
    ours = [starts[number - 1] for number in chain]
    assert ours == sorted(ours)
    every = (some for size in range(8) for some in combinations(starts, size))
    assert len(chain) == max(len(some) for some in every if list(some) == sorted(some))


@given(st.permutations(range(6)), st.data())
def test_no_piece_is_lost_or_out_of_order_side_by_side(starts, data):
    passages = passages_at(starts)
    left = [Piece(f"a{number}", number) for number in range(1, 7)]
    order = sorted(range(6), key=lambda at: starts[at])
    right = [Piece(f"b{at + 1}", at + 1) for at in order]
    gap = data.draw(st.integers(0, 6))
    left.insert(gap, Piece("only here", None))
    shown = list(rows(left, right, in_step(passages)))
    assert [piece for a, _ in shown for piece in a] == left
    assert [piece for _, b in shown for piece in b] == right


def test_a_full_stop_between_two_passages_gets_no_line():
    left = [Piece("one", 1), Piece(". ", None), Piece("two", 2)]
    right = [Piece("one", 1), Piece("; ", None), Piece("two", 2)]
    assert len(list(rows(left, right, {1, 2}))) == 2


def test_of_many_passages_the_longest_are_shown_in_their_order():
    passages = [
        Passage(10 * at, 10 * at + n, 10 * at, 10 * at + n, n, 0) for at, n in enumerate([3, 9, 5, 9, 4])
    ]
    assert [passage.tokens for passage in longest(passages, 3)] == [9, 5, 9]
    assert longest(passages, 9) == passages


def test_names_are_told_apart_even_if_they_are_the_same():
    assert told_apart("x/a.txt", "x/b.txt") == ("a.txt", "b.txt")
    assert told_apart("x/a.txt", "y/a.txt") == ("x/a.txt", "y/a.txt")
    assert told_apart("x/a.txt", "x/a.txt") == ("a.txt", "a.txt")
    assert told_apart("a", "-") == ("a", "-")
