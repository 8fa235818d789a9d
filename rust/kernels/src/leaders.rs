//! Large buckets: each row with the leader of its bucket.

use crate::components::Forest;

/// Rows of some large buckets that wait to be found like a leader.
///
/// Every pass is linear in the rows that still wait; memory is theirs.
pub struct Led {
    /// Bucket by bucket; the rows of bucket i end at `ends[i]`.
    rows: Vec<u32>,
    ends: Vec<usize>,
    leaders: Vec<u32>,
}

impl Led {
    /// The rows from `starts[i]` to `stops[i]`, for every i.
    pub fn new(rows: &[u32], starts: &[i64], stops: &[i64]) -> Led {
        let mut led = Led { rows: Vec::new(), ends: Vec::new(), leaders: Vec::new() };
        for (&start, &stop) in starts.iter().zip(stops) {
            led.rows.extend_from_slice(&rows[start as usize..stop as usize]);
            led.ends.push(led.rows.len());
        }
        led
    }

    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Candidates of a round, lower row first; the rows that wait for its outcome stay.
    ///
    /// A bucket's leader is its row of least `content`, the least of equals. The others wait, but for those that the forest holds to be of the leader's kind; if
    /// buckets are to be led in this round, each is a candidate with the leader, all of one leader side by side. A bucket that has come down to `most` rows
    /// gives all its pairs, and none of its rows waits.
    pub fn candidates(
        &mut self,
        forest: &mut Forest,
        content: &[u64],
        most: usize,
        lead: bool,
    ) -> (Vec<u32>, Vec<u32>) {
        let (mut a, mut b) = (Vec::with_capacity(self.rows.len()), Vec::with_capacity(self.rows.len()));
        let mut pair = |x: u32, y: u32| {
            a.push(x.min(y));
            b.push(x.max(y));
        };
        self.leaders.clear();
        let (mut start, mut waiting, mut buckets) = (0, 0, 0);
        for i in 0..self.ends.len() {
            let end = self.ends[i];
            let bucket = start..end;
            start = end;
            if bucket.len() <= most {
                let rows = &self.rows[bucket];
                for (j, &x) in rows.iter().enumerate() {
                    rows[j + 1..].iter().for_each(|&y| pair(x, y));
                }
                continue;
            }
            let Some(leader) =
                self.rows[bucket.clone()].iter().copied().min_by_key(|&row| (content[row as usize], row))
            else {
                continue;
            };
            let kind = forest.find(leader);
            for at in bucket {
                let row = self.rows[at];
                if forest.find(row) != kind {
                    if lead {
                        pair(leader, row);
                    }
                    // What waits moves to the front, over rows that were looked at already.
                    self.rows[waiting] = row;
                    waiting += 1;
                }
            }
            self.ends[buckets] = waiting;
            buckets += 1;
            self.leaders.push(leader);
        }
        self.rows.truncate(waiting);
        self.ends.truncate(buckets);
        (a, b)
    }

    /// Lets go the rows that the forest by now holds to be of the kind of the leader they waited for.
    pub fn settle(&mut self, forest: &mut Forest) {
        let (mut start, mut waiting, mut buckets) = (0, 0, 0);
        for i in 0..self.ends.len() {
            let (end, kind, before) = (self.ends[i], forest.find(self.leaders[i]), waiting);
            for at in start..end {
                let row = self.rows[at];
                if forest.find(row) != kind {
                    self.rows[waiting] = row;
                    waiting += 1;
                }
            }
            start = end;
            if waiting > before {
                self.ends[buckets] = waiting;
                buckets += 1;
            }
        }
        self.rows.truncate(waiting);
        self.ends.truncate(buckets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    type Pairs = Vec<(u32, u32)>;

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
                let (a, b) = led.candidates(&mut forest, &content, 6, lead);
                let mut made: Vec<(u32, u32)> = a.into_iter().zip(b).collect();
                made.sort_unstable();
                assert_eq!(made, pairs);
                assert_eq!(led.rows(), waiting.iter().map(|&(_, row)| row).collect::<Vec<_>>());
                // Some of them are found alike.
                made.iter()
                    .filter(|&&(a, b)| mix(u64::from(a * 977 + b)).is_multiple_of(3))
                    .for_each(|&(a, b)| forest.join(a, b));
                led.settle(&mut forest);
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
                assert_eq!(led.rows(), buckets.concat());
            }
        }
    }
}
