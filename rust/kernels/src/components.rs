//! Pairs → clusters: the connected components, by union-find.

/// Trees whose root is always their least row, so that labels do not depend on the order of the pairs.
///
/// Linear in rows and pairs, up to the inverse Ackermann function; 4 bytes a row.
pub struct Forest {
    parent: Vec<u32>,
}

impl Forest {
    pub fn new(rows: usize) -> Forest {
        Forest { parent: (0..rows as u32).collect() }
    }

    pub fn find(&mut self, mut row: u32) -> u32 {
        while self.parent[row as usize] != row {
            let grandparent = self.parent[self.parent[row as usize] as usize];
            self.parent[row as usize] = grandparent;
            row = grandparent;
        }
        row
    }

    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        if a < b {
            self.parent[b as usize] = a;
        } else {
            self.parent[a as usize] = b;
        }
    }

    pub fn labels(&mut self) -> Vec<u32> {
        (0..self.parent.len() as u32).map(|row| self.find(row)).collect()
    }
}

/// The kept row of every row, when each kept row claims its neighbours: rows are asked in `order`, and one that no kept row has
/// claimed is kept.
///
/// So every row that is not kept is a neighbour of the one that claimed it. `first` says where each row's neighbours begin in `neighbours`.
pub fn stars(order: &[u32], first: &[i64], neighbours: &[u32]) -> Vec<u32> {
    const FREE: u32 = u32::MAX;
    let mut keeper = vec![FREE; order.len()];
    for &row in order {
        if keeper[row as usize] != FREE {
            continue;
        }
        keeper[row as usize] = row;
        for &neighbour in &neighbours[first[row as usize] as usize..first[row as usize + 1] as usize] {
            if keeper[neighbour as usize] == FREE {
                keeper[neighbour as usize] = row;
            }
        }
    }
    keeper
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    fn components(rows: usize, pairs: &[(u32, u32)]) -> Vec<u32> {
        let mut forest = Forest::new(rows);
        pairs.iter().for_each(|&(a, b)| forest.join(a, b));
        forest.labels()
    }

    #[test]
    fn labels_are_the_least_row_reached_whatever_the_order() {
        let rows = 300u64;
        let mut pairs: Vec<(u32, u32)> =
            (0..200).map(|i| ((mix(i) % rows) as u32, (mix(i + 999) % rows) as u32)).collect();
        let labels = components(rows as usize, &pairs);
        // Oracle: spread the least label along edges until nothing changes.
        let mut expected: Vec<u32> = (0..rows as u32).collect();
        loop {
            let before = expected.clone();
            for &(a, b) in &pairs {
                let least = expected[a as usize].min(expected[b as usize]);
                (expected[a as usize], expected[b as usize]) = (least, least);
            }
            if before == expected {
                break;
            }
        }
        assert_eq!(labels, expected);
        pairs.reverse();
        assert_eq!(components(rows as usize, &pairs), expected);
    }

    #[test]
    fn stars_keep_the_first_and_drop_only_its_neighbours() {
        // A chain 0 – 1 – 2 – 3: asked from 1, it claims 0 and 2, and 3 stays.
        let (first, neighbours) = ([0, 1, 3, 5, 6], [1, 0, 2, 1, 3, 2]);
        assert_eq!(stars(&[1, 0, 2, 3], &first, &neighbours), [1, 1, 1, 3]);
        assert_eq!(stars(&[0, 1, 2, 3], &first, &neighbours), [0, 0, 2, 2]);
    }
}
