//! What AVX2 has in place of instructions of AVX-512.
//!
//! Rules of selection give instructions in the encodings of AVX-512 (EVEX), on vectors of 256 bits at most. Most have a twin in the
//! encoding of AVX (VEX), found by its mnemonic and operands. The others become several here, before registers are chosen:
//!
//! | AVX-512 | AVX2 |
//! |---|---|
//! | an element in memory for all lanes | a vector of constants in the pool, or a load of its own |
//! | a comparison that makes a mask | a comparison that makes a vector, and its signs as bits |
//! | lanes selected by a mask | a blend or intersection with the mask as a vector |
//! | moves to and from memory under a mask | the same by the mask as a vector |
//! | what there is for some types or sizes only | what that is made of |
//!
//! A mask is bits in a general register. As a vector it is kept beside within a block, from where it was compared or first asked for;
//! what is made of masks is made of their vectors, too ([`masks`]).

mod expand;
mod masks;
pub(super) mod permutation;

use self::masks::{Key, Known, Lanes, Wanted};
use super::X86;
use super::inst::{Arg, Base, Mem, Plain, Size};
use super::level::V3;
use super::operands::asks_for_flags;
use super::values::{bytes_of, sized};
use crate::backend::CompileError;
use crate::dominance::Dominators;
use crate::ir::BlockId;
use crate::vcode::{Inst, MachInst, VCode};
use foldhash::{HashMap, HashMapExt, HashSet};
use iced_x86::{Code, EncodingKind, Instruction, Mnemonic, OpCodeOperandKind, OpKind, Register};
use regalloc2::{Block, Function, RegClass, VReg};
use std::sync::LazyLock;

/// What tells an instruction apart: what it does, and its operands.
type Shape = (Mnemonic, Vec<OpCodeOperandKind>);

/// The instructions of AVX and AVX2, by shape.
static TWINS: LazyLock<HashMap<Shape, Code>> = LazyLock::new(|| {
    let mut twins = HashMap::new();
    for code in Code::values().filter(|code| code.op_code().encoding() == EncodingKind::VEX) {
        twins.entry(shape(code)).or_insert(code);
    }
    twins
});

/// By instruction of AVX-512: its twin, or nothing.
static BY_CODE: LazyLock<Vec<Option<Code>>> = LazyLock::new(|| Code::values().map(find_twin).collect());

/// Where memory may stand, a register may, too.
fn shape(code: Code) -> Shape {
    let either = |&kind: &OpCodeOperandKind| match kind {
        OpCodeOperandKind::xmm_rm => OpCodeOperandKind::xmm_or_mem,
        OpCodeOperandKind::ymm_rm => OpCodeOperandKind::ymm_or_mem,
        kind => kind,
    };
    (code.mnemonic(), code.op_code().op_kinds().iter().map(either).collect())
}

fn find_twin(code: Code) -> Option<Code> {
    if code.op_code().encoding() != EncodingKind::EVEX {
        return None;
    }
    let (mnemonic, kinds) = shape(code);
    let mnemonic = match mnemonic {
        Mnemonic::Vpandd | Mnemonic::Vpandq => Mnemonic::Vpand,
        Mnemonic::Vpandnd | Mnemonic::Vpandnq => Mnemonic::Vpandn,
        Mnemonic::Vpord | Mnemonic::Vporq => Mnemonic::Vpor,
        Mnemonic::Vpxord | Mnemonic::Vpxorq => Mnemonic::Vpxor,
        Mnemonic::Vmovdqu8 | Mnemonic::Vmovdqu16 | Mnemonic::Vmovdqu32 | Mnemonic::Vmovdqu64 => Mnemonic::Vmovdqu,
        Mnemonic::Vrndscaleps => Mnemonic::Vroundps,
        Mnemonic::Vrndscalepd => Mnemonic::Vroundpd,
        Mnemonic::Vextracti32x4 => Mnemonic::Vextracti128,
        Mnemonic::Vinserti32x4 => Mnemonic::Vinserti128,
        // The one for floats takes either memory or a register.
        Mnemonic::Vbroadcastss => Mnemonic::Vpbroadcastd,
        mnemonic => mnemonic,
    };
    TWINS.get(&(mnemonic, kinds)).copied()
}

/// The twin of an instruction of AVX-512 without a mask; others stay.
fn twin(code: Code) -> Option<Code> {
    match code.op_code().encoding() {
        EncodingKind::EVEX => BY_CODE[code as usize],
        _ => Some(code),
    }
}

/// An instruction whose registers are known. What names 512 bits means the largest vector.
pub(super) fn encoded(mut instruction: Instruction) -> Result<Instruction, CompileError> {
    let whole = |register: Register| register.is_zmm();
    if (0..instruction.op_count()).any(|i| whole(instruction.op_register(i))) {
        let narrow = Code::try_from(instruction.code() as usize - 1).unwrap_or(Code::INVALID);
        instruction.set_code(narrow);
        for i in 0..instruction.op_count() {
            let r = instruction.op_register(i);
            // A register of 256 bits in such an instruction is the smaller one of two.
            let smaller = match (r.is_zmm(), r.is_ymm()) {
                (true, _) => Register::YMM0 + (r as u32 - Register::ZMM0 as u32),
                (_, true) => Register::XMM0 + (r as u32 - Register::YMM0 as u32),
                _ => continue,
            };
            instruction.set_op_register(i, smaller);
        }
    }
    let code = instruction.code();
    match twin(code).filter(|_| instruction.op_mask() == Register::None && !instruction.is_broadcast()) {
        Some(twin) => instruction.set_code(twin),
        None => return Err(CompileError::Encoding(format!("{code:?} without AVX-512"))),
    }
    Ok(instruction)
}

/// Replaces all that AVX2 has not.
pub(super) fn run(code: &mut VCode<X86<V3>>) {
    let ranges = code.blocks();
    let dominators = Dominators::of(ranges.len(), |block, i| {
        code.block_succs(Block::new(block.index())).get(i).map(|to| BlockId(to.index() as u32))
    });
    let mut at_end: Vec<Option<Known>> = vec![None; ranges.len()];
    let homes = homes(code);
    let mut legal = Legal {
        code,
        homes,
        block: Block::new(0),
        at: 0,
        new: Vec::new(),
        known: Known::default(),
        wanted: Vec::new(),
        handed: HashMap::new(),
        made_bits: Vec::new(),
        zeros: HashSet::default(),
        early: Vec::new(),
    };
    for &block in dominators.order() {
        // What is known where all ways to it come through is known here, but for vectors from outside of a loop: those that
        // only its cold blocks ask for would take registers all the way through it.
        let above = dominators.parent(block).index();
        let block = block.index();
        let is_head = legal.code.block_preds(Block::new(block)).iter().any(|before| at_end[before.index()].is_none());
        let known = at_end[above].as_ref().filter(|known| !is_head && known.is_little());
        legal.known = known.cloned().unwrap_or_default();
        legal.block = Block::new(block);
        legal.known.begin(legal.block, legal.code.block_params(legal.block));
        legal.zeros.clear();
        for at in ranges[block].clone() {
            legal.at = at;
            legal.inst();
        }
        if let Some(Some(before)) = at_end.get_mut(above) {
            for (mask, first, size, form, lanes) in legal.early.drain(..) {
                before.insert(mask, first, size, form, lanes);
            }
        }
        at_end[block] = Some(std::mem::take(&mut legal.known));
    }
    legal.hand_over(&ranges, &mut at_end);
    let Legal { mut new, made_bits, .. } = legal;
    // Blocks are not numbered in the order of their instructions.
    new.sort_by_key(|&(at, _)| at);
    code.insert(new);
    leave_out_unused(code, &made_bits);
}

/// Returns whether AVX2 has an instruction as it is.
fn is_legal(plain: &Plain) -> bool {
    let is_evex = plain.code.op_code().encoding() == EncodingKind::EVEX;
    !is_evex && plain.mask.is_none() && !plain.args.iter().flatten().any(|arg| matches!(arg, Arg::Broadcast(_)))
}

/// Leaves out vectors and the bits of masks that nobody asks for.
fn leave_out_unused(code: &mut VCode<X86<V3>>, bits: &[VReg]) {
    let mut uses = code.uses();
    let bits: HashSet<VReg> = bits.iter().copied().collect();
    let mut kept = vec![true; code.insts.len()];
    for i in (0..code.insts.len()).rev() {
        let plain = match &code.insts[i] {
            Inst::Plain(plain) => plain,
            Inst::Zero(r) => {
                kept[i] = uses[r.vreg()] != 0;
                continue;
            }
            _ => continue,
        };
        let mut made = plain.args.iter().flatten().filter_map(|arg| match *arg {
            Arg::Def(r, _) | Arg::Tied { to: r, .. } => Some(r),
            _ => None,
        });
        let (Some(made), None) = (made.next(), made.next()) else { continue };
        let may_go = !plain.in_order && (made.class() == RegClass::Float || bits.contains(&made));
        if !may_go || uses[made.vreg()] != 0 || asks_for_flags(code.insts.get(i + 1)) {
            continue;
        }
        kept[i] = false;
        (**plain).clone().each_read(&mut |r| uses[r.vreg()] -= 1);
    }
    code.retain(&kept);
}

/// By register: the block in which it is made.
fn homes(code: &mut VCode<X86<V3>>) -> Vec<Block> {
    let mut homes = vec![Block::invalid(); code.num_vregs()];
    for block in (0..code.num_blocks()).map(Block::new) {
        code.each_operand(block, &mut |r, is_read| {
            if !is_read {
                homes[r.vreg()] = block;
            }
        });
    }
    homes
}

struct Legal<'a> {
    code: &'a mut VCode<X86<V3>>,
    /// By register that there was before anything was replaced: the block in which it is made.
    homes: Vec<Block>,
    /// The instruction that is replaced, and its block.
    block: Block,
    at: usize,
    new: Vec<(usize, Inst<X86<V3>>)>,
    known: Known,
    /// Vectors of masks that blocks want handed over with them, and all that have been wanted.
    wanted: Vec<Wanted>,
    handed: HashMap<Key, VReg>,
    /// Registers with the bits of masks that comparisons or other masks have made.
    made_bits: Vec<VReg>,
    /// Vectors of zeros.
    zeros: HashSet<VReg>,
    /// Vectors of masks that have been made in the block before this one.
    early: Vec<(VReg, usize, usize, Size, Lanes)>,
}

/// What an instruction compares, if it makes a mask.
enum Asked {
    Floats {
        single: bool,
    },
    Integers {
        size: usize,
        signed: bool,
    },
    Bits {
        size: usize,
        common: bool,
    },
    /// One float.
    Lone {
        single: bool,
    },
}

impl Asked {
    fn of(mnemonic: Mnemonic) -> Option<Asked> {
        use Mnemonic::*;
        let integers = |size, signed| Asked::Integers { size, signed };
        let bits = |size, common| Asked::Bits { size, common };
        Some(match mnemonic {
            Vcmpps => Asked::Floats { single: true },
            Vcmppd => Asked::Floats { single: false },
            Vcmpss => Asked::Lone { single: true },
            Vcmpsd => Asked::Lone { single: false },
            Vpcmpb => integers(1, true),
            Vpcmpw => integers(2, true),
            Vpcmpd => integers(4, true),
            Vpcmpq => integers(8, true),
            Vpcmpub => integers(1, false),
            Vpcmpuw => integers(2, false),
            Vpcmpud => integers(4, false),
            Vpcmpuq => integers(8, false),
            Vptestmb => bits(1, true),
            Vptestmw => bits(2, true),
            Vptestmd => bits(4, true),
            Vptestmq => bits(8, true),
            Vptestnmb => bits(1, false),
            Vptestnmw => bits(2, false),
            Vptestnmd => bits(4, false),
            Vptestnmq => bits(8, false),
            _ => return None,
        })
    }

    fn size(&self) -> usize {
        match *self {
            Asked::Floats { single } | Asked::Lone { single } => {
                if single {
                    4
                } else {
                    8
                }
            }
            Asked::Integers { size, .. } | Asked::Bits { size, .. } => size,
        }
    }
}

/// Bytes of the elements that a mask of an instruction is of.
fn masked_size(code: Code) -> usize {
    use Mnemonic::*;
    let info = code.op_code();
    let mnemonic = code.mnemonic();
    if info.can_broadcast() {
        // A conversion between sizes has a lane for each element of what it makes, and of what it takes.
        return match mnemonic {
            Vcvttpd2dq | Vcvttpd2udq | Vcvtpd2ps => 4,
            Vcvtps2pd | Vcvtdq2pd | Vcvtudq2pd | Vcvttps2qq | Vcvttps2uqq => 8,
            _ => info.broadcast_memory_size().size(),
        };
    }
    match mnemonic {
        Vmovdqu8 | Vpblendmb | Vpbroadcastb => 1,
        Vmovdqu16 | Vpblendmw | Vpbroadcastw => 2,
        Vmovups | Vbroadcastss | Vmovss | Vpbroadcastd => 4,
        Vmovupd | Vpbroadcastq | Vmovsd => 8,
        _ => 4,
    }
}

/// Returns whether an instruction reads what it overwrites.
fn is_fused_multiply(mnemonic: Mnemonic) -> bool {
    let name = format!("{mnemonic:?}");
    ["Vfmadd", "Vfmsub", "Vfnmadd", "Vfnmsub"].iter().any(|start| name.starts_with(start))
}

impl Legal<'_> {
    /// Replaces an instruction if AVX2 has not got it.
    fn inst(&mut self) {
        match &self.code.insts[self.at] {
            Inst::Plain(plain) if is_legal(plain) => self.made_bits.extend(self.known.note(plain)),
            Inst::Plain(plain) => {
                let plain = (**plain).clone();
                let first = self.new.len();
                self.replace(&plain);
                // The last one takes the place of what it replaces.
                if self.new.len() > first
                    && let Some((_, last)) = self.new.pop()
                {
                    self.code.insts[self.at] = last;
                }
            }
            Inst::Zero(r) => {
                self.zeros.insert(*r);
            }
            _ => {}
        }
    }

    fn push(&mut self, code: Code, args: &[Arg]) {
        self.new.push((self.at, Inst::Plain(Box::new(Plain::new(code, args)))));
    }

    /// A vector from an instruction of 128 bits, as one of a form.
    fn make(&mut self, code: Code, form: Size, args: &[Arg]) -> VReg {
        let r = self.code.vector();
        self.push(of_form(code, form), &[&[Arg::Def(r, form)], args].concat());
        r
    }

    /// Likewise from registers alone.
    fn by(&mut self, code: Code, form: Size, args: &[VReg]) -> VReg {
        let args: Vec<Arg> = args.iter().map(|&r| Arg::Use(r, form)).collect();
        self.make(code, form, &args)
    }

    fn by_number(&mut self, code: Code, form: Size, x: VReg, n: u8) -> VReg {
        self.make(code, form, &[Arg::Use(x, form), number(n)])
    }

    fn gpr(&mut self, code: Code, form: Size, args: &[Arg]) -> VReg {
        let r = self.code.gpr();
        self.push(code, &[&[Arg::Def(r, form)], args].concat());
        r
    }

    /// An instruction of general registers with a number, that overwrites its operand.
    fn gpr_number(&mut self, code: Code, form: Size, from: VReg, n: Arg) -> VReg {
        let to = self.code.gpr();
        self.push(code, &[Arg::Tied { from, to, form }, n]);
        to
    }

    /// A vector of constants, as an operand.
    fn constants(&mut self, bytes: &[u8]) -> Arg {
        Arg::Mem(Mem::at(Base::Pool, self.code.constant(bytes)))
    }

    /// The same constant in all lanes.
    fn constant(&mut self, bits: u64, size: usize, form: Size) -> Arg {
        let bytes: Vec<u8> = bits.to_le_bytes()[..size].iter().copied().cycle().take(bytes_of(form)).collect();
        self.constants(&bytes)
    }

    /// An operand in a register.
    fn register(&mut self, arg: Arg, form: Size) -> VReg {
        match arg {
            Arg::Use(r, _) => r,
            Arg::Mem(_) => self.make(Code::VEX_Vmovups_xmm_xmmm128, form, &[arg]),
            arg => unreachable!("{arg:?} is no vector"),
        }
    }

    fn ones(&mut self, form: Size) -> VReg {
        let ones = self.constant(u64::MAX, 8, form);
        self.register(ones, form)
    }

    fn zero(&mut self) -> VReg {
        let r = self.code.vector();
        self.new.push((self.at, Inst::Zero(r)));
        r
    }

    /// Has the last instruction write another register.
    fn retarget(&mut self, to: VReg) {
        match self.new.last_mut() {
            Some((_, Inst::Plain(plain))) => match &mut plain.args[0] {
                Some(Arg::Def(r, _) | Arg::Tied { to: r, .. }) => *r = to,
                arg => unreachable!("{arg:?} is no result"),
            },
            _ => unreachable!("the last instruction makes something"),
        }
    }

    /// Notes that a value that was there before is the result.
    fn copy(&mut self, from: VReg, to: VReg) {
        self.new.push((self.at, Inst::Move { from, to }));
    }

    fn replace(&mut self, plain: &Plain) {
        let mnemonic = plain.code.mnemonic();
        let mut args: Vec<Arg> = plain.args.iter().flatten().copied().collect();
        if let Some(test) = Asked::of(mnemonic).filter(|_| matches!(args[0], Arg::Def(_, Size::K))) {
            return self.test(plain, &test, &args);
        }
        // The vector whose elements are in memory is as large as the largest operand.
        let form = form_of_args(&args);
        for arg in &mut args {
            *arg = self.without_broadcast(plain.code, *arg, form);
        }
        match plain.mask {
            Some(mask) => self.masked(plain, mask, &args),
            None => self.unmasked(plain.code, &args),
        }
    }

    /// An element in memory that is taken for all lanes, as a whole vector.
    fn without_broadcast(&mut self, code: Code, arg: Arg, form: Size) -> Arg {
        let Arg::Broadcast(mem) = arg else { return arg };
        let size = if code.op_code().can_broadcast() { code.op_code().broadcast_memory_size().size() } else { 4 };
        if mem.base == Base::Pool && mem.index.is_none() {
            return Arg::Mem(Mem::at(Base::Pool, self.code.constant_in_all_lanes(mem.disp, size, bytes_of(form))));
        }
        let code = if size == 4 { Code::VEX_Vpbroadcastd_xmm_xmmm32 } else { Code::VEX_Vpbroadcastq_xmm_xmmm64 };
        Arg::Use(self.make(code, form, &[Arg::Mem(mem)]), form)
    }

    /// An instruction without a mask.
    fn unmasked(&mut self, code: Code, args: &[Arg]) {
        match args[0] {
            Arg::Def(to, form) => {
                let made = self.value(code, form, None, &args[1..]);
                self.put(made, to);
            }
            Arg::Tied { from, to, form } => {
                let made = self.value(code, form, Some(from), &args[1..]);
                self.put(made, to);
            }
            // A store, or a comparison that sets flags.
            _ => self.push(twin(code).unwrap_or(code), args),
        }
    }

    /// Notes in which register what was made is.
    fn put(&mut self, made: VReg, to: VReg) {
        let is_last = self.new.last().is_some_and(|(at, inst)| {
            *at == self.at
                && matches!(inst, Inst::Plain(plain)
                    if matches!(plain.args[0], Some(Arg::Def(r, _) | Arg::Tied { to: r, .. }) if r == made))
        });
        if is_last { self.retarget(to) } else { self.copy(made, to) }
    }

    /// What an instruction without a mask gives, in a register. `over` is what it overwrites, if it reads that.
    fn value(&mut self, code: Code, form: Size, over: Option<VReg>, args: &[Arg]) -> VReg {
        if let Some(made) = self.expanded(code, form, over, args) {
            return made;
        }
        let other = twin(code).unwrap_or(code);
        let args = self.in_registers(other, args, form);
        match over {
            None => {
                let class = if form.class() == regalloc2::RegClass::Int { self.code.gpr() } else { self.code.vector() };
                self.push(other, &[&[Arg::Def(class, form)], &args[..]].concat());
                class
            }
            Some(from) => {
                let to = self.code.vector();
                self.push(other, &[&[Arg::Tied { from, to, form }], &args[..]].concat());
                to
            }
        }
    }

    /// Operands in memory that must be in registers are loaded.
    fn in_registers(&mut self, code: Code, args: &[Arg], form: Size) -> Vec<Arg> {
        let kinds = code.op_code().op_kinds();
        let first = kinds.len().saturating_sub(args.len());
        let needs_register = |i: usize| {
            use OpCodeOperandKind::{xmm_reg, xmm_rm, xmm_vvvv, ymm_reg, ymm_rm, ymm_vvvv};
            matches!(kinds.get(first + i), Some(xmm_reg | xmm_rm | xmm_vvvv | ymm_reg | ymm_rm | ymm_vvvv))
        };
        let mut made = Vec::new();
        for (i, &arg) in args.iter().enumerate() {
            made.push(match arg {
                Arg::Mem(_) if needs_register(i) => Arg::Use(self.register(arg, form), form),
                arg => arg,
            });
        }
        made
    }

    /// `a` in the lanes of a mask, `b` in the others.
    fn blend(&mut self, mask: VReg, size: usize, form: Size, a: VReg, b: VReg) -> VReg {
        let lanes = self.lanes(mask, 0, size, form);
        if self.zeros.contains(&a) {
            return self.within(lanes.not(), form, b);
        }
        self.choose(lanes, size, form, a, b)
    }

    fn choose(&mut self, lanes: Lanes, size: usize, form: Size, a: VReg, b: VReg) -> VReg {
        let (a, b) = if lanes.inverted { (b, a) } else { (a, b) };
        let code = match (size, form) {
            (4, Size::Y) => Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm,
            (4, _) => Code::VEX_Vblendvps_xmm_xmm_xmmm128_xmm,
            (8, Size::Y) => Code::VEX_Vblendvpd_ymm_ymm_ymmm256_ymm,
            (8, _) => Code::VEX_Vblendvpd_xmm_xmm_xmmm128_xmm,
            (_, Size::Y) => Code::VEX_Vpblendvb_ymm_ymm_ymmm256_ymm,
            _ => Code::VEX_Vpblendvb_xmm_xmm_xmmm128_xmm,
        };
        let r = self.code.vector();
        self.push(code, &[Arg::Def(r, form), Arg::Use(b, form), Arg::Use(a, form), Arg::Use(lanes.x, form)]);
        r
    }

    /// A value where a mask is, and 0 elsewhere.
    fn cleared(&mut self, mask: VReg, size: usize, form: Size, x: VReg) -> VReg {
        let lanes = self.lanes(mask, 0, size, form);
        self.within(lanes, form, x)
    }

    fn within(&mut self, lanes: Lanes, form: Size, x: VReg) -> VReg {
        let code = if lanes.inverted { Code::VEX_Vpandn_xmm_xmm_xmmm128 } else { Code::VEX_Vpand_xmm_xmm_xmmm128 };
        self.by(code, form, &[lanes.x, x])
    }

    /// An instruction under a mask.
    fn masked(&mut self, plain: &Plain, mask: VReg, args: &[Arg]) {
        let (code, mnemonic, size) = (plain.code, plain.code.mnemonic(), masked_size(plain.code));
        let moves = |to_memory| match (size, to_memory) {
            (4, true) => Code::VEX_Vmaskmovps_m128_xmm_xmm,
            (8, true) => Code::VEX_Vmaskmovpd_m128_xmm_xmm,
            (4, false) => Code::VEX_Vmaskmovps_xmm_xmm_m128,
            (8, false) => Code::VEX_Vmaskmovpd_xmm_xmm_m128,
            _ => Code::INVALID,
        };
        let is_move =
            matches!(mnemonic, Mnemonic::Vmovups | Mnemonic::Vmovupd | Mnemonic::Vmovdqu8 | Mnemonic::Vmovdqu16);
        match *args {
            [to @ Arg::Mem(_), Arg::Use(x, form)] if is_move => {
                let lanes = self.own_lanes(mask, 0, size, form);
                self.push(of_form(moves(true), form), &[to, Arg::Use(lanes, form), Arg::Use(x, form)]);
            }
            // Nothing but memory of the program's need not be there.
            [Arg::Def(to, form), from @ Arg::Mem(mem)] if is_move && mem.base != Base::Pool => {
                let lanes = self.own_lanes(mask, 0, size, form);
                self.push(of_form(moves(false), form), &[Arg::Def(to, form), Arg::Use(lanes, form), from]);
            }
            [Arg::Def(to, form), from] if is_move => {
                let x = self.register(from, form);
                let made = self.cleared(mask, size, form, x);
                self.put(made, to);
            }
            [Arg::Def(to, form), Arg::Use(b, _), a]
                if matches!(
                    mnemonic,
                    Mnemonic::Vpblendmb | Mnemonic::Vpblendmw | Mnemonic::Vblendmps | Mnemonic::Vblendmpd
                ) =>
            {
                let a = self.register(a, form);
                let made = self.blend(mask, size, form, a, b);
                self.put(made, to);
            }
            [Arg::Def(to, form), ref rest @ ..] => {
                let x = self.value(code, form, None, rest);
                let made = self.cleared(mask, size, form, x);
                self.put(made, to);
            }
            [Arg::Tied { from, to, form }, ref rest @ ..] => {
                let over = is_fused_multiply(mnemonic).then_some(from);
                let x = self.value(code, form, over, rest);
                let made = self.blend(mask, size, form, x, from);
                self.put(made, to);
            }
            _ => self.push(code, args),
        }
    }

    /// A comparison: the bits of its lanes, and the vector of them beside.
    fn test(&mut self, plain: &Plain, test: &Asked, args: &[Arg]) {
        let Arg::Def(to, _) = args[0] else { return };
        let (size, form) = (test.size(), form_of_args(&args[1..]));
        let mut operands: Vec<Arg> = Vec::new();
        for &arg in &args[1..] {
            let arg = self.without_broadcast(plain.code, arg, form);
            operands.push(arg);
        }
        let predicate = match operands.get(2) {
            Some(&Arg::Imm(_, n)) => n as u8,
            _ => 0,
        };
        if let Asked::Lone { single } = *test {
            let code = if single { Code::VEX_Vcmpss_xmm_xmm_xmmm32_imm8 } else { Code::VEX_Vcmpsd_xmm_xmm_xmmm64_imm8 };
            let x = self.make(code, Size::X, &operands);
            let bits = self.gpr(Code::VEX_Vmovd_rm32_xmm, Size::G32, &[Arg::Use(x, Size::X)]);
            let bit = self.gpr_number(Code::And_rm32_imm8, Size::G32, bits, Arg::Imm(OpKind::Immediate8to32, 1));
            return self.put(bit, to);
        }
        let mut lanes = match *test {
            Asked::Floats { single } => {
                let code =
                    if single { Code::VEX_Vcmpps_xmm_xmm_xmmm128_imm8 } else { Code::VEX_Vcmppd_xmm_xmm_xmmm128_imm8 };
                Lanes { x: self.make(code, form, &operands), inverted: false }
            }
            Asked::Bits { size, common } => {
                let x = match (operands[0], operands[1]) {
                    (Arg::Use(a, _), Arg::Use(b, _)) if a == b => a,
                    (a, b) => {
                        let a = self.register(a, form);
                        self.make(Code::VEX_Vpand_xmm_xmm_xmmm128, form, &[Arg::Use(a, form), b])
                    }
                };
                let zero = self.zero();
                Lanes { x: self.by(equal(size), form, &[x, zero]), inverted: common }
            }
            Asked::Integers { size, signed } => self.compared(size, signed, predicate, form, &operands),
            Asked::Lone { .. } => return,
        };
        let mut within = plain.mask;
        if let Some(mask) = within {
            // What is known of a mask as a vector is known of what it is cut to.
            if let Some(outer) = self.lanes_known(mask, 0, size, form) {
                lanes = self.intersection(outer, lanes, form);
                within = None;
            }
        }
        if within.is_none() {
            self.known.insert(to, 0, size, form, lanes);
        }
        let bits = self.signs(lanes.x, size, form);
        let n = bytes_of(form) / size;
        let full = Arg::Imm(OpKind::Immediate32, (u64::MAX >> (64 - n)) as i64);
        let bits = match (lanes.inverted, n) {
            (false, _) => bits,
            (true, 32) => {
                let not = self.code.gpr();
                self.push(Code::Not_rm32, &[Arg::Tied { from: bits, to: not, form: Size::G32 }]);
                not
            }
            (true, _) => self.gpr_number(Code::Xor_rm32_imm32, Size::G32, bits, full),
        };
        match within {
            None => {
                self.made_bits.push(to);
                self.put(bits, to);
            }
            Some(mask) => {
                self.made_bits.push(to);
                let both = self.code.gpr();
                let args = [Arg::Tied { from: bits, to: both, form: Size::G64 }, Arg::Use(mask, Size::G64)];
                self.push(Code::And_rm64_r64, &args);
                self.put(both, to);
            }
        }
    }

    /// The signs of elements as bits.
    fn signs(&mut self, x: VReg, size: usize, form: Size) -> VReg {
        let (code, x, form) = match size {
            1 => (Code::VEX_Vpmovmskb_r32_xmm, x, form),
            2 => {
                let high = match form {
                    Size::Y => self.upper(x),
                    _ => self.zero(),
                };
                let bytes = self.by(Code::VEX_Vpacksswb_xmm_xmm_xmmm128, Size::X, &[x, high]);
                (Code::VEX_Vpmovmskb_r32_xmm, bytes, Size::X)
            }
            4 => (Code::VEX_Vmovmskps_r32_xmm, x, form),
            _ => (Code::VEX_Vmovmskpd_r32_xmm, x, form),
        };
        // Those that also write 64 bits stand between.
        let code = match (code, form) {
            (Code::VEX_Vpmovmskb_r32_xmm, Size::Y) => Code::VEX_Vpmovmskb_r32_ymm,
            (Code::VEX_Vmovmskps_r32_xmm, Size::Y) => Code::VEX_Vmovmskps_r32_ymm,
            (Code::VEX_Vmovmskpd_r32_xmm, Size::Y) => Code::VEX_Vmovmskpd_r32_ymm,
            (code, _) => code,
        };
        let bits = self.gpr(code, Size::G32, &[Arg::Use(x, form)]);
        self.made_bits.push(bits);
        bits
    }

    /// The upper half of 256 bits.
    fn upper(&mut self, x: VReg) -> VReg {
        let r = self.code.vector();
        let args = [Arg::Def(r, Size::X), Arg::Use(x, Size::Y), number(1)];
        self.push(Code::VEX_Vextracti128_xmmm128_ymm_imm8, &args);
        r
    }

    /// A comparison of integers, by its number in the encoding.
    fn compared(&mut self, size: usize, signed: bool, predicate: u8, form: Size, args: &[Arg]) -> Lanes {
        let holds = |x| Lanes { x, inverted: false };
        let fails = |x| Lanes { x, inverted: true };
        let a = self.register(args[0], form);
        if matches!(predicate, 0 | 4) {
            let x = self.make(equal(size), form, &[Arg::Use(a, form), args[1]]);
            return if predicate == 0 { holds(x) } else { fails(x) };
        }
        let b = self.register(args[1], form);
        let (mut x, mut y) = (a, b);
        if !signed {
            let extremes = match size {
                1 => Some((Code::VEX_Vpminub_xmm_xmm_xmmm128, Code::VEX_Vpmaxub_xmm_xmm_xmmm128)),
                2 => Some((Code::VEX_Vpminuw_xmm_xmm_xmmm128, Code::VEX_Vpmaxuw_xmm_xmm_xmmm128)),
                4 => Some((Code::VEX_Vpminud_xmm_xmm_xmmm128, Code::VEX_Vpmaxud_xmm_xmm_xmmm128)),
                _ => None,
            };
            if let Some((least, greatest)) = extremes {
                // `a <= b` where `a` is the less of both.
                let (code, inverted) = match predicate {
                    1 => (greatest, true),
                    2 => (least, false),
                    5 => (greatest, false),
                    _ => (least, true),
                };
                let extreme = self.by(code, form, &[a, b]);
                return Lanes { x: self.by(equal(size), form, &[extreme, a]), inverted };
            }
            // With their signs turned, they compare as if they had one.
            let sign = self.constant(1 << 63, 8, form);
            [x, y] = [a, b].map(|r| self.make(Code::VEX_Vpxor_xmm_xmm_xmmm128, form, &[Arg::Use(r, form), sign]));
        }
        match predicate {
            1 => holds(self.by(greater(size), form, &[y, x])),
            2 => fails(self.by(greater(size), form, &[x, y])),
            5 => fails(self.by(greater(size), form, &[y, x])),
            _ => holds(self.by(greater(size), form, &[x, y])),
        }
    }
}

/// An instruction for 256 bits, by the one for 128. Between some there is another.
fn of_form(code: Code, form: Size) -> Code {
    if form != Size::Y {
        return code;
    }
    let next = sized(code, Size::Y);
    let (mnemonic, kinds) = (code.mnemonic(), code.op_code().op_count());
    let is_twin = |other: Code| {
        use OpCodeOperandKind::{ymm_is4, ymm_is5, ymm_or_mem, ymm_reg, ymm_rm, ymm_vvvv};
        let is_ymm = |kind: &_| matches!(kind, ymm_is4 | ymm_is5 | ymm_or_mem | ymm_reg | ymm_rm | ymm_vvvv);
        let uses_ymm = other.op_code().op_kinds().iter().any(is_ymm);
        other.mnemonic() == mnemonic && other.op_code().op_count() == kinds && uses_ymm
    };
    if is_twin(next) { next } else { code }
}

fn number(n: u8) -> Arg {
    Arg::Imm(OpKind::Immediate8, n.into())
}

fn equal(size: usize) -> Code {
    match size {
        1 => Code::VEX_Vpcmpeqb_xmm_xmm_xmmm128,
        2 => Code::VEX_Vpcmpeqw_xmm_xmm_xmmm128,
        4 => Code::VEX_Vpcmpeqd_xmm_xmm_xmmm128,
        _ => Code::VEX_Vpcmpeqq_xmm_xmm_xmmm128,
    }
}

fn greater(size: usize) -> Code {
    match size {
        1 => Code::VEX_Vpcmpgtb_xmm_xmm_xmmm128,
        2 => Code::VEX_Vpcmpgtw_xmm_xmm_xmmm128,
        4 => Code::VEX_Vpcmpgtd_xmm_xmm_xmmm128,
        _ => Code::VEX_Vpcmpgtq_xmm_xmm_xmmm128,
    }
}

/// The largest form of operands that are vectors.
fn form_of_args(args: &[Arg]) -> Size {
    let forms = args.iter().filter_map(|arg| match *arg {
        Arg::Def(_, form) | Arg::Use(_, form) | Arg::Any(_, form) | Arg::Tied { form, .. } => Some(form),
        _ => None,
    });
    forms.filter(|form| matches!(form, Size::X | Size::Y)).max().unwrap_or(Size::X)
}
