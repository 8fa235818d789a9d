//! Candidates → exact counts: how many shingles two items share, and how many they have together.
//!
//! The set of one item, the one in most pairs, is put in a table once; the others stream past it. No set of a right item
//! is ever held: a near-duplicate's shingles are nearly all in the table already, and the few that are not go to a small table of
//! their own. O(shingles) time a pair, memory of two documents a thread.

use std::ops::Range;

use rayon::prelude::*;

use crate::hash::mix;
use crate::memory::ask_for;
use crate::shingle::{Scratch, Sink, Spec, document};
use crate::simd::{Lanes, Level, for_each_path};
use crate::symbols::has_word;
use crate::table::{Sieve, Table};
use crate::template::{Shared, Template};
use crate::unicode::Characters;

/// Items by row number, in pieces as they were read.
pub struct Rows<'a, T> {
    pieces: Vec<(&'a [T], &'a [i64])>,
    /// The first row of every piece, and the number of all rows.
    firsts: Vec<usize>,
    /// The piece that every `1 << step`-th row is in, and the last one: a row is mostly found without a search.
    near: Vec<usize>,
    step: u32,
}

impl<'a, T> Rows<'a, T> {
    pub fn new(pieces: Vec<(&'a [T], &'a [i64])>) -> Rows<'a, T> {
        let mut firsts = vec![0];
        for (_, offsets) in &pieces {
            firsts.push(firsts[firsts.len() - 1] + offsets.len() - 1);
        }
        let rows = firsts[firsts.len() - 1];
        // About two steps a piece: there are then as few as pieces, and as fine if these are of one size.
        let step = (rows / (2 * pieces.len()).max(1)).max(1).ilog2();
        let piece_of = |row: usize| firsts.partition_point(|&first| first <= row) - 1;
        let mut near: Vec<usize> = (0..rows).step_by(1 << step).map(piece_of).collect();
        near.push(pieces.len().saturating_sub(1));
        Rows { pieces, firsts, near, step }
    }

    pub fn len(&self) -> usize {
        self.firsts[self.firsts.len() - 1]
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, row: u32) -> &'a [T] {
        let (piece, i) = self.place(row);
        let (values, offsets) = self.pieces[piece];
        &values[offsets[i] as usize..offsets[i + 1] as usize]
    }

    /// The values of the piece that an item is in, and where it begins and ends in them.
    pub fn place_of(&self, row: u32) -> (&'a [T], &'a [i64]) {
        let (piece, i) = self.place(row);
        let (values, offsets) = self.pieces[piece];
        (values, &offsets[i..i + 2])
    }

    #[inline(always)]
    fn place(&self, row: u32) -> (usize, usize) {
        let row = row as usize;
        let (least, most) = (self.near[row >> self.step], self.near[(row >> self.step) + 1]);
        let piece = least + self.firsts[least + 1..=most].partition_point(|&first| first <= row);
        (piece, row - self.firsts[piece])
    }
}

/// Shared and joint shingles of one pair. `union` is 0 for a pair given up because it cannot reach `at_least`, or of two empty sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub shared: u32,
    pub union: u32,
}

/// Candidates handed to a thread at a time.
const PAIRS: usize = 512;

/// Shingles of longer texts than this are never kept: memory stays that of a few documents a thread.
const SHORT: usize = 1 << 16;

/// When so many are kept, no more are: eight megabytes.
const MANY: usize = 1 << 20;

/// So few elements are told apart by looking at all of them.
const FEW: usize = 64;

#[derive(Default)]
struct Workspace {
    scratch: Scratch,
    left: Table,
    extra: Table,
    template: Template,
    shared: Shared,
    kept: Kept,
}

/// Shingles of documents that are in several pairs of a piece, so that each is cut once.
#[derive(Default)]
struct Kept {
    shingles: Vec<u64>,
    places: Vec<Option<Range<usize>>>,
}

impl Kept {
    fn clear_for(&mut self, items: usize) {
        self.shingles.clear();
        self.places.clear();
        self.places.resize(items, None);
    }

    fn get(&self, item: usize) -> Option<&[u64]> {
        self.places[item].clone().map(|place| &self.shingles[place])
    }
}

#[inline(always)]
fn keep_on<L: Lanes>(item: usize, text: &[u8], spec: &Spec, work: &mut Workspace) {
    let Workspace { scratch, kept, .. } = work;
    let start = kept.shingles.len();
    document::<L>(text, spec, scratch, &mut kept.shingles);
    kept.places[item] = Some(start..kept.shingles.len());
}

#[inline(always)]
fn fill_on<L: Lanes>(text: &[u8], spec: &Spec, work: &mut Workspace) {
    let Workspace { scratch, left, .. } = work;
    left.clear();
    document::<L>(text, spec, scratch, left);
}

#[inline(always)]
fn learn_on<L: Lanes>(text: &[u8], spec: &Spec, work: &mut Workspace) -> bool {
    work.template.learn::<L>(text, spec, &mut work.left)
}

#[inline(always)]
fn count_on<L: Lanes>(text: &[u8], spec: &Spec, at_least: f64, work: &mut Workspace) -> Counts {
    let Workspace { scratch, left, extra, .. } = work;
    let mut count = Count::begin(left, extra, at_least);
    document::<L>(text, spec, scratch, &mut count);
    count.end()
}

/// As `count`, of a left text that was learnt.
#[inline(always)]
fn count_alike_on<L: Lanes>(learnt: &[u8], text: &[u8], spec: &Spec, at_least: f64, work: &mut Workspace) -> Counts {
    if !has_word(text, Characters::get()) {
        // Marks alone would be windows to the template.
        return count_on::<L>(text, spec, at_least, work);
    }
    work.template.share::<L>(learnt, text, spec, &mut work.shared);
    let Workspace { left, extra, template, shared, .. } = work;
    let windows = shared.count();
    if windows == 0 {
        // Nothing alike; and a text without a window is a shingle of its own.
        return count_on::<L>(text, spec, at_least, work);
    }
    let mut count = Count::begin(left, extra, at_least);
    if template.once() {
        count.shared = windows;
        let counted = |place| template.holds(shared, place);
        match shared.fresh.len() {
            ..=FEW => count.take_few_but(&shared.fresh, template.sieve(), counted),
            _ => count.take_all_but(&shared.fresh, counted),
        }
    } else {
        for place in template.places(shared) {
            count.shared += usize::from(count.left.mark_place(place));
        }
        count.take(&shared.fresh);
    }
    count.end()
}

for_each_path! {
    fn fill(level; text: &[u8], spec: &Spec, work: &mut Workspace) => fill_on
}
for_each_path! {
    fn keep(level; item: usize, text: &[u8], spec: &Spec, work: &mut Workspace) => keep_on
}
for_each_path! {
    fn learn(level; text: &[u8], spec: &Spec, work: &mut Workspace) -> bool => learn_on
}
for_each_path! {
    fn count(level; text: &[u8], spec: &Spec, at_least: f64, work: &mut Workspace) -> Counts => count_on
}
for_each_path! {
    fn count_alike(level; learnt: &[u8], text: &[u8], spec: &Spec, at_least: f64, work: &mut Workspace) -> Counts => count_alike_on
}

/// One right item streaming past the left item's table.
struct Count<'t> {
    left: &'t mut Table,
    extra: &'t mut Table,
    shared: usize,
    /// Elements of its own that are not in `extra`.
    few: usize,
    /// More than this many elements of its own, and the pair cannot reach the similarity asked for.
    most_extra: usize,
}

impl<'t> Count<'t> {
    #[inline(always)]
    fn begin(left: &'t mut Table, extra: &'t mut Table, at_least: f64) -> Count<'t> {
        left.forget_marks();
        extra.clear();
        // shared ≤ |left| and union ≥ |left| + extra. Rounded up: giving up must never lose a pair.
        let most_extra = if at_least > 0.0 {
            ((left.len() as f64 * (1.0 / at_least - 1.0)) as usize).saturating_add(1)
        } else {
            usize::MAX
        };
        Count { left, extra, shared: 0, few: 0, most_extra }
    }

    #[inline(always)]
    fn end(self) -> Counts {
        let extra = self.extra.len() + self.few;
        if extra > self.most_extra {
            return Counts::default();
        }
        Counts { shared: self.shared as u32, union: (self.left.len() + extra) as u32 }
    }
}

impl Count<'_> {
    /// Takes elements, but for those whose places in the table were counted already.
    #[inline(always)]
    fn take_all_but(&mut self, elements: &[u64], counted: impl Fn(u32) -> bool) {
        if self.extra.len() > self.most_extra {
            return;
        }
        for &x in elements {
            match self.left.mark(x, &counted) {
                Some(new) => self.shared += usize::from(new),
                None => self.extra.insert(x),
            }
        }
    }

    /// The same for few elements, all there are: mostly neither table is looked at. `sieve` shows what is in the left one.
    #[inline(always)]
    fn take_few_but(&mut self, elements: &[u64], sieve: &Sieve, counted: impl Fn(u32) -> bool) {
        let mut own = Sieve::default();
        for (i, &x) in elements.iter().enumerate() {
            if sieve.shows(x)
                && let Some(new) = self.left.mark(x, &counted)
            {
                self.shared += usize::from(new);
            } else if !own.shows(x) || !elements[..i].contains(&x) {
                own.add(x);
                self.few += 1;
            }
        }
    }
}

impl Sink for Count<'_> {
    #[inline(always)]
    fn take(&mut self, elements: &[u64]) {
        self.take_all_but(elements, |_| false);
    }
}

impl Sink for Table {
    #[inline(always)]
    fn take(&mut self, elements: &[u64]) {
        self.insert_all(elements);
    }
}

/// Exact counts of candidates among documents. Best in an order in which candidates of one document lie together.
pub fn compare_texts(
    level: Level,
    texts: &Rows<'_, u8>,
    a: &[u32],
    b: &[u32],
    spec: &Spec,
    at_least: f64,
    out: &mut [Counts],
) {
    let pieces = (a.par_chunks(PAIRS), b.par_chunks(PAIRS), out.par_chunks_mut(PAIRS));
    pieces.into_par_iter().for_each_init(Workspace::default, |work, (a, b, out)| {
        let (party, pairs) = Party::of(a, b);
        let members: Vec<&[u8]> = party.rows.iter().map(|&row| texts.get(row)).collect();
        work.kept.clear_for(members.len());
        let mut held = None;
        let mut learnt = false;
        for (at, &(l, r, i)) in pairs.iter().enumerate() {
            if let Some(&(_, later, _)) = pairs.get(at + 2) {
                fetch_ahead(members[later]);
            }
            let (left, right) = (members[l], members[r]);
            for (item, text) in [(l, left), (r, right)] {
                let wanted = party.pairs_of[item] > 1 && work.kept.get(item).is_none();
                if wanted && text.len() <= SHORT && work.kept.shingles.len() < MANY {
                    keep(level, item, text, spec, work);
                }
            }
            if held != Some(l) {
                held = Some(l);
                learnt = false;
                match work.kept.get(l) {
                    Some(shingles) => {
                        work.left.clear();
                        work.left.insert_all(shingles);
                    }
                    None => fill(level, left, spec, work),
                }
            } else if !learnt && left.len() <= SHORT && Template::serves(spec) && party.pairs_of[r] == 1 {
                // Pays from the second right item on.
                learnt = learn(level, left, spec, work);
            }
            out[i] = if left == right {
                let all = work.left.len() as u32;
                Counts { shared: all, union: all }
            } else if let Some(shingles) = work.kept.get(r) {
                let mut count = Count::begin(&mut work.left, &mut work.extra, at_least);
                count.take(shingles);
                count.end()
            } else if learnt {
                count_alike(level, left, right, spec, at_least, work)
            } else {
                count(level, right, spec, at_least, work)
            };
        }
    });
}

/// Asks memory for the beginning of a text that will be read soon; the rest comes by itself once it is.
#[inline(always)]
fn fetch_ahead(text: &[u8]) {
    text.chunks(64).take(16).for_each(|line| ask_for(line.as_ptr()));
}

/// Exact counts of candidates among sets of distinct elements; best in an order as above.
pub fn compare_sets(sets: &Rows<'_, u64>, a: &[u32], b: &[u32], at_least: f64, out: &mut [Counts]) {
    let pieces = (a.par_chunks(PAIRS), b.par_chunks(PAIRS), out.par_chunks_mut(PAIRS));
    pieces.into_par_iter().for_each_init(
        || (Table::default(), Table::default()),
        |(table, extra), (a, b, out)| {
            let (party, pairs) = Party::of(a, b);
            let mut held = None;
            for (left, right, i) in pairs {
                if held != Some(left) {
                    table.clear();
                    table.insert_all(sets.get(party.rows[left]));
                    held = Some(left);
                }
                let mut count = Count::begin(table, extra, at_least);
                count.take(sets.get(party.rows[right]));
                out[i] = count.end();
            }
        },
    );
}

/// A candidate of a piece: which of its items are left and right, and its place in the piece.
type Seated = (usize, usize, usize);

/// The items of a piece of candidates, each once, and in how many of them it is.
struct Party {
    rows: Vec<u32>,
    pairs_of: Vec<u32>,
}

impl Party {
    /// The items of at most `PAIRS` candidates, and the candidates: on the left the item that is in more of them, whose table then
    /// serves them all.
    fn of(a: &[u32], b: &[u32]) -> (Party, Vec<Seated>) {
        Party::around_one(a, b).unwrap_or_else(|| Party::of_any(a, b))
    }

    /// The same if one item is in all of the candidates and the others rise, as a crowd is compared with its leader.
    fn around_one(a: &[u32], b: &[u32]) -> Option<(Party, Vec<Seated>)> {
        let (&[a0, a1, ..], &[b0, b1, ..]) = (a, b) else { return None };
        let center = if a0 == a1 || a0 == b1 { a0 } else { b0 };
        let mut rows = vec![center];
        for (&a, &b) in a.iter().zip(b) {
            let other = match center {
                c if c == a => b,
                c if c == b => a,
                _ => return None,
            };
            if other == center || (rows.len() > 1 && other <= rows[rows.len() - 1]) {
                return None;
            }
            rows.push(other);
        }
        let mut pairs_of = vec![1; rows.len()];
        pairs_of[0] = a.len() as u32;
        Some((Party { rows, pairs_of }, (0..a.len()).map(|i| (0, i + 1, i)).collect()))
    }

    fn of_any(a: &[u32], b: &[u32]) -> (Party, Vec<Seated>) {
        // At most half full.
        const SLOTS: usize = 4 * PAIRS;
        const FREE: u16 = u16::MAX;
        let mut slots = [FREE; SLOTS];
        let mut party = Party { rows: Vec::with_capacity(2 * PAIRS), pairs_of: Vec::with_capacity(2 * PAIRS) };
        let mut item = |row: u32| {
            let mut at = mix(row.into()) as usize % SLOTS;
            while slots[at] != FREE && party.rows[slots[at] as usize] != row {
                at = (at + 1) % SLOTS;
            }
            if slots[at] == FREE {
                slots[at] = party.rows.len() as u16;
                party.rows.push(row);
                party.pairs_of.push(0);
            }
            party.pairs_of[slots[at] as usize] += 1;
            slots[at] as usize
        };
        let mut pairs: Vec<_> = a.iter().zip(b).enumerate().map(|(i, (&a, &b))| (item(a), item(b), i)).collect();
        for (left, right, _) in &mut pairs {
            if party.pairs_of[*right] > party.pairs_of[*left] {
                std::mem::swap(left, right);
            }
        }
        pairs.sort_unstable();
        (party, pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use crate::sets::shingles;
    use crate::shingle::{Folding, Unit};
    use std::collections::{BTreeMap, HashSet};

    fn spec(k: usize) -> Spec {
        let folding = Folding { casefold: true, nfkc: false, whitespace: false, punctuation: false };
        Spec { unit: Unit::Words, k, folding, bag: false, seed: 3 }
    }

    /// A template, and variants of it: words replaced, inserted, deleted, bounds changed, ends cut, parts repeated.
    fn variants(seed: u64) -> Vec<String> {
        let letters = ["a", "bb", "É", "ccc", "д", "漢字", "x9", "longerword"];
        let gaps = [" ", ", ", "—", "\n\n", " é? ", "。"];
        let pick = |i: u64, n: usize| (mix(seed.wrapping_mul(1000) + i) % n as u64) as usize;
        // A word brings the gap after it along, so that texts are the same bytes again after an edit.
        let word = |i: u64| (letters[pick(i, letters.len())], gaps[pick(500 + i, gaps.len())]);
        let words: Vec<(&str, &str)> = (0..30).map(word).collect();
        let join = |words: &[(&str, &str)]| words.iter().map(|(w, gap)| format!("{w}{gap}")).collect::<String>();
        let mut all = vec![join(&words), join(&words[3..]), join(&words[..27]), String::new(), "a".into()];
        for edits in 0..12 {
            let mut edited = words.clone();
            // One edit, or two or three: the texts part and find together again.
            for edit in (0..1 + edits / 4).map(|more| edits + 50 * more) {
                let at = pick(100 + edit, edited.len());
                match edit % 4 {
                    0 => edited[at] = word(200 + edit),
                    1 => edited.insert(at, word(300 + edit)),
                    2 => drop(edited.remove(at)),
                    _ => edited.splice(at..at, words[..at / 2].to_vec()).for_each(drop),
                }
            }
            all.push(join(&edited));
        }
        // The same bytes but one, which splits or joins words or changes a character in the middle of its bytes.
        let text = all[0].clone();
        for (at, c) in text.char_indices() {
            let mut other = text.clone();
            // A dash and a Д end in the same byte; a full stop and an あ begin with the same.
            let instead = match c {
                'é' => "—",
                '—' => "Д",
                '。' => "あ",
                _ if at % 7 == 0 => "é",
                _ => continue,
            };
            other.replace_range(at..at + c.len_utf8(), instead);
            all.push(other);
        }
        // Marks that are words beside others and, alone, are not; and no word at all.
        let marked = format!("{text} ❤\u{fe0f} ☀\u{fe0f} ❤\u{fe0f}");
        all.extend(
            [marked.as_str(), "❤\u{fe0f} ☀\u{fe0f} ❤\u{fe0f}", "☀\u{fe0f}", "!!!", "! !!", " \n"].map(String::from),
        );
        all
    }

    #[test]
    fn candidates_around_one_item_are_taken_as_any_are() {
        let pairs = |pairs: &[(u32, u32)]| -> (Vec<u32>, Vec<u32>) { pairs.iter().copied().unzip() };
        for around in [&[(5, 1), (2, 5), (5, 7)][..], &[(1, 5), (5, 9)], &[(3, 4), (3, 6), (3, 8), (9, 3)]] {
            let (a, b) = pairs(around);
            let names = |(party, pairs): (Party, Vec<Seated>)| {
                let mut named: Vec<_> = pairs.iter().map(|&(l, r, i)| (i, party.rows[l], party.rows[r])).collect();
                named.sort_unstable();
                (named, party.rows.iter().zip(&party.pairs_of).map(|(&row, &of)| (row, of)).collect::<BTreeMap<_, _>>())
            };
            assert_eq!(names(Party::around_one(&a, &b).expect("one is in all")), names(Party::of_any(&a, &b)));
        }
        // None in all, an item twice, out of order, with itself, a single one.
        for other in [&[(1, 2), (3, 4)][..], &[(1, 2), (1, 2)], &[(1, 3), (1, 2)], &[(1, 1), (1, 2)], &[(1, 2)]] {
            let (a, b) = pairs(other);
            assert!(Party::around_one(&a, &b).is_none(), "{other:?}");
        }
    }

    #[test]
    fn rows_are_found_in_pieces_of_any_size() {
        for seed in 0..60u64 {
            let sizes: Vec<usize> = (0..1 + seed % 9)
                .map(|piece| match mix(seed * 100 + piece) % 4 {
                    0 => 0,
                    1 => 1,
                    2 => (mix(seed * 200 + piece) % 20) as usize,
                    _ => (mix(seed * 300 + piece) % 2_000) as usize,
                })
                .collect();
            // A row holds its own number.
            let mut next = 0..;
            let values: Vec<Vec<u64>> = sizes.iter().map(|&size| next.by_ref().take(size).collect()).collect();
            let offsets: Vec<Vec<i64>> = sizes.iter().map(|&size| (0..=size as i64).collect()).collect();
            let rows = Rows::new(values.iter().zip(&offsets).map(|(v, o)| (&v[..], &o[..])).collect());
            assert_eq!(rows.len(), sizes.iter().sum::<usize>());
            (0..rows.len() as u32).for_each(|row| assert_eq!(rows.get(row), [u64::from(row)], "{sizes:?}"));
        }
    }

    #[test]
    fn counts_are_those_of_hash_sets_whatever_the_texts_share() {
        for seed in 0..30 {
            let texts = variants(seed);
            let values = texts.concat().into_bytes();
            let mut offsets = vec![0i64];
            texts.iter().for_each(|t| offsets.push(offsets[offsets.len() - 1] + t.len() as i64));
            let rows = Rows::new(vec![(&values[..], &offsets[..])]);
            let count = texts.len() as u32;
            let (left, right): (Vec<u32>, Vec<u32>) = (0..count).flat_map(|a| (0..count).map(move |b| (a, b))).unzip();
            for k in [1, 2, 5, 9] {
                for level in Level::available() {
                    let sets: Vec<HashSet<u64>> =
                        texts.iter().map(|t| shingles(level, t.as_bytes(), &spec(k)).into_iter().collect()).collect();
                    let mut out = vec![Counts::default(); left.len()];
                    compare_texts(level, &rows, &left, &right, &spec(k), 0.0, &mut out);
                    for ((&a, &b), counts) in left.iter().zip(&right).zip(&out) {
                        let (x, y) = (&sets[a as usize], &sets[b as usize]);
                        let (shared, union) = (x.intersection(y).count() as u32, x.union(y).count() as u32);
                        let (s, t) = (&texts[a as usize], &texts[b as usize]);
                        assert_eq!((counts.shared, counts.union), (shared, union), "k={k} {s:?} {t:?}");
                    }
                }
            }
        }
    }
}
