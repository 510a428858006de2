//! Regions that are written by hand, and memory that ends.

use super::values::Rng;
use super::{BankRegister, Host, Input, exit};
use spmdvm_jit::backend::{Backend, Executable};
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Builder, End, EntryMask, Kind, Region, Type, Value, verify};
use spmdvm_jit::x86::Avx512;
use spmdvm_vm::types::{Ty, Width};
use std::fs::File;
use std::sync::Arc;

/// All widths.
pub const WIDTHS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Addresses.
pub const U64: Type = Type::uniform(Ty::U64);

/// A stage with so many lanes.
pub fn host(lanes: u32) -> Host {
    Host::new(Width::new(lanes).unwrap())
}

/// A register at entry.
pub fn entry(b: &mut Builder, place: BankRegister) -> Value {
    b.inst(Kind::EntryReg { at: place.at }, &[], place.ty)
}

/// The execution mask at entry.
pub fn execution_mask(b: &mut Builder) -> Value {
    b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK)
}

/// The host address of a pointer.
pub fn address(b: &mut Builder, pointer: u64) -> Value {
    let pointer = b.constant(Ty::U64, pointer);
    b.host_address(pointer, 0)
}

/// Ends in an exit with one frame.
pub fn leave(b: &mut Builder, host: &Host, mask: Value, regs: Vec<(BankRegister, Value)>) {
    let out = b.exit(exit(host, mask, regs, vec![]));
    b.end(End::Exit(out));
}

/// The region, which has been found to be one.
pub fn finished(b: Builder) -> Arc<Region> {
    verify(&b.region).unwrap();
    Arc::new(b.region)
}

/// The region behind some passes, which is found to be one before and after.
pub fn passed(b: Builder, passes: &[fn(&mut Region)]) -> Region {
    let mut region = b.region;
    verify(&region).unwrap();
    passes.iter().for_each(|pass| pass(&mut region));
    verify(&region).unwrap_or_else(|e| panic!("{e}\n{region}"));
    region
}

/// The machine code of a region.
pub fn listing(x86: &Avx512, region: Arc<Region>) -> String {
    x86.compile(region).unwrap().listing().expect("there is a listing")
}

/// Lines with one of these.
pub fn count(listing: &str, texts: &[&str]) -> usize {
    listing.lines().filter(|line| texts.iter().any(|text| line.contains(text))).count()
}

/// Checks that both back ends give the same for some random inputs, of which some run out of fuel.
pub fn agree(host: &mut Host, region: &Arc<Region>, seed: u64, runs: usize) {
    let Some(x86) = super::x86() else { return };
    let codes = [&Ir as &dyn Backend, &*x86].map(|backend| Arc::from(backend.compile(region.clone()).unwrap()));
    let mut rng = Rng(seed);
    for run in 0..runs {
        let input = host.random_input(&mut rng, run % 2 == 1);
        host.agree_codes(region, &codes, &input);
    }
}

/// Bytes of a page, or of a few.
pub const PAGE: usize = 65536;

/// Memory of which only the first page is there: whoever touches what lies behind it gets a signal.
pub fn edge_of_memory() -> memmap2::MmapMut {
    let name = format!("spmdvm-wide-{}-{:?}", std::process::id(), std::thread::current().id());
    let path = std::env::temp_dir().join(name);
    let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    file.set_len(PAGE as u64).unwrap();
    // SAFETY: nobody else has the file.
    unsafe { memmap2::MmapOptions::new().len(2 * PAGE).map_mut(&file) }.unwrap()
}

/// What back ends leave in registers and in the page.
pub fn agree_on_page(host: &mut Host, page: &mut memmap2::MmapMut, region: &Arc<Region>, inputs: &[Input]) {
    let Some(x86) = super::x86() else { return };
    let codes = [&Ir as &dyn Backend, &*x86].map(|b| Arc::<dyn Executable>::from(b.compile(region.clone()).unwrap()));
    for input in inputs {
        let [(want, there), (have, here)] = codes.each_ref().map(|code| {
            page[..PAGE].iter_mut().enumerate().for_each(|(i, byte)| *byte = (i % 251) as u8);
            (host.run(code.clone(), input), page[..PAGE].to_vec())
        });
        host.same(region, 1, &want, &have);
        let differ = there.iter().zip(&here).position(|(a, b)| a != b);
        assert_eq!(differ, None, "{region}");
    }
}

/// An exit that writes nothing but masks that are constant.
pub fn leave_plainly(b: &mut Builder, host: &Host) {
    let bits = b.constant(Ty::U64, 1);
    let mask = b.inst(Kind::MaskFromBits, &[bits], Type::MASK);
    leave(b, host, mask, vec![]);
}
