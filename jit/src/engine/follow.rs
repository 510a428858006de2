//! From region to region: what happens at a head, and where a region leads.
//!
//! A region that ends at a call that is a link, at a return, where it was cut, or at the end of its loop leads to a head, at
//! which another begins ([`Leads`]). The state is in the frames by then, so the way there is short: if the instruction is a call
//! or return, the interpreter's handler executes it, with its traps and fuel; then the version whose facts hold is entered. The
//! interpreter goes on, as it could anywhere, where there is none.

use super::head::Head;
use super::hot_loop::{Holding, NEVER};
use super::version::{Change, Leads, Version};
use super::{Answer, Jit, WORDS};
use crate::record::{LIGHT, leads_on};
use crate::stress;
use spmdvm_vm::interp::native::{ENTRY_WORDS, FRAME_WORDS, Pause, Tracer};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::FuncId;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Of so many links one is not followed, under stress.
const BROKEN: u64 = 8;

/// What came of coming to a head: after how many rounds to ask again, and where native code has led.
struct Visit {
    rounds: u32,
    leads: Leads,
}

impl Visit {
    fn interpret(rounds: u32) -> Visit {
        Visit { rounds, leads: Leads::Nowhere }
    }
}

impl Tracer for Jit {
    fn at_head(&self, pause: &mut Pause<'_>) -> u32 {
        let heads = self.heads.counted(|| pause.prepared(), self.settings.hot);
        let Some(head) = heads.get(pause.hot_count()) else { return NEVER };
        let mut words = [0u64; WORDS];
        let Visit { rounds, leads } = self.visit(pause, head, &mut words, false);
        self.follow(pause, leads, &mut words);
        rounds
    }

    fn calls(&self) -> u32 {
        self.settings.calls
    }
}

impl Jit {
    /// Does what is to be done at a head: enters a version, has one made, or leaves it to the interpreter.
    fn visit(&self, pause: &mut Pause<'_>, head: &Arc<Head>, words: &mut [u64; WORDS], linked: bool) -> Visit {
        if FRAME_WORDS + pause.entries().count() * ENTRY_WORDS > WORDS {
            return Visit::interpret(NEVER);
        }
        pause.write_masks(words);
        let enterable = head.enterable();
        if let Some(version) = Holding::new(pause, &words[..]).choose(&enterable) {
            return self.enter(pause, head, version, words);
        }
        match self.answer(pause, head, &Holding::new(pause, &words[..]), linked) {
            Answer::Enter(version) => self.enter(pause, head, &version, words),
            Answer::Interpret(rounds) => Visit::interpret(rounds),
            Answer::Observe => Visit::interpret(self.observe(pause, head.at)),
            Answer::Look => Visit::interpret(self.look(pause)),
        }
    }

    /// Goes on from where a region has led, for as long as there is native code.
    fn follow(&self, pause: &mut Pause<'_>, mut leads: Leads, words: &mut [u64; WORDS]) {
        while let Some(head) = self.next_head(pause, leads) {
            if !head.is_due() {
                return;
            }
            let visit = self.visit(pause, head, words, true);
            head.wait(visit.rounds);
            leads = visit.leads;
        }
    }

    /// The head to which a region has led, once the interpreter has done the calls and returns before it.
    fn next_head(&self, pause: &mut Pause<'_>, leads: Leads) -> Option<&Arc<Head>> {
        let hot = match leads {
            Leads::Nowhere => return None,
            Leads::On => self.settings.hot,
            Leads::Behind => self.settings.calls,
        };
        if self.settings.links.is_some() && !self.is_lucky() {
            return None;
        }
        while pause.inst().is_some_and(|inst| self.is_linked(inst.op, inst.aux)) {
            pause.step();
        }
        // A region begins with an active lane.
        if pause.has_ended() || pause.mask() == 0 {
            return None;
        }
        self.heads.find_or_add((pause.function(), pause.pc()), pause.program(), hot)
    }

    /// Returns whether an instruction is one that regions leave to the interpreter on the way to another.
    fn is_linked(&self, op: Op, callee: u32) -> bool {
        let is_light = || self.whole.get().is_some_and(|whole| whole.weights.of(FuncId(callee)) <= LIGHT);
        leads_on(op) && !(op == Op::Call && is_light())
    }

    /// Returns whether a link is followed, under stress.
    fn is_lucky(&self) -> bool {
        let before = self.followed.fetch_add(1, Ordering::Relaxed);
        !stress::is_chosen(before, (FuncId(0), 0), BROKEN)
    }

    /// Runs a version, unless somebody is to look at it first.
    fn enter(&self, pause: &mut Pause<'_>, head: &Arc<Head>, version: &Arc<Version>, words: &mut [u64]) -> Visit {
        if version.is_due() {
            self.look_again(pause, head, version);
            return Visit::interpret(0);
        }
        let (change, leads) = version.enter(pause, words, &self.settings, &self.native_instructions);
        let Some(change) = change else { return Visit { rounds: 0, leads } };
        let rounds = match *change {
            Change::GiveUp(why, at) => {
                let mut found = head.write();
                found.aborted_at = at;
                found.give_up(why);
                found.rests().unwrap_or(0)
            }
            Change::Recompile => return Visit::interpret(self.recompile(pause, head, version)),
            Change::Enlarge => {
                self.enlarge(pause, head, version);
                0
            }
            Change::Improve => {
                self.improve_later(version);
                0
            }
            Change::Specialise(facts, times) => {
                if let Some(mut found) = head.try_write() {
                    self.specialise(pause, head, &mut found, facts, times);
                }
                0
            }
        };
        Visit { rounds, leads }
    }
}
