//! Numbers of an index's entries, ticked off as batches come by.

use std::sync::Arc;

/// A key for each entry. A walk that begins amid the log has its own copy, which later joins that of the walk before.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    /// The keys, by the number of their entry.
    keys: Arc<[u64]>,
    /// The entries in the order of their keys, if that is another one.
    order: Option<Arc<[u32]>>,
    /// Where this walk began in that order, and the first entry that is not behind yet.
    begin: usize,
    next: usize,
    begun: bool,
    /// Entries whose key no batch had.
    missed: Vec<usize>,
}

impl Keys {
    pub(super) fn new(keys: impl Iterator<Item = u64>) -> Self {
        let keys: Arc<[u64]> = keys.collect();
        let order = (!keys.is_sorted()).then(|| {
            let mut order: Vec<u32> = (0..keys.len() as u32).collect();
            order.sort_by_key(|entry| keys[*entry as usize]);
            order.into()
        });
        Keys { keys, order, begin: 0, next: 0, begun: false, missed: Vec::new() }
    }

    /// Key of an entry.
    pub(super) fn of(&self, entry: usize) -> u64 {
        self.keys[entry]
    }

    /// The entry at a place in the order of the keys.
    fn entry(&self, place: usize) -> usize {
        self.order.as_ref().map_or(place, |order| order[place] as usize)
    }

    /// For a walk that begins amid the log, at a batch of `key`.
    pub(super) fn begin_at(&mut self, key: u64) {
        let (mut low, mut high) = (0, self.keys.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.keys[self.entry(middle)] < key { low = middle + 1 } else { high = middle }
        }
        (self.begin, self.next, self.begun) = (low, low, true);
    }

    /// Whether this walk has a beginning.
    pub(super) fn begun(&self) -> bool {
        self.begun
    }

    /// A batch of `key` comes by: calls `hit` with each entry of that key. Lower ones are missed.
    #[inline]
    pub(super) fn tick(&mut self, key: u64, mut hit: impl FnMut(usize)) {
        self.begun = true;
        while self.next < self.keys.len() {
            let entry = self.entry(self.next);
            match self.keys[entry] {
                k if k > key => break,
                k if k == key => hit(entry),
                _ => self.missed.push(entry),
            }
            self.next += 1;
        }
    }

    /// The entries that this walk has behind it.
    pub(super) fn behind(&self) -> impl Iterator<Item = usize> {
        (self.begin..self.next).map(|place| self.entry(place))
    }

    /// Whether the entry is behind and no batch had its key.
    pub(super) fn has_missed(&self, entry: usize) -> bool {
        self.missed.contains(&entry)
    }

    /// Goes on as `part` did, which began where this walk stands.
    pub(super) fn join(&mut self, part: Keys) {
        if part.begun {
            // Keys between the two are of no batch.
            let between: Vec<_> = (self.next..part.begin).map(|place| self.entry(place)).collect();
            self.missed.extend(between);
            self.missed.extend(part.missed);
            self.next = self.next.max(part.next);
        }
    }

    /// The entries whose key no batch had, in rising order.
    pub(super) fn missed(mut self) -> Vec<usize> {
        let ahead: Vec<_> = (self.next..self.keys.len()).map(|place| self.entry(place)).collect();
        self.missed.extend(ahead);
        self.missed.sort_unstable();
        self.missed
    }
}

#[cfg(test)]
mod tests {
    use super::Keys;

    #[test]
    fn parts_join_to_what_one_walk_finds() {
        for keys in [[5, 10, 10, 17, 20, 31, 40], [40, 10, 5, 17, 10, 31, 20]] {
            let keys = Keys::new(keys.into_iter());
            let batches = [0, 5, 10, 15, 20, 25, 30, 35];
            let mut whole = keys.clone();
            let mut hits = Vec::new();
            batches.iter().for_each(|&batch| whole.tick(batch, |e| hits.push(keys.of(e))));
            assert_eq!(hits, [5, 10, 10, 20]);
            let expected = whole.missed();
            assert_eq!(expected.len(), 3);
            for cut in 0..=batches.len() {
                let (mut a, mut b) = (keys.clone(), keys.clone());
                batches[..cut].iter().for_each(|&batch| a.tick(batch, |_| ()));
                for &batch in &batches[cut..] {
                    if !b.begun() {
                        b.begin_at(batch);
                    }
                    b.tick(batch, |_| ());
                }
                a.join(b);
                assert_eq!(a.missed(), expected, "cut at {cut}");
            }
        }
    }
}
