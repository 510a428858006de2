//! A machine that does not exist: its instructions, and an interpreter of their encoding.
//!
//! An instruction has 16 bytes: what it does, three registers, 32 bits of displacement, 64 bits of a number. General registers have
//! 64 bits, vectors 16 bytes.

use spmdvm_jit::vcode::Callee;
use spmdvm_vm::interp::native::Context;
use std::mem::offset_of;

macro_rules! instructions {
    ($($Name:ident),*) => {
        /// What an instruction does.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Do { $($Name),* }

        const ALL: &[Do] = &[$(Do::$Name),*];
    };
}

instructions! {
    Imm, Move, MoveVector, Address, Load, Store, LoadVector, StoreVector, Splat, ZeroVector, Test, TestByte, Add, AddInts,
    AddFloats, And, Truth, BitsOfBytes, BytesOfBits, Jump, JumpIf, JumpUnless, JumpIfFailed, Tick, Untick, Call, SetExit, Return
}

// General registers that code uses for something fixed: two to write exits with, the fuel of the slice, the context, the entered
// frame, the stack, and where the constants are.
pub const SPARE: u8 = 10;
pub const SPARE_BASE: u8 = 11;
pub const FUEL: u8 = 12;
pub const CONTEXT: u8 = 13;
pub const FRAME: u8 = 14;
pub const STACK: u8 = 15;
pub const POOL: u8 = 16;

/// Writes an instruction down.
pub fn encode(what: Do, registers: [u8; 3], disp: i32, n: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0] = what as u8;
    bytes[1..4].copy_from_slice(&registers);
    bytes[4..8].copy_from_slice(&disp.to_le_bytes());
    bytes[8..].copy_from_slice(&n.to_le_bytes());
    bytes
}

/// `n` bytes at an address, and zeros.
unsafe fn read(at: u64, n: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(at as *const u8, bytes.as_mut_ptr(), n as usize) };
    bytes
}

fn word(bytes: [u8; 16]) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[i]))
}

/// `size` bytes again and again.
fn splat(bytes: [u8; 16], size: u64) -> [u8; 16] {
    std::array::from_fn(|i| bytes[i % size as usize])
}

/// The sums of four lanes.
fn lanes(a: [u8; 16], b: [u8; 16], add: impl Fn([u8; 4], [u8; 4]) -> [u8; 4]) -> [u8; 16] {
    let mut sums = [0; 16];
    for i in (0..16).step_by(4) {
        let lane = |x: [u8; 16]| std::array::from_fn(|at| x[i + at]);
        sums[i..i + 4].copy_from_slice(&add(lane(a), lane(b)));
    }
    sums
}

/// Runs code from a place on, on a stack of so many bytes; gives the number of the exit.
///
/// # Safety
/// The code is a region's, for this context.
pub unsafe fn run(code: &[u8], entry: usize, stack: usize, context: &mut Context) -> u32 {
    let mut stack = vec![0u64; stack.div_ceil(8)];
    let (mut x, mut v, mut flag, mut exit, mut pc) = ([0u64; 17], [[0u8; 16]; 8], false, 0, entry);
    let context: *mut Context = context;
    x[CONTEXT as usize] = context as u64;
    (x[STACK as usize], x[POOL as usize]) = (stack.as_mut_ptr() as u64, code.as_ptr() as u64);
    let fuel_at = context as u64 + offset_of!(Context, ticks) as u64;
    loop {
        let inst = &code[pc..pc + 16];
        pc += 16;
        let [a, b, c] = [1, 2, 3].map(|i| inst[i] as usize);
        let disp = i32::from_le_bytes(std::array::from_fn(|i| inst[4 + i]));
        let n = u64::from_le_bytes(std::array::from_fn(|i| inst[8 + i]));
        let at = |x: &[u64; 17], base: usize| x[base].wrapping_add(disp as i64 as u64);
        // SAFETY: the caller's promise: the region accesses what its context lets it.
        unsafe {
            let write =
                |at: u64, bytes: &[u8]| std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, n as usize);
            match ALL[inst[0] as usize] {
                Do::Imm => x[a] = n,
                Do::Move => x[a] = x[b],
                Do::MoveVector => v[a] = v[b],
                Do::Address => x[a] = at(&x, b),
                Do::Load => x[a] = word(read(at(&x, b), n)),
                Do::Store => write(at(&x, b), &x[a].to_le_bytes()),
                Do::LoadVector => v[a] = read(at(&x, b), n),
                Do::StoreVector => write(at(&x, b), &v[a]),
                Do::Splat => v[a] = splat((x[b] as u128).to_le_bytes(), n),
                Do::ZeroVector => v[a] = [0; 16],
                Do::Test => flag = x[a] != 0,
                Do::TestByte => flag = x[a] as u8 != 0,
                Do::Add => x[a] = x[b].wrapping_add(x[c]),
                Do::AddInts => {
                    v[a] = lanes(v[b], v[c], |p, q| {
                        u32::from_le_bytes(p).wrapping_add(u32::from_le_bytes(q)).to_le_bytes()
                    });
                }
                Do::AddFloats => {
                    v[a] = lanes(v[b], v[c], |p, q| (f32::from_le_bytes(p) + f32::from_le_bytes(q)).to_le_bytes())
                }
                Do::And => x[a] = x[b] & n,
                // All bits, or one.
                Do::Truth => x[a] = if x[b] as u8 == 0 { 0 } else { n },
                Do::BitsOfBytes => {
                    x[a] = (0..16).fold(x[c], |bits, l| bits | u64::from(v[b][l] != 0) << ((l as u64 + n) % 64))
                }
                Do::BytesOfBits => v[a] = std::array::from_fn(|l| (x[b] >> n >> l & 1) as u8),
                Do::Jump => pc = n as usize,
                Do::JumpIf if flag => pc = n as usize,
                Do::JumpUnless if !flag => pc = n as usize,
                Do::JumpIfFailed if word(read(at(&x, STACK as usize), 4)) == 0 => pc = n as usize,
                Do::JumpIf | Do::JumpUnless | Do::JumpIfFailed => {}
                Do::Tick => {
                    x[FUEL as usize] = x[FUEL as usize].wrapping_sub(disp as u64);
                    if (x[FUEL as usize] as i64) < 0 {
                        pc = n as usize;
                    }
                }
                Do::Untick => x[FUEL as usize] = x[FUEL as usize].wrapping_add(disp as u64),
                Do::Call => {
                    (fuel_at as *mut u64).write(x[FUEL as usize]);
                    let words = at(&x, STACK as usize) as *mut [u64; 5];
                    let [first, second, third, ..] = words.read();
                    (*words)[4] = Callee::ALL[n as usize].call(context, [first, second, third]);
                    x[FUEL as usize] = (fuel_at as *const u64).read();
                }
                Do::SetExit => exit = n as u32,
                Do::Return => {
                    (fuel_at as *mut u64).write(x[FUEL as usize]);
                    return exit;
                }
            }
        }
    }
}
