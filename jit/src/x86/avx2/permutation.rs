//! Permutations of two vectors whose choice is known, which AVX2 has no single instruction for.
//!
//! Places and elements are of 4 bytes, eight to a vector; an element is named by its number, and those of the second vector begin
//! at 8. Elements of 8 bytes are two of these.

/// Places of a vector.
pub(in crate::x86) const PLACES: usize = 8;

/// Which element is wanted at each place, or nothing in particular.
pub(in crate::x86) type Choice = [Option<usize>; PLACES];

/// An instruction that picks elements of two vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::x86) enum Pick {
    /// Each where it is; a bit is set where it is the second's.
    Blend(u8),
    /// In both halves alike, two elements of the first's half and two of the second's.
    Shuffle(u8),
    /// In each half one pair of the first's half and one of the second's.
    Pairs(u8),
    /// In each half elements of the lower or upper half of both halves, one after another.
    Interleave { upper: bool },
    /// Whole halves.
    Halves(u8),
}

impl Pick {
    /// The element at each place.
    fn elements(self) -> [usize; PLACES] {
        std::array::from_fn(|at| {
            let (half, within) = (at / 4 * 4, at % 4);
            match self {
                Pick::Blend(bits) => at + PLACES * usize::from(bits >> at & 1),
                Pick::Shuffle(numbers) => within / 2 * PLACES + half + usize::from(numbers >> (2 * within) & 3),
                Pick::Pairs(bits) => within / 2 * PLACES + half + 2 * usize::from(bits >> (at / 2) & 1) + at % 2,
                Pick::Interleave { upper } => within % 2 * PLACES + half + 2 * usize::from(upper) + within / 2,
                Pick::Halves(numbers) => usize::from(numbers >> half & 3) * 4 + within,
            }
        })
    }

    /// Those that may give what is wanted, at these places or at others.
    fn candidates(wanted: &Choice) -> Vec<Pick> {
        let is_wanted = |e: usize| wanted.contains(&Some(e));
        let at = |places: &[usize]| places.iter().find_map(|&at| wanted[at]);
        let mut all = Vec::with_capacity(9);
        all.push(Pick::Blend((0..PLACES).filter(|&at| is_wanted(at + PLACES)).fold(0, |bits, at| bits | 1 << at)));
        all.extend([false, true].map(|upper| Pick::Interleave { upper }));

        // By place, then by the two that are wanted, in their order.
        let by_place = (0..4).map(|k| at(&[k, k + 4]).unwrap_or(0) % 4);
        all.push(Pick::Shuffle(by_place.enumerate().fold(0, |bits, (k, e)| bits | (e as u8) << (2 * k))));
        let two = |first: usize| {
            let mut own = (0..4).filter(move |e| is_wanted(first + e) || is_wanted(first + 4 + e));
            let one = own.next().unwrap_or(0);
            [one, own.next().unwrap_or(one)]
        };
        let numbers = [two(0), two(PLACES)].concat();
        all.push(Pick::Shuffle(numbers.into_iter().enumerate().fold(0, |bits, (k, e)| bits | (e as u8) << (2 * k))));

        let by_place = (0..4).map(|pair| at(&[2 * pair, 2 * pair + 1]).unwrap_or(0) / 2 % 2);
        all.push(Pick::Pairs(by_place.enumerate().fold(0, |bits, (pair, e)| bits | (e as u8) << pair)));
        let upper = |pair: usize| is_wanted(4 * pair + 2) || is_wanted(4 * pair + 3);
        let ordered = [0, 2, 1, 3].map(upper);
        all.push(Pick::Pairs(ordered.into_iter().enumerate().fold(0, |bits, (pair, e)| bits | u8::from(e) << pair)));

        let by_place = [0, 4].map(|half| at(&[half, half + 1, half + 2, half + 3]).unwrap_or(0) / 4);
        all.push(Pick::Halves((by_place[0] | by_place[1] << 4) as u8));
        let mut halves = (0..4).filter(|half| (0..4).any(|e| is_wanted(4 * half + e)));
        let one = halves.next().unwrap_or(0);
        all.push(Pick::Halves((one | halves.next().unwrap_or(one) << 4) as u8));
        all
    }
}

/// An instruction that permutes one vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::x86) enum Order {
    /// In both halves alike.
    InHalves(u8),
    /// Pairs of elements.
    Pairs(u8),
    /// By a vector of numbers.
    Any([usize; PLACES]),
}

impl Order {
    fn elements(self) -> [usize; PLACES] {
        std::array::from_fn(|at| match self {
            Order::InHalves(numbers) => at / 4 * 4 + usize::from(numbers >> (2 * (at % 4)) & 3),
            Order::Pairs(numbers) => usize::from(numbers >> (2 * (at / 2)) & 3) * 2 + at % 2,
            Order::Any(elements) => elements[at],
        })
    }

    /// The one that puts elements where they are wanted; `None` if they are there.
    fn of(wanted: &Choice) -> Option<Order> {
        let gives = |elements: [usize; PLACES]| (0..PLACES).all(|at| wanted[at].is_none_or(|e| e == elements[at]));
        if gives(std::array::from_fn(|at| at)) {
            return None;
        }
        let at = |places: [usize; 2]| places.iter().find_map(|&at| wanted[at]).unwrap_or(0);
        let numbers = |number: &dyn Fn(usize) -> usize| (0..4).fold(0, |bits, k| bits | (number(k) as u8) << (2 * k));
        let simple = [
            Order::InHalves(numbers(&|k| at([k, k + 4]) % 4)),
            Order::Pairs(numbers(&|pair| at([2 * pair, 2 * pair + 1]) / 2)),
        ];
        let simple = simple.into_iter().find(|order| gives(order.elements()));
        Some(simple.unwrap_or_else(|| Order::Any(std::array::from_fn(|at| wanted[at].unwrap_or(at)))))
    }
}

/// How the elements of two vectors come to their places: each vector is permuted, what is picked of both is, too.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::x86) struct Recipe {
    pub before: [Option<Order>; 2],
    /// Of both; where there is none, the elements of one are all that is wanted: the first's, or the second's.
    pub pick: Option<Pick>,
    pub of_second: bool,
    pub after: Option<Order>,
}

impl Recipe {
    pub(in crate::x86) fn of(wanted: &Choice) -> Recipe {
        let of = |first: usize| wanted.map(|e| e.filter(|e| (first..first + PLACES).contains(e)).map(|e| e - first));
        let [first, second] = [of(0), of(PLACES)];
        for (own, other, of_second) in [(&first, &second, false), (&second, &first, true)] {
            if other.iter().all(Option::is_none) {
                return Recipe { of_second, after: Order::of(own), ..Recipe::default() };
            }
        }
        let picked = Pick::candidates(wanted).into_iter().filter_map(|pick| {
            let elements = pick.elements();
            let place = |e: usize| elements.iter().position(|&have| have == e);
            // What is where it is wanted stays there, should it be elsewhere too.
            let mut rest = [None; PLACES];
            for at in 0..PLACES {
                let Some(e) = wanted[at] else { continue };
                rest[at] = Some(if elements[at] == e { at } else { place(e)? });
            }
            Some(Recipe { pick: Some(pick), after: Order::of(&rest), ..Recipe::default() })
        });
        let bits = (0..PLACES).filter(|&at| second[at].is_some()).fold(0, |bits, at| bits | 1 << at);
        let before = [Order::of(&first), Order::of(&second)];
        let each = Recipe { before, pick: Some(Pick::Blend(bits)), ..Recipe::default() };
        picked.chain([each]).min_by_key(|recipe| recipe.cost()).unwrap_or(each)
    }

    /// Its instructions; one by a vector of numbers counts a little more.
    fn cost(self) -> usize {
        let order = |order: Option<Order>| match order {
            None => 0,
            Some(Order::Any(_)) => 5,
            Some(_) => 4,
        };
        order(self.before[0]) + order(self.before[1]) + 4 * usize::from(self.pick.is_some()) + order(self.after)
    }

    /// How many instructions it is.
    pub(in crate::x86) fn instructions(self) -> usize {
        [self.before[0], self.before[1], self.after].iter().flatten().count() + usize::from(self.pick.is_some())
    }
}

/// Places for elements of two vectors that may be anywhere, so that few instructions bring them there. Those of 8 bytes, `in_pairs`,
/// are not taken apart.
pub(in crate::x86) fn arranged(elements: &[usize], in_pairs: bool) -> Choice {
    let mut wanted = [None; PLACES];
    elements.iter().zip(&mut wanted).for_each(|(&e, at)| *at = Some(e));
    for pick in Pick::candidates(&wanted) {
        let there = pick.elements();
        let is_whole = !in_pairs || there.chunks(2).all(|pair| pair[0] % 2 == 0 && pair[1] == pair[0] + 1);
        if is_whole && elements.iter().all(|e| there.contains(e)) {
            let mut rest = elements.to_vec();
            return there.map(|e| rest.iter().position(|&x| x == e).map(|at| rest.swap_remove(at)));
        }
    }
    // The first's stay, and so do those of the second that can.
    let mut choice = [None; PLACES];
    let (first, second): (Vec<usize>, Vec<usize>) = elements.iter().partition(|&&e| e < PLACES);
    first.into_iter().for_each(|e| choice[e] = Some(e));
    let (stay, moved): (Vec<usize>, Vec<usize>) = second.into_iter().partition(|e| choice[e - PLACES].is_none());
    stay.into_iter().for_each(|e| choice[e - PLACES] = Some(e));
    let mut free = (0..PLACES).filter(|&at| choice[at].is_none()).collect::<Vec<_>>().into_iter();
    for e in moved {
        let Some(at) = free.next() else { break };
        choice[at] = Some(e);
    }
    choice
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn carried_out(recipe: Recipe) -> [usize; PLACES] {
        let permuted = |x: [usize; PLACES], order: Option<Order>| match order {
            Some(order) => order.elements().map(|e| x[e]),
            None => x,
        };
        let [first, second] = [0, PLACES].map(|first| std::array::from_fn(|at| first + at));
        let [first, second] = [permuted(first, recipe.before[0]), permuted(second, recipe.before[1])];
        let both = [first, second].concat();
        let picked = match recipe.pick {
            Some(pick) => pick.elements().map(|e| both[e]),
            None if recipe.of_second => second,
            None => first,
        };
        permuted(picked, recipe.after)
    }

    proptest! {
        #[test]
        fn recipes_give_what_is_wanted(wanted in prop::array::uniform8(prop::option::of(0..2 * PLACES))) {
            let recipe = Recipe::of(&wanted);
            let made = carried_out(recipe);
            for at in 0..PLACES {
                prop_assert!(wanted[at].is_none_or(|e| e == made[at]), "{:?}: {:?}", recipe, made);
            }
            prop_assert!(recipe.instructions() <= 3);
        }

        /// All are there once, and where a single instruction has them, it is found.
        #[test]
        fn arrangements_hold_the_elements(
            elements in prop::sample::subsequence((0..2 * PLACES).collect::<Vec<_>>(), 1..=PLACES),
        ) {
            let choice = arranged(&elements, false);
            let mut held: Vec<usize> = choice.iter().flatten().copied().collect();
            held.sort_unstable();
            prop_assert_eq!(&held, &elements);
            prop_assert!(Recipe::of(&choice).instructions() <= 2);
        }
    }

    #[test]
    fn known_permutations_are_one_instruction_or_two() {
        let recipe = |numbers: [usize; PLACES]| Recipe::of(&numbers.map(Some));
        assert_eq!(recipe([0, 8, 1, 9, 4, 12, 5, 13]).pick, Some(Pick::Interleave { upper: false }));
        assert_eq!(recipe([4, 5, 6, 7, 8, 9, 10, 11]).pick, Some(Pick::Halves(0x21)));
        assert_eq!(recipe([0, 9, 2, 11, 4, 13, 6, 15]).pick, Some(Pick::Blend(0xaa)));
        // Every second element of both.
        let even = recipe([0, 2, 4, 6, 8, 10, 12, 14]);
        assert_eq!((even.pick, even.after), (Some(Pick::Shuffle(0x88)), Some(Order::Pairs(0xd8))));
        assert_eq!(recipe([7, 6, 5, 4, 3, 2, 1, 0]).instructions(), 1);
        assert_eq!(recipe(std::array::from_fn(|at| at)).instructions(), 0);
        assert_eq!(recipe(std::array::from_fn(|at| 8 + at)), Recipe { of_second: true, ..Recipe::default() });
    }
}
