//! What an instruction makes its results of, lane by lane: the registers and the memory that it reads.

use spmdvm::vm::isa::Form;
use spmdvm::vm::trap::Access;
use spmdvm::vm::{Accessed, Inst, Op, Reg, View, sem};
use spmdvm::{Shape, Ty};

/// A value that some instruction has made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A lane of a register, of a call with so many calls around it; of uniform ones, lane 0.
    Register {
        /// The number of calls.
        depth: usize,
        /// The register.
        reg: Reg,
        /// The lane.
        lane: usize,
    },
    /// Bytes in memory.
    Memory {
        /// The first byte.
        address: u64,
        /// Their number.
        bytes: u64,
        /// What they are.
        ty: Ty,
    },
}

/// Most lanes whose values are followed where one is made of those of all.
const MAX_LANES_FOLLOWED: usize = 4;

/// Whether an instruction that is to be executed makes a value.
pub fn makes(view: &View<'_>, key: &Key) -> bool {
    let inst = view.inst();
    match *key {
        Key::Register { depth, reg, lane } if view.depth() == depth => {
            let own = inst.dst == reg && (inst.op != Op::Assign || view.mask() >> lane & 1 == 1);
            own || inst.op == Op::HostCall && view.function().list(inst.rets).contains(&reg)
        }
        Key::Register { depth, reg, .. } => {
            inst.op == Op::Ret && view.depth() == depth + 1 && returned(view, reg).is_some()
        }
        Key::Memory { .. } => writer(view, key).is_some(),
    }
}

/// The register of the executing function that is returned into one of the caller's.
fn returned(view: &View<'_>, reg: Reg) -> Option<Reg> {
    let stack = view.stack();
    let caller = stack.get(1)?;
    let function = &view.program().functions[caller.function.0 as usize];
    let rets = function.list(function.code.get(caller.pc as usize)?.rets);
    let at = rets.iter().position(|&ret| ret == reg)?;
    view.function().results.get(at).copied()
}

/// The last access that writes to bytes of the key.
fn writer(view: &View<'_>, key: &Key) -> Option<Accessed> {
    let Key::Memory { address, bytes, .. } = *key else { return None };
    let writes = |accessed: &Accessed| {
        let start = start(accessed);
        accessed.access == Access::Write && start < address + bytes && address < start + accessed.bytes
    };
    view.accesses().into_iter().rev().find(writes)
}

/// The pointer to the first byte of an access.
fn start(accessed: &Accessed) -> u64 {
    let own = spmdvm::vm::memory::offset_of(accessed.base);
    sem::padd(accessed.base, accessed.offset.wrapping_sub(own))
}

/// What an instruction that makes a value makes it of.
pub fn sources(view: &View<'_>, key: &Key) -> Vec<Key> {
    let inst = view.inst();
    match *key {
        Key::Register { depth, reg, lane } if view.depth() == depth && inst.op != Op::HostCall => {
            let _ = reg;
            of_result(view, inst, lane)
        }
        Key::Register { reg, lane, .. } if inst.op == Op::Ret => {
            returned(view, reg).map(|result| register(view, result, lane)).into_iter().collect()
        }
        // A function of the host may make a lane's result of all that it is given; as a rule it is made of that lane's.
        Key::Register { reg, lane, .. } => {
            let of_all = view.function().reg(reg).shape == Shape::Uniform;
            let is_varying = |arg: Reg| view.function().reg(arg).shape == Shape::Varying;
            let of_arg = |&arg: &Reg| match of_all && is_varying(arg) {
                true => all_lanes(view, arg),
                false => vec![register(view, arg, lane)],
            };
            view.function().list(inst.args).iter().flat_map(of_arg).collect()
        }
        Key::Memory { address, bytes, ty } => {
            writer(view, key).map_or(Vec::new(), |writer| of_write(view, inst, (address, bytes, ty), &writer))
        }
    }
}

/// The lane of a register that an instruction reads for a lane.
fn register(view: &View<'_>, reg: Reg, lane: usize) -> Key {
    let is_uniform = view.function().reg(reg).shape == Shape::Uniform;
    Key::Register { depth: view.depth(), reg, lane: if is_uniform { 0 } else { lane } }
}

fn of_result(view: &View<'_>, inst: &Inst, lane: usize) -> Vec<Key> {
    let [a, b, c] = inst.src;
    let own = |reg: Reg| register(view, reg, lane);
    let number = |reg: Reg, lane: usize| {
        let ty = view.function().reg(reg).ty;
        let wide = sem::eval(Op::Convert, Ty::I64, ty, [view.lane(reg, lane), 0, 0]).unwrap_or(0) as i64;
        wide.rem_euclid(view.lanes() as i64) as usize
    };
    let is_active = view.mask() >> lane & 1 == 1;
    match inst.op {
        Op::Select if view.lane(a, lane) != 0 => vec![own(a), own(b)],
        Op::Select => vec![own(a), own(c)],
        Op::Shuffle => vec![register(view, a, number(b, lane)), own(b)],
        Op::Extract => vec![register(view, a, number(b, 0)), own(b)],
        Op::Insert if number(b, 0) == lane => vec![own(c), own(b)],
        Op::Insert => vec![own(a), own(b)],
        Op::Any | Op::All | Op::PackMask => all_lanes(view, a),
        Op::EachUnique => {
            vec![register(view, a, view.mask_stack().last().map_or(0, |top| top.waiting.trailing_zeros() as usize))]
        }
        _ if inst.op.info().form == Form::Reduce => all_lanes(view, a),
        // Lanes that are not active read nothing.
        _ if !view.accesses().is_empty() => {
            let mut keys = of_access(view, inst, lane);
            if !b.is_none() && (is_active || inst.op.info().sig.dst.is_none()) {
                keys.push(own(b));
            }
            keys
        }
        _ => [a, b, c].into_iter().filter(|reg| !reg.is_none()).map(own).collect(),
    }
}

/// The active lanes of a register, the first few.
fn all_lanes(view: &View<'_>, reg: Reg) -> Vec<Key> {
    let active = (0..view.lanes()).filter(|&l| view.mask() >> l & 1 == 1);
    active.take(MAX_LANES_FOLLOWED).map(|l| register(view, reg, l)).collect()
}

/// What a load or an atomic operation finds in memory for a lane.
fn of_access(view: &View<'_>, inst: &Inst, lane: usize) -> Vec<Key> {
    let of_lane = |accessed: &&Accessed| accessed.lane.is_none_or(|own| own as usize == lane);
    let accesses = view.accesses();
    let found = accesses.iter().find(of_lane);
    let bytes = inst.ty.size() as u64;
    found.map(|accessed| Key::Memory { address: start(accessed), bytes, ty: inst.ty }).into_iter().collect()
}

/// What a write puts at an address.
fn of_write(view: &View<'_>, inst: &Inst, (address, bytes, ty): (u64, u64, Ty), writer: &Accessed) -> Vec<Key> {
    let lane = writer.lane.map_or(0, |lane| lane as usize);
    let own = |reg: Reg| register(view, reg, lane);
    let [_, b, c] = inst.src;
    match inst.op {
        Op::MemCopy => {
            let from = view.lane(b, if view.function().reg(b).shape == Shape::Uniform { 0 } else { lane });
            let address = sem::padd(from, address.wrapping_sub(start(writer)) as i64);
            vec![Key::Memory { address, bytes, ty }]
        }
        Op::MemSet => vec![own(b)],
        Op::Store | Op::StoreLane if b.is_none() => vec![own(c)],
        Op::Store | Op::StoreLane => vec![own(c), own(b)],
        // Atomic operations: of what was there and their operands.
        _ => {
            let known = Key::Memory { address: start(writer), bytes: writer.bytes, ty: inst.ty };
            std::iter::once(known).chain([b, c].into_iter().filter(|reg| !reg.is_none()).map(own)).collect()
        }
    }
}
