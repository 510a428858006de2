//! Memory operands, before registers are chosen: what one instruction alone loads, it takes from memory itself; what it makes of
//! that and stores again, it leaves there; and what the register allocator spills, it takes from the stack.
//!
//! A load moves down to the instruction that needs it, past nothing that may write memory. Its address was checked before, so it
//! cannot fail there either. It is read once, as before. What is read of a memory region's entry [stays in order](Plain::in_order): other
//! threads may write there.

use super::X86;
use super::inst::{Arg, Base, Mem, Plain, Size};
use super::level::Level;
use super::values::{broadcast, bytes_of};
use crate::vcode::{Inst, VCode};
use foldhash::{HashMap, HashMapExt};
use iced_x86::{Code, OpCodeOperandKind, OpKind};
use regalloc2::{RegClass, VReg};
use std::ops::Range;

/// Finds memory operands in all blocks.
pub(super) fn run<L: Level>(code: &mut VCode<X86<L>>) {
    let mut operands = Operands { uses: code.uses(), kept: vec![true; code.insts.len()] };
    for block in code.blocks() {
        operands.update_in_place(code, block.clone());
        operands.take_from_memory(code, block);
    }
    code.retain(&operands.kept);
}

const SHORT_4: Code = Code::VEX_Vpbroadcastd_xmm_xmmm32;
const SHORT_4_Y: Code = Code::VEX_Vpbroadcastd_ymm_xmmm32;
const SHORT_8: Code = Code::VEX_Vpbroadcastq_xmm_xmmm64;
const SHORT_8_Y: Code = Code::VEX_Vpbroadcastq_ymm_xmmm64;

struct Operands {
    /// By register: how many operands read it.
    uses: Vec<u32>,
    /// By instruction.
    kept: Vec<bool>,
}

/// A load of a whole register.
struct Load {
    to: VReg,
    from: Mem,
    /// How much is read.
    bytes: usize,
    /// Whether that is one element for all lanes.
    all: bool,
}

impl Operands {
    fn is_used_once(&self, r: VReg) -> bool {
        self.uses[r.vreg()] == 1
    }

    /// `x = load a; y = op x, b; store a, y` becomes one instruction.
    fn update_in_place<L: Level>(&mut self, code: &mut VCode<X86<L>>, block: Range<usize>) {
        // By register: the instruction that makes it. Loads are forgotten where memory may change.
        let (mut loads, mut made) = (HashMap::new(), HashMap::new());
        for i in block {
            if self.update(code, i, &loads, &made).is_some() {
                loads.clear();
                continue;
            }
            match &code.insts[i] {
                Inst::Plain(plain) => match (load_of(plain), plain.args[0]) {
                    (Some(load), _) => drop(loads.insert(load.to, i)),
                    (None, Some(Arg::Mem(_) | Arg::Lanes(..))) => loads.clear(),
                    (None, Some(Arg::Tied { to, .. } | Arg::Def(to, _))) => drop(made.insert(to, i)),
                    _ => {}
                },
                inst if may_write(inst) => loads.clear(),
                _ => {}
            }
        }
    }

    fn update<L: Level>(
        &mut self,
        code: &mut VCode<X86<L>>,
        i: usize,
        loads: &HashMap<VReg, usize>,
        made: &HashMap<VReg, usize>,
    ) -> Option<()> {
        let Inst::Plain(store) = &code.insts[i] else { return None };
        let (Code::Mov_rm64_r64 | Code::Mov_rm32_r32, Some(Arg::Mem(to)), Some(Arg::Use(y, form))) =
            (store.code, store.args[0], store.args[1])
        else {
            return None;
        };
        let by = *made.get(&y).filter(|_| self.is_used_once(y))?;
        if asks_for_flags(code.insts.get(by + 1)) {
            return None;
        }
        let bytes = if form == Size::G64 { 8 } else { 4 };
        let load_there = |x: VReg| {
            let at = *loads.get(&x).filter(|_| self.is_used_once(x))?;
            let Inst::Plain(load) = &code.insts[at] else { return None };
            load_of(load).filter(|l| l.from == to && l.bytes == bytes).map(|_| at)
        };
        let Inst::Plain(op) = &code.insts[by] else { return None };
        let (op, x, other) = integer_op(op, form, |r| load_there(r).is_some())?;
        let at = load_there(x)?;
        code.insts[i] = Inst::Plain(Box::new(Plain::new(op, &[Arg::Mem(to), other])));
        self.kept[by] = false;
        self.kept[at] = false;
        Some(())
    }

    /// `x = load a; y = op b, x` becomes one instruction. A general register that is not loaded is taken from wherever it is; vectors that
    /// many instructions take had better be in registers: the allocator would leave them where they are.
    fn take_from_memory<L: Level>(&mut self, code: &mut VCode<X86<L>>, block: Range<usize>) {
        let mut loads: HashMap<VReg, (usize, Load)> = HashMap::new();
        for i in block {
            if !self.kept[i] {
                continue;
            }
            let plain = match &code.insts[i] {
                Inst::Plain(plain) => plain,
                inst => {
                    if may_write(inst) {
                        loads.clear();
                    }
                    continue;
                }
            };
            if let Some(load) = load_of(plain) {
                if self.is_used_once(load.to) {
                    loads.insert(load.to, (i, load));
                }
                continue;
            }
            if let Some(Arg::Mem(_) | Arg::Lanes(..)) = plain.args[0] {
                loads.clear();
                continue;
            }
            let Some((op, at, r, form)) = memory_operand(plain) else { continue };
            let loaded = loads.get(&r).and_then(|(from, load)| Some((*from, load.operand_of(op, form, code)?)));
            let operand = match loaded {
                Some((from, operand)) => {
                    self.kept[from] = false;
                    operand
                }
                None if form.class() == RegClass::Int => Arg::Any(r, form),
                None => continue,
            };
            if let Inst::Plain(plain) = &mut code.insts[i] {
                plain.code = op;
                plain.args[at] = Some(operand);
            }
        }
    }
}

impl Load {
    /// As the operand of an instruction, of a form, if that reads as much. A constant in all lanes is kept so for those that cannot
    /// spread it.
    fn operand_of<L: Level>(&self, op: Code, form: Size, code: &mut VCode<X86<L>>) -> Option<Arg> {
        let info = op.op_code();
        match self.all {
            true if info.can_broadcast() && info.broadcast_memory_size().size() == self.bytes => {
                Some(Arg::Broadcast(self.from))
            }
            true if info.memory_size().size() == bytes_of(form)
                && self.from.base == Base::Pool
                && self.from.index.is_none() =>
            {
                let lanes = code.constant_in_all_lanes(self.from.disp, self.bytes, bytes_of(form));
                Some(Arg::Mem(Mem::at(Base::Pool, lanes)))
            }
            false if info.memory_size().size() == self.bytes => Some(Arg::Mem(self.from)),
            _ => None,
        }
    }
}

/// Returns whether an instruction that is not of the encoder may change what is in memory.
fn may_write<L: Level>(inst: &Inst<X86<L>>) -> bool {
    let calls = matches!(inst, Inst::Call(_) | Inst::CallLosing(_) | Inst::CallSaving(_));
    calls || matches!(inst, Inst::Tick(..) | Inst::Write(_))
}

/// Returns whether an instruction reads flags.
pub(super) fn asks_for_flags<L: Level>(inst: Option<&Inst<X86<L>>>) -> bool {
    match inst {
        Some(Inst::Branch(..) | Inst::Guard(..)) => true,
        Some(Inst::Plain(plain)) => {
            let sets = Code::Seto_rm8 as usize..=Code::Setg_rm8 as usize;
            let moves = Code::Cmovo_r16_rm16 as usize..=Code::Cmovg_r64_rm64 as usize;
            sets.contains(&(plain.code as usize)) || moves.contains(&(plain.code as usize))
        }
        _ => false,
    }
}

/// What is loaded, if an instruction does nothing but that.
fn load_of(plain: &Plain) -> Option<Load> {
    let (Some(Arg::Def(to, _)), Some(Arg::Mem(from)), None, None) =
        (plain.args[0], plain.args[1], plain.args[2], plain.mask)
    else {
        return None;
    };
    if plain.in_order {
        return None;
    }
    let whole = |bytes| Some(Load { to, from, bytes, all: false });
    match plain.code {
        Code::Mov_r32_rm32 | Code::EVEX_Vmovss_xmm_k1z_m32 | Code::VEX_Vmovss_xmm_m32 => whole(4),
        Code::Mov_r64_rm64 | Code::EVEX_Vmovsd_xmm_k1z_m64 | Code::VEX_Vmovsd_xmm_m64 => whole(8),
        Code::EVEX_Vmovups_xmm_k1z_xmmm128 | Code::VEX_Vmovups_xmm_xmmm128 => whole(16),
        Code::EVEX_Vmovups_ymm_k1z_ymmm256 | Code::VEX_Vmovups_ymm_ymmm256 => whole(32),
        Code::EVEX_Vmovups_zmm_k1z_zmmm512 => whole(64),
        code => {
            let is_short = |bytes| matches!((bytes, code), (4, SHORT_4 | SHORT_4_Y) | (8, SHORT_8 | SHORT_8_Y));
            let element = |&bytes: &usize| {
                is_short(bytes) || [Size::X, Size::Y, Size::Z].iter().any(|&f| broadcast(bytes, f) == code)
            };
            [4, 8].into_iter().find(element).map(|bytes| Load { to, from, bytes, all: true })
        }
    }
}

/// Of an operation on integers one of whose operands has been loaded from where the result goes: its instruction for a memory
/// operand, that operand, and the other.
fn integer_op(plain: &Plain, form: Size, is_loaded: impl Fn(VReg) -> bool) -> Option<(Code, VReg, Arg)> {
    let wide = form == Size::G64;
    let add = if wide { Code::Add_rm64_r64 } else { Code::Add_rm32_r32 };
    match (plain.code, plain.args[0], plain.args[1]) {
        (Code::Lea_r64_m | Code::Lea_r32_m, Some(Arg::Def(_, of)), Some(Arg::Mem(sum))) if of == form => {
            match (sum.base, sum.index) {
                (Base::Reg(a), Some(b)) if sum.scale == 1 && sum.disp == 0 => {
                    let (x, other) = if is_loaded(a) { (a, b) } else { (b, a) };
                    Some((add, x, Arg::Use(other, form)))
                }
                (Base::Reg(x), None) => {
                    let (code, kind) = match wide {
                        true => (Code::Add_rm64_imm32, OpKind::Immediate32to64),
                        false => (Code::Add_rm32_imm32, OpKind::Immediate32),
                    };
                    Some((code, x, Arg::Imm(kind, sum.disp as i64)))
                }
                _ => None,
            }
        }
        (code, Some(Arg::Tied { from, form: of, .. }), Some(other)) if of == form => {
            let commutes = !matches!(code, Code::Sub_rm64_r64 | Code::Sub_rm32_r32);
            match other {
                Arg::Use(b, of) if from_memory(code).is_some() && of == form => {
                    let (x, other) = if commutes && !is_loaded(from) { (b, from) } else { (from, b) };
                    Some((code, x, Arg::Use(other, form)))
                }
                Arg::Imm(..) if takes_number(code) => Some((code, from, other)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Of an instruction whose first operand may be in memory: the one whose second may.
fn from_memory(code: Code) -> Option<Code> {
    Some(match code {
        Code::Add_rm64_r64 => Code::Add_r64_rm64,
        Code::Add_rm32_r32 => Code::Add_r32_rm32,
        Code::Sub_rm64_r64 => Code::Sub_r64_rm64,
        Code::Sub_rm32_r32 => Code::Sub_r32_rm32,
        Code::And_rm64_r64 => Code::And_r64_rm64,
        Code::And_rm32_r32 => Code::And_r32_rm32,
        Code::Or_rm64_r64 => Code::Or_r64_rm64,
        Code::Or_rm32_r32 => Code::Or_r32_rm32,
        Code::Xor_rm64_r64 => Code::Xor_r64_rm64,
        Code::Xor_rm32_r32 => Code::Xor_r32_rm32,
        Code::Cmp_rm64_r64 => Code::Cmp_r64_rm64,
        Code::Cmp_rm32_r32 => Code::Cmp_r32_rm32,
        _ => return None,
    })
}

fn takes_number(code: Code) -> bool {
    matches!(
        code,
        Code::Add_rm64_imm32
            | Code::Add_rm32_imm32
            | Code::Sub_rm64_imm32
            | Code::Sub_rm32_imm32
            | Code::And_rm64_imm32
            | Code::And_rm32_imm32
            | Code::Or_rm64_imm32
            | Code::Or_rm32_imm32
            | Code::Xor_rm64_imm32
            | Code::Xor_rm32_imm32
    )
}

/// The instruction that takes a register from memory, its operand, the register, and how much of that it takes.
fn memory_operand(plain: &Plain) -> Option<(Code, usize, VReg, Size)> {
    let in_memory =
        |arg: &Arg| matches!(arg, Arg::Mem(_) | Arg::Lanes(..) | Arg::Broadcast(_) | Arg::Any(..) | Arg::Both { .. });
    if plain.args.iter().flatten().any(in_memory) {
        return None;
    }
    let op = from_memory(plain.code).unwrap_or(plain.code);
    let at = op.op_code().op_kinds().iter().position(|kind| {
        use OpCodeOperandKind::{r32_or_mem, r64_or_mem, xmm_or_mem, ymm_or_mem, zmm_or_mem};
        matches!(kind, r32_or_mem | r64_or_mem | xmm_or_mem | ymm_or_mem | zmm_or_mem)
    })?;
    let Some(Arg::Use(r, form)) = *plain.args.get(at)? else { return None };
    let reads = |arg: &&Arg| matches!(**arg, Arg::Use(a, _) | Arg::Tied { from: a, .. } if a == r);
    (plain.args.iter().flatten().filter(reads).count() == 1).then_some((op, at, r, form))
}
