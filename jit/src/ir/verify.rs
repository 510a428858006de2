//! Checks what passes and back ends rely on. Run after every pass in debug builds.

use super::{BlockId, Edge, End, ExitId, ExitReason, Inst, Kind, Region, Type, Value};
use crate::dominance::Dominators;
use spmdvm_vm::isa;
use spmdvm_vm::types::Ty;

/// Checks the invariants of a region; the error says which one does not hold and where.
pub fn verify(region: &Region) -> Result<(), String> {
    let defs = definitions(region)?;
    let dominators = Dominators::new(region);
    let check = Check { region, defs, dominators };
    for (i, block) in region.blocks.iter().enumerate() {
        let id = BlockId(i as u32);
        if !check.dominators.is_reachable(id) {
            continue;
        }
        for (at, inst) in block.insts.iter().enumerate() {
            check.inst(id, at, inst).map_err(|e| format!("b{i}, instruction {at} ({}): {e}", inst.kind))?;
        }
        check.end(id, block.insts.len(), &block.end).map_err(|e| format!("the end of b{i}: {e}"))?;
    }
    Ok(())
}

/// Where a value is defined: block, and position of the instruction plus one (0 for parameters).
type Definition = Option<(BlockId, usize)>;

fn definitions(region: &Region) -> Result<Vec<Definition>, String> {
    let mut defs: Vec<Definition> = vec![None; region.types.len()];
    for (i, block) in region.blocks.iter().enumerate() {
        let params = block.params.iter().map(|&p| (p, 0));
        let results = block.insts.iter().enumerate().filter_map(|(at, inst)| Some((inst.result?, at + 1)));
        for (v, at) in params.chain(results) {
            let slot = defs.get_mut(v.index()).ok_or_else(|| format!("{v} has no type"))?;
            if slot.replace((BlockId(i as u32), at)).is_some() {
                return Err(format!("{v} is defined twice"));
            }
        }
    }
    if region.blocks.first().is_none_or(|b| !b.params.is_empty()) {
        return Err("the entry block is missing or has parameters".into());
    }
    Ok(defs)
}

struct Check<'a> {
    region: &'a Region,
    defs: Vec<Definition>,
    dominators: Dominators,
}

impl Check<'_> {
    /// A use in a block, before instruction `at`.
    fn used(&self, v: Value, block: BlockId, at: usize) -> Result<Type, String> {
        let def = self.defs.get(v.index()).copied().flatten();
        let (home, from) = def.ok_or_else(|| format!("{v} is not defined"))?;
        let before = if home == block { from <= at } else { self.dominators.dominates(home, block) };
        if !before {
            return Err(format!("{v} does not dominate this use"));
        }
        Ok(self.region.ty(v))
    }

    fn inst(&self, block: BlockId, at: usize, inst: &Inst) -> Result<(), String> {
        let mut types = Vec::with_capacity(inst.args.len());
        for &a in &inst.args {
            types.push(self.used(a, block, at)?);
        }
        if let Some(exit) = inst.kind.exit() {
            self.exit(exit.index(), block, at)?;
        }
        let entry_only = matches!(inst.kind, Kind::EntryReg { .. } | Kind::EntryMask(_) | Kind::EntryVisiting(_));
        if entry_only && block != BlockId(0) {
            return Err("stands outside of the entry block".into());
        }
        self.types(inst, &types)
    }

    fn types(&self, inst: &Inst, args: &[Type]) -> Result<(), String> {
        use Kind::*;
        let u64_ = Type::uniform(Ty::U64);
        let result = inst.result.map(|v| self.region.ty(v));
        let expect = |want: &[Type], give: Option<Type>| {
            let fits = args == want && result == give;
            if fits { Ok(()) } else { Err(format!("takes {args:?} and gives {result:?}, not {want:?} and {give:?}")) }
        };
        match inst.kind {
            Const(_) => {
                if args.is_empty() && result.is_some_and(|r| !r.is_varying()) {
                    Ok(())
                } else {
                    Err("is not uniform".into())
                }
            }
            EntryMask(_) => expect(&[], Some(Type::MASK)),
            EntryVisiting(_) => expect(&[], Some(Type::uniform(Ty::I32))),
            Call { exit, .. } | CallIndirect { exit } if !self.is_at_call(exit) || result.is_some() => {
                Err("does not stand at a call, or gives something".into())
            }
            Call { site, .. } => {
                let site = self.region.call_sites.get(site as usize).ok_or("has no site")?;
                self.takes(args, &site.params)
            }
            CallIndirect { .. } => Ok(()),
            EntryReg { .. } | Returned { .. } => {
                if result.is_some() {
                    Ok(())
                } else {
                    Err("has no result".into())
                }
            }
            FrameAddress | IsShared | Zeros | FrameHost { .. } | FrameOpen { .. } => expect(&[], Some(u64_)),
            FrameClose => expect(&[u64_], None),
            Interpret { site, .. } => self.site(site, args, result),
            Op { op, ty, from } => self.operation(inst, op, ty, from, args, result),
            LoadedPointer { .. } => expect(&[Type::BOOL, u64_, u64_], Some(u64_)),
            RawBits { ty, from } => {
                let varying = args.iter().any(|arg| arg.is_varying());
                let of = |ty| if varying { Type::varying(ty) } else { Type::uniform(ty) };
                match ty.is_int() && ty.size() == from.size() && matches!(from, Ty::F32 | Ty::F64) {
                    true => expect(&[of(from)], Some(of(ty))),
                    false => Err(format!("{ty} has not the bits of {from}")),
                }
            }
            Splat => {
                let ty = result.map_or(Ty::Bool, |r| r.ty);
                expect(&[Type::uniform(ty)], Some(Type::varying(ty)))
            }
            MaskBits => expect(&[Type::MASK], Some(u64_)),
            MaskFromBits => expect(&[u64_], Some(Type::MASK)),
            AnyLane => expect(&[Type::MASK], Some(Type::BOOL)),
            Reduce { ty, .. } => expect(&[Type::varying(ty)], Some(Type::uniform(ty))),
            RegionBase | RegionLen { .. } => {
                let pointer = if args.iter().any(|arg| arg.is_varying()) { Type::varying(Ty::U64) } else { u64_ };
                let takes = [pointer; 2];
                let n = if inst.kind == (RegionLen { write: false }) { 1 } else { 2 };
                expect(&takes[..n], Some(pointer))
            }
            HostAddress { .. } => expect(&[u64_, u64_], Some(u64_)),
            IndexLow { ty, .. } => expect(&[u64_], Some(Type::uniform(ty))),
            IndexSpan { ty, .. } => expect(&[u64_, u64_], Some(Type::uniform(unsigned(ty)))),
            Load { ty } => expect(&[u64_], Some(Type::uniform(ty))),
            LoadLanes { ty } | LoadStrided { ty, .. } => expect(&[u64_], Some(Type::varying(ty))),
            Gather { ty, index, .. } => expect(&[u64_, Type::varying(index), Type::MASK], Some(Type::varying(ty))),
            Store { ty } => expect(&[u64_, Type::uniform(ty)], None),
            StoreLanes { ty } | StoreStrided { ty, .. } => expect(&[u64_, Type::varying(ty)], None),
            Clear { .. } => expect(&[u64_], None),
            LoadPacked { ty } => expect(&[u64_, Type::MASK], Some(Type::varying(ty))),
            StoreMasked { ty } | StorePacked { ty } => expect(&[u64_, Type::varying(ty), Type::MASK], None),
            Scatter { ty, index, .. } => expect(&[u64_, Type::varying(index), Type::varying(ty), Type::MASK], None),
            Atomic { op, ty } => {
                let element = Type::uniform(ty);
                let operands = [u64_, element, element];
                let n = if op == isa::Op::AtomicCas { 3 } else { 2 };
                match Kind::has_atomic(op, ty) {
                    true => expect(&operands[..n], Some(element)),
                    false => Err(format!("{op:?} is not one of these operations")),
                }
            }
            LoadAny { address, .. } => arity(args, 2 + address.index.is_some() as usize),
            StoreAny { address, .. } => arity(args, 3 + address.index.is_some() as usize),
            Guard { .. } => expect(&[Type::BOOL], None),
            Tick { .. } | Count(_) | FramePass => expect(&[], None),
            FramePasses { .. } => expect(&[u64_], None),
            Ticks { .. } => expect(&[u64_], Some(u64_)),
            Chance { .. } => expect(&[], Some(Type::BOOL)),
        }
    }

    fn operation(
        &self,
        inst: &Inst,
        op: spmdvm_vm::Op,
        ty: Ty,
        from: Ty,
        args: &[Type],
        result: Option<Type>,
    ) -> Result<(), String> {
        let sig = op.info().sig;
        let dst = sig.dst.ok_or("has no result")?;
        if args.len() != sig.src.len() {
            return Err(format!("takes {} arguments, not {}", sig.src.len(), args.len()));
        }
        for (slot, arg) in sig.src.iter().zip(args) {
            if slot.ty.resolve(ty, from) != arg.ty {
                return Err(format!("`{}` has type {}", slot.name, arg.ty));
            }
        }
        let want = dst.ty.resolve(ty, from);
        let varying = args.iter().any(|a| a.is_varying());
        let lanes = matches!(op, spmdvm_vm::Op::Iota | spmdvm_vm::Op::Insert | spmdvm_vm::Op::Extract);
        match result {
            Some(r) if r.ty == want && (lanes || r.is_varying() == varying) => Ok(()),
            _ => Err(format!("gives {result:?}: {inst:?}")),
        }
    }

    fn site(&self, site: u32, args: &[Type], result: Option<Type>) -> Result<(), String> {
        let site = self.region.handler_calls.get(site as usize).ok_or("has no site")?;
        self.takes(args, &site.operands)?;
        if result == site.result.map(|r| r.1) { Ok(()) } else { Err(format!("does not give the result of {site:?}")) }
    }

    /// Arguments that are put in registers, with a mask behind them.
    fn takes(&self, args: &[Type], registers: &[(u32, Type)]) -> Result<(), String> {
        let Some((mask, operands)) = args.split_last() else { return Err("has no mask".into()) };
        let fits = |(given, wanted): (&Type, &(u32, Type))| {
            given.ty == wanted.1.ty && (wanted.1.is_varying() || !given.is_varying())
        };
        let right =
            operands.len() == registers.len() && operands.iter().zip(registers).all(fits) && *mask == Type::MASK;
        if right { Ok(()) } else { Err(format!("does not fit {registers:?}")) }
    }

    fn is_at_call(&self, exit: ExitId) -> bool {
        let reason = self.region.exits.get(exit.index()).map(|exit| exit.reason);
        matches!(reason, Some(ExitReason::LinkedCall | ExitReason::Numbered(_)))
    }

    fn edge(&self, edge: &Edge, block: BlockId, at: usize) -> Result<(), String> {
        let target = self.region.blocks.get(edge.to.index()).ok_or("goes to a block that does not exist")?;
        if edge.to == BlockId(0) {
            return Err("goes to the entry block".into());
        }
        if target.params.len() != edge.args.len() {
            return Err(format!("b{} takes {} values, not {}", edge.to.0, target.params.len(), edge.args.len()));
        }
        for (&a, &p) in edge.args.iter().zip(&target.params) {
            let (given, wanted) = (self.used(a, block, at)?, self.region.ty(p));
            if given != wanted {
                return Err(format!("{a} is {given}, but {p} of b{} is {wanted}", edge.to.0));
            }
        }
        Ok(())
    }

    fn exit(&self, exit: usize, block: BlockId, at: usize) -> Result<(), String> {
        let exit = self.region.exits.get(exit).ok_or("has no exit")?;
        for v in exit.values() {
            self.used(v, block, at).map_err(|e| format!("at the exit `{}`: {e}", exit.reason))?;
        }
        for frame in &exit.frames {
            let masks = frame.entries.iter().flat_map(|e| [e.restore, e.other]).chain([frame.mask]);
            for m in masks {
                if self.region.ty(m) != Type::MASK {
                    return Err(format!("{m} is not a mask"));
                }
            }
            for r in &frame.regs {
                let given = self.region.ty(r.value);
                let owner = r.into.map(|i| exit.frames.get(i as usize));
                if owner.is_some_and(|owner| owner.is_none_or(|owner| owner.unopened.is_none()))
                    || r.into.is_some() && r.ty.ty != Ty::U64
                {
                    return Err(format!("register {} is no pointer to memory that is to be entered", r.reg.0));
                }
                if given.ty != r.ty.ty || (given.is_varying() && !r.ty.is_varying()) {
                    return Err(format!("{} is {given}, but register {} is {}", r.value, r.reg.0, r.ty));
                }
            }
        }
        Ok(())
    }

    fn end(&self, block: BlockId, at: usize, end: &End) -> Result<(), String> {
        if let End::Branch { cond, .. } = end
            && self.used(*cond, block, at)? != Type::BOOL
        {
            return Err(format!("{cond} is not a uniform bool"));
        }
        if let End::Exit(exit) = end {
            self.exit(exit.index(), block, at)?;
        }
        end.edges().try_for_each(|edge| self.edge(edge, block, at))
    }
}

fn arity(args: &[Type], n: usize) -> Result<(), String> {
    if args.len() == n && args.last() == Some(&Type::MASK) { Ok(()) } else { Err("has the wrong arguments".into()) }
}

/// The unsigned type of the size of an integer type.
pub(crate) fn unsigned(ty: Ty) -> Ty {
    unsigned_of(ty.size())
}

/// The unsigned type of so many bytes.
pub(crate) fn unsigned_of(size: usize) -> Ty {
    match size {
        1 => Ty::U8,
        2 => Ty::U16,
        4 => Ty::U32,
        _ => Ty::U64,
    }
}
