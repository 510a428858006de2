//! A compiled region: its memory, and how it is entered.

use super::emit;
use super::env;
use super::executable::Memory;
use super::select::select;
use super::stubs::Stubs;
use crate::backend::Executable;
use crate::ir::{ExitId, Region};
use crate::native::Held;
use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter};
use regalloc2::{Algorithm, Ctx, RegallocOptions};
use spmdvm_vm::interp::native::Context;
use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

/// What a region becomes: it gives the number of its exit.
type Entry = unsafe extern "C" fn(*mut Context) -> u32;

/// The code of a region.
pub(super) struct Code {
    memory: Memory,
    /// Where the code begins: before it are constants.
    entry: usize,
    /// What the code refers to by address.
    _held: Vec<Held>,
    _stubs: Arc<Stubs>,
    listing: OnceLock<String>,
}

thread_local! {
    /// The register allocator's memory, kept from region to region.
    static ALLOCATOR: RefCell<Ctx> = RefCell::default();
}

/// Translates, compiles and loads a region.
pub(super) fn compile(region: Arc<Region>, stubs: &Arc<Stubs>) -> Result<Code, String> {
    let (flow, held) = select(&region)?;
    let options =
        RegallocOptions { verbose_log: false, validate_ssa: cfg!(debug_assertions), algorithm: Algorithm::Ion };
    // Taken, so that none is left in disorder should the allocator panic.
    let mut allocator = ALLOCATOR.take();
    let output = regalloc2::run_with_ctx(&flow, env::machine(), &options, &mut allocator);
    let emitted = emit::emit(&flow, output.map_err(|e| format!("{e:?}"))?, stubs)?;
    ALLOCATOR.set(allocator);
    let memory = Memory::new(&emitted.bytes)?;
    Ok(Code { memory, entry: emitted.entry, _held: held, _stubs: Arc::clone(stubs), listing: OnceLock::new() })
}

impl Executable for Code {
    unsafe fn run(&self, context: &mut Context) -> ExitId {
        // SAFETY: the bytes from there on are the translation of the region, a function of this signature.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(self.memory.address(self.entry)) };
        // SAFETY: the caller's promise.
        ExitId(unsafe { entry(context) })
    }

    fn code_bytes(&self) -> usize {
        self.memory.bytes().len()
    }

    fn listing(&self) -> Option<String> {
        let make = || {
            let code = &self.memory.bytes()[self.entry..];
            let mut decoder = Decoder::with_ip(64, code, self.entry as u64, DecoderOptions::NONE);
            let (mut formatter, mut instruction) = (IntelFormatter::new(), Instruction::default());
            let mut text = String::new();
            while decoder.can_decode() {
                decoder.decode_out(&mut instruction);
                let mut line = String::new();
                formatter.format(&instruction, &mut line);
                text += &format!("{:6x}  {line}\n", instruction.ip());
            }
            text
        };
        Some(self.listing.get_or_init(make).clone())
    }
}
