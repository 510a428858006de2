//! The search: which simplifications are tried, in what order and how many at once.

use super::calls;
use super::defined::Defined;
use super::passes::{PASSES, Pass, Unit, Units};
use super::{Ended, Interesting, PassCount, Progress, Reduced, Settings, lines};
use crate::tree::{Edits, Tree};
use spmdvm::frontend::bumpalo::Bump;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Instant;

/// By how much fewer simplifications are tried at once when more did not work.
const SHRINK: usize = 4;
/// How many times as long as the original a program may become on the way.
const GROWTH: usize = 2;

/// A reduction at work.
pub struct Search<'s> {
    best: String,
    /// The longest text that is tried.
    limit: usize,
    judge: Judge<'s>,
    settings: &'s Settings,
    start: Instant,
    progress: &'s mut dyn FnMut(&Progress),
    hashes: RandomState,
    /// What was tried and did not do.
    refused: HashSet<u64>,
    candidates: usize,
    counts: Vec<PassCount>,
}

/// A reduction has to end.
struct Stop(Ended);

impl<'s> Search<'s> {
    /// Begins with a program that is interesting.
    pub fn new(
        text: &str,
        interesting: &'s Interesting<'s>,
        defined: &'s Defined,
        settings: &'s Settings,
        start: Instant,
        progress: &'s mut dyn FnMut(&Progress),
    ) -> Search<'s> {
        Search {
            best: text.to_owned(),
            limit: GROWTH * text.len(),
            judge: Judge { interesting, defined, trials: AtomicUsize::new(0) },
            settings,
            start,
            progress,
            hashes: RandomState::new(),
            refused: HashSet::new(),
            candidates: 0,
            counts: PASSES.iter().map(|pass| PassCount { name: pass.name, successes: 0, bytes: 0 }).collect(),
        }
    }

    /// Runs all passes until none of them helps.
    pub fn run(&mut self) -> Ended {
        loop {
            let before = self.best.clone();
            for (index, pass) in PASSES.iter().enumerate() {
                if let Err(Stop(end)) = self.pass(index, pass) {
                    return end;
                }
            }
            if self.best == before {
                return Ended::Smallest;
            }
        }
    }

    /// What has been found.
    pub fn finish(self, end: Ended) -> Reduced {
        Reduced {
            text: self.best,
            trials: self.judge.trials(),
            candidates: self.candidates,
            passes: self.counts.into_iter().filter(|count| count.successes > 0).collect(),
            end,
            elapsed: self.start.elapsed(),
        }
    }

    /// Tries the simplifications of a pass: all at once, then ever fewer.
    fn pass(&mut self, index: usize, pass: &Pass) -> Result<(), Stop> {
        let mut units = self.units(pass);
        let mut chunk = units.len();
        while chunk > 0 {
            let mut at = 0;
            while at < units.len() {
                self.report(pass.name);
                let starts: Vec<usize> = (at..units.len()).step_by(chunk).take(self.settings.jobs.max(1)).collect();
                let texts = starts.iter().map(|&at| self.edited(&units[at..units.len().min(at + chunk)])).collect();
                match self.first_good(texts)? {
                    Some((found, text)) => {
                        self.accept(index, text);
                        units = self.units(pass);
                        at = starts[found];
                    }
                    None => at += chunk * starts.len(),
                }
            }
            chunk = if chunk > 1 { chunk.min(units.len()).div_ceil(SHRINK).min(chunk - 1) } else { 0 };
        }
        Ok(())
    }

    /// The simplifications of the program as it is.
    fn units(&self, pass: &Pass) -> Vec<Unit> {
        let arena = Bump::new();
        let Ok(tree) = Tree::parse(&arena, self.judge.defined.name(), &self.best, self.judge.defined.options()) else {
            return Vec::new();
        };
        match pass.units {
            Units::Tree(units) => units(&tree),
            Units::Calls(units) => units(&tree, &calls::of(&self.best, self.judge.defined)),
        }
    }

    /// The program with these simplifications, those left out that overlap with earlier ones.
    fn edited(&self, units: &[Unit]) -> Option<String> {
        let mut edits = Edits::new();
        for unit in units {
            // What lies in something that goes is gone with it.
            let _ = edits.add_all(unit.iter().cloned());
        }
        let text = edits.apply(&self.best);
        (text != self.best && text.len() <= self.limit).then_some(text)
    }

    /// The first of the candidates that is valid, defined and interesting, and its number.
    fn first_good(&mut self, texts: Vec<Option<String>>) -> Result<Option<(usize, String)>, Stop> {
        self.check_budget()?;
        let is_new = |text: &String| !self.refused.contains(&self.hashes.hash_one(text));
        let tried: Vec<(usize, String)> =
            texts.into_iter().enumerate().filter_map(|(at, text)| Some((at, text.filter(is_new)?))).collect();
        self.candidates += tried.len();
        let good = self.judge.are_good(&tried);
        let first = good.iter().position(|&good| good).unwrap_or(tried.len());
        for (_, text) in &tried[..first] {
            self.refused.insert(self.hashes.hash_one(text));
        }
        Ok(tried.into_iter().nth(first))
    }

    fn accept(&mut self, pass: usize, text: String) {
        let count = &mut self.counts[pass];
        count.successes += 1;
        count.bytes += self.best.len() as isize - text.len() as isize;
        self.best = text;
    }

    fn check_budget(&self) -> Result<(), Stop> {
        let is_set = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        let trials = self.judge.trials();
        if self.settings.interrupt.as_ref().is_some_and(is_set) {
            return Err(Stop(Ended::Interrupted));
        }
        if self.settings.trials.is_some_and(|most| trials >= most) {
            return Err(Stop(Ended::Trials));
        }
        match self.settings.time.is_some_and(|most| self.start.elapsed() >= most) {
            true => Err(Stop(Ended::Time)),
            false => Ok(()),
        }
    }

    fn report(&mut self, pass: &'static str) {
        let (lines, bytes, trials) = (lines(&self.best), self.best.len(), self.judge.trials());
        (self.progress)(&Progress { pass, lines, bytes, trials, candidates: self.candidates });
    }
}

/// Says which candidates will do.
struct Judge<'s> {
    interesting: &'s Interesting<'s>,
    defined: &'s Defined,
    /// How often `interesting` was asked.
    trials: AtomicUsize,
}

impl Judge<'_> {
    fn trials(&self) -> usize {
        self.trials.load(Ordering::Relaxed)
    }

    /// Which of the candidates will do.
    fn are_good(&self, candidates: &[(usize, String)]) -> Vec<bool> {
        if let [(_, text)] = candidates {
            return vec![self.is_good(text)];
        }
        std::thread::scope(|scope| {
            let threads: Vec<_> = candidates.iter().map(|(_, text)| scope.spawn(move || self.is_good(text))).collect();
            let result = |thread: ScopedJoinHandle<'_, bool>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(result).collect()
        })
    }

    fn is_good(&self, text: &str) -> bool {
        self.defined.allows(text) && {
            self.trials.fetch_add(1, Ordering::Relaxed);
            (self.interesting)(text)
        }
    }
}
