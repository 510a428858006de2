//! A compiled region: its memory, and how it is entered.

use super::executable::Memory;
use super::stubs::Stubs;
use crate::backend::{CompileError, Executable};
use crate::ir::ExitId;
use crate::vcode::{Held, Loaded};
use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter};
use spmdvm_vm::interp::native::Context;
use std::sync::{Arc, OnceLock};

/// What a region becomes: it gives the number of its exit.
type Entry = unsafe extern "C" fn(*mut Context) -> u32;

/// The code of a region.
pub(super) struct Code {
    /// Where it begins.
    run: Entry,
    memory: Memory,
    /// The same as an offset in the memory: before it are constants.
    entry: usize,
    /// What the code refers to by address.
    _held: Vec<Held>,
    _stubs: Arc<Stubs>,
    listing: OnceLock<String>,
}

impl Code {
    /// Loads code.
    pub fn new(code: Loaded, stubs: &Arc<Stubs>) -> Result<Code, CompileError> {
        let memory = Memory::new(&code.emitted.bytes)?;
        let (_stubs, entry) = (Arc::clone(stubs), code.emitted.entry);
        // SAFETY: the bytes from there on are the translation of the region, a function of this signature.
        let run = unsafe { std::mem::transmute::<*const u8, Entry>(memory.address(entry)) };
        Ok(Code { run, memory, entry, _held: code.held, _stubs, listing: OnceLock::new() })
    }
}

impl Executable for Code {
    unsafe fn run(&self, context: &mut Context) -> ExitId {
        // SAFETY: the caller's promise.
        ExitId(unsafe { (self.run)(context) })
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
