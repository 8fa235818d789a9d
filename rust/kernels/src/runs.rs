//! Runs of equal keys among keys that stand in order already.

/// Where runs of `least` to `most` equal keys stand in the pieces, one after the other, as stretches (start, stop); runs that follow one another are one
/// stretch. `None` if the keys do not rise. One pass, and memory for the stretches alone.
pub fn standing(pieces: &[&[u64]], least: usize, most: usize) -> Option<(Vec<i64>, Vec<i64>)> {
    // Where keys do not rise, the first few mostly tell.
    if pieces.iter().any(|keys| !keys[..keys.len().min(64)].is_sorted()) {
        return None;
    }
    let (mut starts, mut stops): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
    let mut end = |start: usize, stop: usize| {
        if (least..=most).contains(&(stop - start)) {
            match stops.last_mut() {
                Some(last) if *last == start as i64 => *last = stop as i64,
                _ => {
                    starts.push(start as i64);
                    stops.push(stop as i64);
                }
            }
        }
    };
    // The run at hand: its key, and where it began.
    let mut run: Option<(u64, usize)> = None;
    let mut before = 0;
    for keys in pieces {
        let mut at = 0;
        while at < keys.len() {
            let (key, begun) = match run {
                Some((key, begun)) if key == keys[at] => (key, begun),
                Some((key, _)) if key > keys[at] => return None,
                Some((_, begun)) => {
                    end(begun, before + at);
                    (keys[at], before + at)
                }
                None => (keys[at], before + at),
            };
            run = Some((key, begun));
            at += equal(&keys[at..], key);
        }
        before += keys.len();
    }
    if let Some((_, begun)) = run {
        end(begun, before);
    }
    Some((starts, stops))
}

/// How many keys at the front equal `key`; long runs a block at a time.
#[inline(always)]
fn equal(keys: &[u64], key: u64) -> usize {
    const BLOCK: usize = 32;
    let blocks = keys.as_chunks::<BLOCK>().0.iter();
    let alike = blocks.take_while(|block| block.iter().fold(0, |bits, &other| bits | (other ^ key)) == 0).count();
    let whole = BLOCK * alike;
    whole + keys[whole..].iter().take_while(|&&other| other == key).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    /// The same, run by run.
    fn expected(keys: &[u64], least: usize, most: usize) -> Option<Vec<usize>> {
        let wanted = |run: &&[u64]| (least..=most).contains(&run.len());
        keys.is_sorted().then(|| {
            let mut at = 0;
            let places = keys.chunk_by(|a, b| a == b).map(|run| {
                at += run.len();
                (run, at - run.len())
            });
            places.filter(|(run, _)| wanted(run)).flat_map(|(run, at)| at..at + run.len()).collect()
        })
    }

    #[test]
    fn stretches_hold_the_runs_of_the_sizes_asked_for() {
        for seed in 0..400u64 {
            let draw = |i: u64, n: u64| mix(seed * 1_000 + i) % n;
            let mut keys: Vec<u64> = (0..draw(0, 300)).map(|i| draw(10 + i, 1 + draw(1, 60))).collect();
            keys.sort_unstable();
            if draw(2, 8) == 0 && keys.len() > 70 {
                let at = 64 + draw(3, keys.len() as u64 - 65) as usize;
                keys.swap(at, at + 1);
            }
            let cut = draw(4, keys.len() as u64 + 1) as usize;
            let pieces = [&keys[..cut], &[], &keys[cut..]];
            for (least, most) in [(1, usize::MAX), (2, usize::MAX), (2, 4), (5, usize::MAX), (1, 1)] {
                let found = standing(&pieces, least, most).map(|(starts, stops)| {
                    assert!(starts.iter().skip(1).zip(&stops).all(|(start, stop)| start > stop), "not one stretch");
                    starts.iter().zip(&stops).flat_map(|(&start, &stop)| start as usize..stop as usize).collect()
                });
                assert_eq!(found, expected(&keys, least, most), "{keys:?} {cut} {least} {most}");
            }
        }
    }
}
