//! Large buckets: each row with the leader of its bucket.

use crate::components::Forest;
use crate::hash::mix;

/// How many leaders of a bucket are tried, and on how many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trials {
    /// How many leaders a bucket may have, one after the other.
    pub leaders: u32,
    /// Where more than four times as many rows wait, a leader is tried on so many of them first.
    pub rows: usize,
    /// Of which it must lead one in so many, or it leads nobody else.
    pub one_in: usize,
}

/// Rows of some large buckets that wait to be found like a leader.
///
/// Every pass is linear in the rows that still wait; memory is theirs.
pub struct Led {
    /// Bucket by bucket.
    rows: Vec<u32>,
    buckets: Vec<Bucket>,
    /// Rows of buckets that had all the leaders they may have.
    given_up: Vec<u32>,
}

/// One of the buckets, and how far it has come.
#[derive(Clone, Copy)]
struct Bucket {
    /// Where its rows end; those of the next one begin there.
    end: usize,
    /// The leader its rows wait for.
    leader: u32,
    /// How many it had.
    leaders: u32,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The next round begins with a new leader.
    Leaderless,
    /// The leader is tried on some rows.
    Tried,
    /// It led enough of them: all others are compared with it in the next round.
    Trusted,
    /// There will be no other leader.
    Last,
}

impl Led {
    /// The rows from `starts[i]` to `stops[i]`, for every i.
    pub fn new(rows: &[u32], starts: &[i64], stops: &[i64]) -> Led {
        let mut led = Led { rows: Vec::new(), buckets: Vec::new(), given_up: Vec::new() };
        for (&start, &stop) in starts.iter().zip(stops) {
            led.rows.extend_from_slice(&rows[start as usize..stop as usize]);
            led.buckets.push(Bucket { end: led.rows.len(), leader: 0, leaders: 0, state: State::Leaderless });
        }
        led
    }

    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The rows for which no leader was found, of all buckets that are done.
    pub fn given_up(&self) -> &[u32] {
        &self.given_up
    }

    /// Candidates of a round, lower row first; the rows that wait for its outcome stay.
    ///
    /// A bucket's leader is its row of least `content`, the least of equals. The others wait, but for those that the forest holds to be of the leader's kind; each
    /// is a candidate with the leader, all of one leader side by side. Where very many wait, the leader is first tried on some of them, drawn by content: one that leads hardly any
    /// of those would lead hardly any of the others, and makes way for the next. A bucket that has come down to `most` rows gives all its pairs, and none of
    /// its rows waits.
    pub fn candidates(
        &mut self,
        forest: &mut Forest,
        content: &[u64],
        most: usize,
        trials: &Trials,
    ) -> (Vec<u32>, Vec<u32>) {
        let (mut a, mut b) = (Vec::with_capacity(self.rows.len()), Vec::with_capacity(self.rows.len()));
        let mut pair = |x: u32, y: u32| {
            a.push(x.min(y));
            b.push(x.max(y));
        };
        let (mut start, mut waiting, mut buckets) = (0, 0, 0);
        for i in 0..self.buckets.len() {
            let mut bucket = self.buckets[i];
            let range = start..bucket.end;
            start = bucket.end;
            if range.len() <= most {
                let rows = &self.rows[range];
                for (j, &x) in rows.iter().enumerate() {
                    rows[j + 1..].iter().for_each(|&y| pair(x, y));
                }
                continue;
            }
            if bucket.state == State::Leaderless {
                let members = self.rows[range.clone()].iter().copied();
                let Some(leader) = members.min_by_key(|&row| (content[row as usize], row)) else { continue };
                bucket.leader = leader;
                bucket.state = if bucket.leaders < trials.leaders { State::Trusted } else { State::Last };
                bucket.leaders += 1;
                if bucket.state == State::Trusted && range.len() / 4 > trials.rows {
                    bucket.state = State::Tried;
                }
            }
            let (kind, first) = (forest.find(bucket.leader), waiting);
            for at in range {
                let row = self.rows[at];
                if forest.find(row) != kind {
                    // What waits moves to the front, over rows that were looked at already.
                    self.rows[waiting] = row;
                    waiting += 1;
                }
            }
            let rows = &self.rows[first..waiting];
            match bucket.state {
                State::Tried => {
                    drawn(rows, bucket.leader, content, trials.rows).for_each(|row| pair(bucket.leader, row))
                }
                State::Trusted => rows.iter().for_each(|&row| pair(bucket.leader, row)),
                State::Leaderless | State::Last => {}
            }
            bucket.end = waiting;
            self.buckets[buckets] = bucket;
            buckets += 1;
        }
        self.rows.truncate(waiting);
        self.buckets.truncate(buckets);
        (a, b)
    }

    /// Lets go the rows that the forest by now holds to be of the kind of the leader they waited for, and those of buckets that will have no other.
    pub fn settle(&mut self, forest: &mut Forest, trials: &Trials) {
        let (mut start, mut waiting, mut buckets) = (0, 0, 0);
        for i in 0..self.buckets.len() {
            let mut bucket = self.buckets[i];
            let first = waiting;
            let kind = (bucket.state != State::Leaderless).then(|| forest.find(bucket.leader));
            for at in start..bucket.end {
                let row = self.rows[at];
                if Some(forest.find(row)) != kind {
                    self.rows[waiting] = row;
                    waiting += 1;
                }
            }
            let led = (bucket.end - start) - (waiting - first);
            start = bucket.end;
            if bucket.state == State::Last {
                self.given_up.extend_from_slice(&self.rows[first..waiting]);
                waiting = first;
            }
            if waiting > first {
                let enough = bucket.state == State::Tried && led.saturating_mul(trials.one_in) >= trials.rows;
                bucket.state = if enough { State::Trusted } else { State::Leaderless };
                bucket.end = waiting;
                self.buckets[buckets] = bucket;
                buckets += 1;
            }
        }
        self.rows.truncate(waiting);
        self.buckets.truncate(buckets);
    }
}

/// Up to `most` of the rows, rising; others for every leader, and no matter in which order the rows are.
fn drawn(rows: &[u32], leader: u32, content: &[u64], most: usize) -> impl Iterator<Item = u32> {
    let salt = mix(content[leader as usize]);
    let mut ranked: Vec<(u64, u32)> = rows.iter().map(|&row| (mix(content[row as usize] ^ salt), row)).collect();
    if ranked.len() > most {
        ranked.select_nth_unstable(most);
        ranked.truncate(most);
    }
    let mut drawn: Vec<u32> = ranked.into_iter().map(|(_, row)| row).collect();
    drawn.sort_unstable();
    drawn.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    type Pairs = Vec<(u32, u32)>;

    /// Every leader is tried on all rows.
    const AT_ONCE: Trials = Trials { leaders: 3, rows: usize::MAX, one_in: 1 };

    /// What is said above, row by row: candidates as pairs, and (leader, row) of those that wait.
    fn by_hand(buckets: &[Vec<u32>], labels: &[u32], content: &[u64], most: usize, lead: bool) -> (Pairs, Pairs) {
        let (mut pairs, mut waiting) = (Vec::new(), Vec::new());
        for bucket in buckets {
            if bucket.len() <= most {
                let all = bucket.iter().enumerate().flat_map(|(i, &x)| bucket[i + 1..].iter().map(move |&y| (x, y)));
                pairs.extend(all.map(|(x, y)| (x.min(y), x.max(y))));
                continue;
            }
            let leader = *bucket.iter().min_by_key(|&&row| (content[row as usize], row)).unwrap();
            let others = bucket.iter().filter(|&&row| labels[row as usize] != labels[leader as usize]);
            waiting.extend(others.map(|&row| (leader, row)));
        }
        if lead {
            pairs.extend(waiting.iter().map(|&(x, y)| (x.min(y), x.max(y))));
        }
        pairs.sort_unstable();
        (pairs, waiting)
    }

    #[test]
    fn rounds_are_those_made_by_hand() {
        for seed in 0..200u64 {
            let draw = |i: u64, n: u64| mix(seed * 7919 + i) % n;
            let rows = 30 + draw(0, 50) as u32;
            // Few enough that some are equal.
            let content: Vec<u64> = (0..u64::from(rows)).map(|row| draw(400 + row, 20)).collect();
            let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); 1 + draw(1, 4) as usize];
            let count = buckets.len() as u64;
            (0..rows).for_each(|row| buckets[draw(100 + u64::from(row), count) as usize].push(row));
            let all: Vec<u32> = buckets.concat();
            let stops: Vec<i64> = buckets
                .iter()
                .scan(0, |end, bucket| {
                    *end += bucket.len() as i64;
                    Some(*end)
                })
                .collect();
            let starts: Vec<i64> =
                stops.iter().zip(&buckets).map(|(stop, bucket)| stop - bucket.len() as i64).collect();
            let mut forest = Forest::new(rows as usize);
            (0..10).for_each(|i| forest.join(draw(200 + i, rows.into()) as u32, draw(300 + i, rows.into()) as u32));
            let mut led = Led::new(&all, &starts, &stops);
            for round in 0..4 {
                let lead = round < 3;
                let (pairs, waiting) = by_hand(&buckets, &forest.labels(), &content, 6, lead);
                let (a, b) = led.candidates(&mut forest, &content, 6, &AT_ONCE);
                let mut made: Vec<(u32, u32)> = a.into_iter().zip(b).collect();
                made.sort_unstable();
                assert_eq!(made, pairs);
                assert_eq!(led.rows(), waiting.iter().map(|&(_, row)| row).collect::<Vec<_>>());
                // Some of them are found alike.
                made.iter()
                    .filter(|&&(a, b)| mix(u64::from(a * 977 + b)).is_multiple_of(3))
                    .for_each(|&(a, b)| forest.join(a, b));
                led.settle(&mut forest, &AT_ONCE);
                let labels = forest.labels();
                let mut left: Vec<(u32, Vec<u32>)> = Vec::new();
                for (leader, row) in waiting {
                    if labels[leader as usize] != labels[row as usize] {
                        match left.last_mut() {
                            Some((last, rows)) if *last == leader => rows.push(row),
                            _ => left.push((leader, vec![row])),
                        }
                    }
                }
                buckets = left.into_iter().map(|(_, rows)| rows).collect();
                assert_eq!(if lead { led.rows() } else { led.given_up() }, buckets.concat());
            }
            assert!(led.rows().is_empty());
        }
    }

    const FIRST_ON_TEN: Trials = Trials { leaders: 3, rows: 10, one_in: 5 };

    /// Goes through one bucket of 100 rows, of which `alike` tells whether they are led by row 0, and the others by nobody.
    fn go_through(alike: impl Fn(u32) -> bool, order: impl Fn(u32) -> u32) -> (Vec<usize>, usize) {
        let content: Vec<u64> = (0..100).collect();
        let rows: Vec<u32> = (0..100).map(order).collect();
        let mut led = Led::new(&rows, &[0], &[100]);
        let (mut forest, mut checked) = (Forest::new(100), Vec::new());
        while !led.rows().is_empty() {
            let (a, b) = led.candidates(&mut forest, &content, 5, &FIRST_ON_TEN);
            checked.push(a.len());
            a.iter().zip(&b).filter(|&(&a, &b)| a == 0 && alike(b)).for_each(|(&a, &b)| forest.join(a, b));
            led.settle(&mut forest, &FIRST_ON_TEN);
        }
        (checked, led.given_up().len())
    }

    #[test]
    fn a_leader_of_nobody_is_tried_on_few_rows() {
        // Three leaders, ten rows each; the fourth is not asked, and the row that it would be is not among those given up.
        assert_eq!(go_through(|_| false, |row| row), (vec![10, 10, 10, 0], 96));
    }

    #[test]
    fn a_leader_of_many_is_compared_with_all_that_still_wait() {
        let (checked, given_up) = go_through(|row| row % 2 == 1, |row| row);
        // A half of ten are led, give or take some, and the others are compared then; 49 rows are too many for one more trial: they are led or not.
        let led = 99 - checked[1];
        assert!((2..=10).contains(&led), "{checked:?}");
        assert_eq!(checked, [10, 99 - led, 10, 10, 0]);
        assert_eq!(given_up, 46);
    }

    #[test]
    fn trials_do_not_depend_on_the_order_of_rows() {
        let alike = |row| mix(u64::from(row)).is_multiple_of(4);
        assert_eq!(go_through(alike, |row| row), go_through(alike, |row| (row * 37 + 11) % 100));
    }
}
