"""Options that are typed twice, without a value, or with a number that is none: refused in our own words."""

import pytest


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.jsonl").write_text('{"text": "a b c d e f"}\n')
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("dedup docs.jsonl -o out -t 0,8", "--threshold 0,8 is no number: write 0.8, with a point"),
        ("pairs docs.jsonl -o out -t 0,8", "--threshold 0,8 is no number: write 0.8, with a point"),
        ("pairs docs.jsonl -o out -t x", "--threshold x is no number: give one such as 0.8, or 20deg"),
        ("plan -t 20,5deg --measure angle", "--threshold 20,5deg is no threshold of angle: write 20.5deg"),
        ("dedup docs.jsonl -o out --recall 0,9", "--recall 0,9 is no number: write 0.9"),
        ("dedup docs.jsonl -o out --slots 1,000", "--slots 1,000 is no whole number: write 1000"),
        ("dedup docs.jsonl -o out --slots 12.5", "--slots 12.5 is no whole number"),
        ("dedup docs.jsonl -o out --slots many", "--slots many is no whole number: give one such as 12"),
        ("top docs.jsonl -o out -k 2,5", "--neighbours 2,5 is no whole number"),
        ("baskets pairs docs.jsonl -s 0,5 --json", "--support 0,5 is no number: write 0.5"),
        ("dedup docs.jsonl -o out --threshold=", "--threshold '' is no number"),
        ("dedup docs.jsonl -o out -t .8 --threshold .7", "--threshold is given more than once"),
        ("dedup docs.jsonl -o out -o elsewhere", "--output is given more than once, and takes one value"),
        ("pairs docs.jsonl -o out -t .8 -t .8", "--threshold is given more than once"),
        ("plan --slots 64 --slots 128", "--slots is given more than once"),
        ("dedup docs.jsonl --output=", "--output is empty: name a place behind it"),
        ("cluster docs.jsonl --output=", "--output is empty"),
        ("plan --svg=", "--svg is empty"),
        ("dedup docs.jsonl -o out --scratch=", "--scratch is empty"),
        ("dedup docs.jsonl -o out --recall 1", "--method prefix finds every pair; or use --recall 0.999"),
        ("dedup docs.jsonl -o out --recall 1 --method prefix", "leave out"),
        ("dedup docs.jsonl -o out --treshold .8", "no option --treshold: did you mean --threshold?"),
        ("dedup docs.jsonl -o out --num-perm 64", "no option --num-perm: did you mean --slots?"),
        ("plan --num_perm=64", "no option --num_perm: did you mean --slots?"),
        ("top docs.jsonl -o out --random-state 1", "no option --random-state: did you mean --seed?"),
        ("dedup docs.jsonl -o out --xyzzy", "No such option: --xyzzy"),
        ("dedup docs.jsonl -o out --against=", "--against is empty: name a place behind it"),
        ("pairs docs.jsonl -o out --with=", "--with is empty: name a place behind it"),
    ],
)
def test_it_is_refused_in_a_sentence(corpus, refused, arguments, says):
    assert says in refused(*arguments.split())
    assert sorted(entry.name for entry in corpus.iterdir()) == ["docs.jsonl"]


def test_an_output_of_blanks_is_refused(corpus, refused):
    assert "--output is empty" in refused("dedup", "docs.jsonl", "-o", " ")


def test_options_of_several_values_and_switches_may_stand_there_again(corpus, type_):
    again = ["--with", "docs.jsonl", "--with", "docs.jsonl", "--json", "--json"]
    ended = type_("pairs", "docs.jsonl", *again, "-o", "out")
    assert "given more than once" not in ended.err
