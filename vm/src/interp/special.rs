//! Which handler an instruction has. The match over special operations is exhaustive, so the compiler says which has none.

use super::bulk::{
    self, Atomic, ModifyAdd, ModifyAnd, ModifyCas, ModifyMax, ModifyMin, ModifyOr, ModifySub, ModifySwap, ModifyXor,
};
use super::code::Handler;
use super::elementwise::{Canonical, Isa, by_shapes, elementwise, handler, plain};
use super::memory_ops::{General, Indexed, Row, by_addressing, by_storage};
use super::moves::by_size;
use super::{control, effects, host, launch, masks, memory_ops, moves};
use crate::dispatch_type;
use crate::isa::Special;
use crate::program::Inst;
use crate::sem::Bool;
use crate::types::{Shape, Ty};

/// What the handler of an instruction depends on, besides operation and types.
pub(super) struct Setting<'a> {
    /// The shape of the destination.
    pub dst: Shape,
    /// The shapes of the sources.
    pub shapes: &'a [Shape; 3],
    /// What the processor has.
    pub isa: Isa,
    /// Whether it jumps back.
    pub backward: bool,
    /// Whether rounds are counted for a tracer.
    pub traced: bool,
}

/// The handler of an instruction; `None` for a type that the row of its operation does not have.
pub(super) fn handler_of(inst: &Inst, setting: &Setting<'_>) -> Option<Handler> {
    match inst.op.special() {
        None => elementwise(inst.op, inst.ty, setting.shapes, setting.isa),
        Some(op) => special(op, inst, setting),
    }
}

fn special(op: Special, inst: &Inst, setting: &Setting<'_>) -> Option<Handler> {
    let &Setting { dst, shapes, isa, backward, traced } = setting;
    let ty = inst.ty;
    let uniform_address = shapes[0] == Shape::Uniform && shapes[1] == Shape::Uniform;
    Some(match op {
        // Moves between registers and lanes, addresses.
        Special::Mov => by_size!(ty, T => moves::mov::<T>(shapes[0], dst, isa)),
        Special::Assign => by_size!(ty, T => moves::assign::<T>(shapes[0], isa)),
        Special::Select => by_size!(ty, T => moves::select::<T>(shapes, isa)),
        Special::Convert => dispatch_type!(SCALAR, inst.from, S =>
            dispatch_type!(SCALAR, ty, D => moves::convert::<S, <S as Canonical>::Target<D>>(shapes[0], isa)))??,
        Special::Bitcast => moves::bitcast(inst.from, shapes[0], isa),
        Special::PAdd => by_shapes::<moves::PAddFamily>(shapes, isa).unwrap_or(plain::<moves::PAddUniform>()),
        Special::Iota => handler::<moves::Iota>(isa),
        Special::Shuffle => by_size!(ty, T => handler::<moves::Shuffle<T>>(isa)),
        Special::Extract => by_size!(ty, T => plain::<moves::Extract<T>>()),
        Special::Insert => by_size!(ty, T => handler::<moves::Insert<T>>(isa)),
        Special::MaskGet => handler::<moves::MaskGet>(isa),
        Special::MaskBits => plain::<moves::MaskBits>(),
        Special::PackMask => plain::<moves::PackMask>(),
        Special::Any => plain::<moves::Any>(),
        Special::All => plain::<moves::All>(),
        Special::GlobalAddr | Special::FuncAddr => plain::<moves::Immediate>(),
        Special::FrameAddr => plain::<moves::FrameAddr>(),

        // Memory.
        Special::Load if uniform_address => by_storage!(ty, T => plain::<memory_ops::LoadUniform<T>>()),
        Special::Store if uniform_address => by_storage!(ty, T => plain::<memory_ops::StoreUniform<T>>()),
        Special::Load | Special::LoadLane => {
            by_storage!(ty, T => by_addressing!(inst, shapes, isa, A => plain::<memory_ops::Load<T, A>>()))
        }
        Special::Store | Special::StoreLane => {
            by_storage!(ty, T => by_addressing!(inst, shapes, isa, A => plain::<memory_ops::Store<T, A>>()))
        }
        Special::MemCopy => plain::<bulk::MemCopy>(),
        Special::MemSet => plain::<bulk::MemSet>(),
        Special::Alloc => plain::<bulk::Alloc>(),
        Special::Free => plain::<bulk::Free>(),
        Special::AtomicAdd if ty.is_float() => dispatch_type!(FLOAT, ty, T => plain::<Atomic<T, ModifyAdd>>())?,
        Special::AtomicSub if ty.is_float() => dispatch_type!(FLOAT, ty, T => plain::<Atomic<T, ModifySub>>())?,
        Special::AtomicAdd => dispatch_type!(INT, ty, T => plain::<Atomic<<T as Canonical>::Unsigned, ModifyAdd>>())?,
        Special::AtomicSub => dispatch_type!(INT, ty, T => plain::<Atomic<<T as Canonical>::Unsigned, ModifySub>>())?,
        Special::AtomicMin => dispatch_type!(ARITH, ty, T => plain::<Atomic<T, ModifyMin>>())?,
        Special::AtomicMax => dispatch_type!(ARITH, ty, T => plain::<Atomic<T, ModifyMax>>())?,
        Special::AtomicAnd => dispatch_type!(INT, ty, T => plain::<Atomic<<T as Canonical>::Unsigned, ModifyAnd>>())?,
        Special::AtomicOr => dispatch_type!(INT, ty, T => plain::<Atomic<<T as Canonical>::Unsigned, ModifyOr>>())?,
        Special::AtomicXor => dispatch_type!(INT, ty, T => plain::<Atomic<<T as Canonical>::Unsigned, ModifyXor>>())?,
        Special::AtomicSwap => {
            dispatch_type!(ARITH, ty, T => plain::<Atomic<<T as Canonical>::Unsigned, ModifySwap>>())?
        }
        Special::AtomicCas => dispatch_type!(ARITH, ty, T => plain::<Atomic<<T as Canonical>::Unsigned, ModifyCas>>())?,

        // Other effects.
        Special::Print => plain::<effects::Print>(),
        Special::Assert => plain::<effects::Assert>(),
        Special::Abort => plain::<effects::Abort>(),
        Special::Clock => plain::<effects::Clock>(),
        Special::ThreadIndex => plain::<effects::ThreadIndex>(),
        Special::ThreadCount => plain::<effects::ThreadCount>(),
        Special::Fence => plain::<effects::Fence>(),
        Special::HostCall => plain::<host::CallHost>(),

        // Jumps, calls, tasks.
        Special::Jmp => match (backward, traced) {
            (true, true) => plain::<masks::JumpBack<true>>(),
            (true, false) => plain::<masks::JumpBack<false>>(),
            (false, _) => plain::<masks::Jump>(),
        },
        Special::BrTrue => match (backward, traced) {
            (true, true) => plain::<masks::BranchBack<true, true>>(),
            (true, false) => plain::<masks::BranchBack<true, false>>(),
            (false, _) => plain::<masks::Branch<true>>(),
        },
        Special::BrFalse => match (backward, traced) {
            (true, true) => plain::<masks::BranchBack<false, true>>(),
            (true, false) => plain::<masks::BranchBack<false, false>>(),
            (false, _) => plain::<masks::Branch<false>>(),
        },
        Special::LoopBack if traced => plain::<masks::LoopBack<true>>(),
        Special::LoopBack => plain::<masks::LoopBack<false>>(),
        Special::Call if traced => plain::<control::Call<true>>(),
        Special::Call => plain::<control::Call<false>>(),
        Special::CallInd if traced => plain::<control::CallIndirect<true>>(),
        Special::CallInd => plain::<control::CallIndirect<false>>(),
        Special::Ret => plain::<control::Ret>(),
        Special::Launch => plain::<launch::Launch>(),
        Special::LaunchInd => plain::<launch::LaunchIndirect>(),
        Special::Sync => plain::<launch::Sync>(),

        // The mask stack.
        Special::MaskIf => plain::<masks::MaskIf>(),
        Special::MaskElse => plain::<masks::MaskElse>(),
        Special::MaskEndif | Special::LoopEnd | Special::SwitchEnd | Special::EverywhereEnd | Special::EachEnd => {
            plain::<masks::Pop>()
        }
        Special::LoopBegin => plain::<masks::LoopBegin>(),
        Special::LoopTest => plain::<masks::LoopTest>(),
        Special::LoopNext => plain::<masks::LoopNext>(),
        Special::SwitchBegin => plain::<masks::SwitchBegin>(),
        Special::SwitchCase => plain::<masks::SwitchCase>(),
        Special::MaskBreak => plain::<masks::Break>(),
        Special::MaskBreakIf => plain::<masks::BreakIf>(),
        Special::MaskContinue => plain::<masks::Continue>(),
        Special::MaskContinueIf => plain::<masks::ContinueIf>(),
        Special::MaskReturn => plain::<masks::Return>(),
        Special::MaskReturnIf => plain::<masks::ReturnIf>(),
        Special::Everywhere => plain::<masks::Everywhere>(),
        Special::EachBegin => plain::<masks::EachBegin>(),
        Special::EachLane => plain::<masks::EachLane>(),
        Special::EachAll => plain::<masks::EachAll>(),
        Special::EachUnique => dispatch_type!(SCALAR, ty, T => plain::<masks::EachUnique<T>>())?,
    })
}
