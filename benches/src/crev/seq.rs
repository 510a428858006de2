//! The algorithms in plain Rust, one element at a time, as textbooks have them (Cormen, Leiserson, Rivest, Stein; Knuth, Morris and
//! Pratt for string matching): what the variants are compared with, in results and in time.

/// The lines of a book (of so many characters each) that contain a pattern; zeros elsewhere.
pub fn book_filter(book: &[i8], length: usize, pattern: &[i8]) -> Vec<i8> {
    let mut out = vec![0; book.len()];
    for (line, copy) in book.chunks_exact(length).zip(out.chunks_exact_mut(length)) {
        if line.windows(pattern.len()).any(|part| part == pattern) {
            copy.copy_from_slice(line);
        }
    }
    out
}

/// 1 where a pattern begins.
pub fn string_matching(text: &[i8], pattern: &[i8]) -> Vec<i8> {
    let mut failure = vec![0; pattern.len()];
    let mut k = 0;
    for i in 1..pattern.len() {
        while k > 0 && pattern[k] != pattern[i] {
            k = failure[k - 1];
        }
        k += usize::from(pattern[k] == pattern[i]);
        failure[i] = k;
    }
    let mut found = vec![0; text.len()];
    k = 0;
    for (i, &c) in text.iter().enumerate() {
        while k > 0 && pattern[k] != c {
            k = failure[k - 1];
        }
        k += usize::from(pattern[k] == c);
        if k == pattern.len() {
            found[i + 1 - k] = 1;
            k = failure[k - 1];
        }
    }
    found
}

/// How far what cannot be reached is.
const FAR: i32 = 0x3fff_ffff;

/// The edges of a node in compressed rows.
fn edges(first: &[i32], node: usize) -> std::ops::Range<usize> {
    first[node] as usize..first[node + 1] as usize
}

/// The lengths of the shortest ways from node 0. Only nodes whose distance has changed in the last round are looked at.
pub fn bellman_ford(first: &[i32], target: &[i32], weight: &[i32]) -> Vec<i32> {
    let nodes = first.len() - 1;
    let mut distance = vec![FAR; nodes];
    let mut changed = vec![false; nodes];
    (distance[0], changed[0]) = (0, true);
    while changed.contains(&true) {
        let mut next = vec![false; nodes];
        for node in (0..nodes).filter(|&node| changed[node]) {
            for edge in edges(first, node) {
                let (to, through) = (target[edge] as usize, distance[node] + weight[edge]);
                if through < distance[to] {
                    distance[to] = through;
                    next[to] = true;
                }
            }
        }
        changed = next;
    }
    distance
}

/// From where each node is first seen from node 0, and how many edges from it; -1 and 0 for those that are not.
pub fn depth_first_search(first: &[i32], target: &[i32]) -> (Vec<i32>, Vec<i32>) {
    struct Search<'g> {
        first: &'g [i32],
        target: &'g [i32],
        parent: Vec<i32>,
        depth: Vec<i32>,
    }
    impl Search<'_> {
        fn visit(&mut self, node: usize) {
            for edge in edges(self.first, node) {
                let next = self.target[edge] as usize;
                if self.parent[next] == -1 {
                    self.parent[next] = node as i32;
                    self.depth[next] = self.depth[node] + 1;
                    self.visit(next);
                }
            }
        }
    }
    let nodes = first.len() - 1;
    let mut search = Search { first, target, parent: vec![-1; nodes], depth: vec![0; nodes] };
    search.parent[0] = 0;
    search.visit(0);
    (search.parent, search.depth)
}

/// The smallest node of each node's connected part.
pub fn leader_election(first: &[i32], target: &[i32]) -> Vec<i32> {
    let nodes = first.len() - 1;
    let mut leader: Vec<i32> = (0..nodes as i32).collect();
    let mut news = vec![true; nodes];
    while news.contains(&true) {
        let mut next = vec![false; nodes];
        for node in (0..nodes).filter(|&node| news[node]) {
            for edge in edges(first, node) {
                let to = target[edge] as usize;
                if leader[node] < leader[to] {
                    leader[to] = leader[node];
                    next[to] = true;
                }
            }
        }
        news = next;
    }
    leader
}

/// Numbers in order, by Hoare's quicksort.
pub fn quicksort(numbers: &[i32]) -> Vec<i32> {
    fn sort(a: &mut [i32]) {
        if a.len() <= 1 {
            return;
        }
        let pivot = a[(a.len() - 1) / 2];
        let (mut low, mut high) = (0, a.len() - 1);
        loop {
            while a[low] < pivot {
                low += 1;
            }
            while a[high] > pivot {
                high -= 1;
            }
            if low >= high {
                break;
            }
            a.swap(low, high);
            low += 1;
            high -= 1;
        }
        let (left, right) = a.split_at_mut(high + 1);
        sort(left);
        sort(right);
    }
    let mut sorted = numbers.to_vec();
    sort(&mut sorted);
    sorted
}

/// Numbers in order, by mergesort.
pub fn mergesort(numbers: &[i32]) -> Vec<i32> {
    fn sort(a: &mut [i32], room: &mut [i32]) {
        if a.len() <= 1 {
            return;
        }
        let middle = a.len() / 2;
        sort(&mut a[..middle], room);
        sort(&mut a[middle..], room);
        let (mut left, mut right) = (0, middle);
        for place in &mut room[..a.len()] {
            let from = if left < middle && (right == a.len() || a[left] <= a[right]) { &mut left } else { &mut right };
            *place = a[*from];
            *from += 1;
        }
        a.copy_from_slice(&room[..a.len()]);
    }
    let mut sorted = numbers.to_vec();
    sort(&mut sorted, &mut vec![0; numbers.len()]);
    sorted
}
