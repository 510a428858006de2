//! Vectors of integers of which only low bits count are computed in narrower types.
//!
//! A language in which bytes become `int`s for arithmetic, and the result a byte again, makes vectors four times as wide as needed, and
//! conversions that cost more than the arithmetic.
//!
//! ```text
//! %3: v.i32 = cvt.i32.u8 %1                  %6: v.u16 = cvt.u16.u8 %1
//! %4: v.i32 = mul.i32 %3, 7           ►      %7: v.u16 = mul.u16 %6, 7
//! %5: v.u16 = cvt.u16.i32 %4                 (%7)
//! ```
//!
//! # What it keeps
//!
//! The low bits of sums, differences, products, combinations of bits and shifts to the left are made of the low bits of their operands: if
//! nobody asks for more of a result, no more is computed. Shifts to the right, comparisons and extremes are computed in the type in which
//! their operands fit as numbers that are not negative, if a bound of them is known ([`ranges`](super::ranges)). What stores, memory and
//! other blocks' parameters get is asked for in full; exits take what fits in fewer bytes by a conversion, which is computed on the way
//! out ([`exit_only`](crate::lowering)), and so do blocks that hand on what was computed in a loop they are not in. Only pure
//! instructions change. New conversions stand where what they convert is made, so outside of loops if that is.
//!
//! # What pays
//!
//! Operations that hand narrow values to each other change together, if the vectors and conversions of all of them take less than
//! before. Products and shifts of bytes are none of the machines', so these are computed in 16 bits. What stands in cold blocks stays.

use super::defs::Defs;
use super::licm::{Loops, definitions};
use super::ranges::{all, most, most_of_type};
use super::{dead, identity, is_comparison, replace, sink};
use crate::dominance::Dominators;
use crate::exec_ir::meaning::normalised;
use crate::ir::{BlockId, End, ExitId, Inst, Kind, Region, Type, Value, unsigned_of};
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Bytes of vectors that cost one.
const UNIT: usize = 32;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let has_small = |ty: &Type| ty.is_varying() && ty.ty.is_int() && ty.ty.size() < 4;
    if !region.types.iter().any(has_small) {
        return;
    }
    let dominators = Dominators::new(region);
    let behind = Behind::new(region, &dominators);
    let widths = Widths::new(region, dominators.order(), &behind);
    let sizes = widths.chosen();
    if !sizes.is_empty() {
        let defs = widths.defs;
        Rewriting::new(region, defs, sizes, &behind).run(dominators.order());
        // What loops need no longer, but those behind them do, is computed there.
        dead::run(region);
        sink::run(region);
    }
}

/// Which blocks are behind loops.
struct Behind {
    /// By value: the block in which it is made.
    home: Vec<BlockId>,
    /// By block: the number of loops around it.
    depth: Vec<usize>,
}

impl Behind {
    fn new(region: &Region, dominators: &Dominators) -> Behind {
        let loops = Loops::new(region, dominators);
        let depth = (0..region.blocks.len() as u32).map(|b| loops.around(BlockId(b)).count()).collect();
        Behind { home: definitions(region), depth }
    }

    /// Returns whether a block is in fewer loops than the one that made a value for it.
    fn loop_of(&self, v: Value, block: BlockId) -> bool {
        self.depth[block.index()] < self.depth[self.home[v.index()].index()]
    }
}

/// Returns whether an instruction only changes the size or the sign of an integer.
fn resizes(kind: Kind) -> bool {
    match kind {
        Kind::Op { op: Op::Convert, ty, from } => ty.is_int() && from.is_int(),
        Kind::Op { op: Op::Bitcast, ty, from } => ty.is_int() && from.is_int(),
        _ => false,
    }
}

/// By value: the most that it can be, if it is known that it is not negative.
fn bounds(region: &Region, defs: &Defs, order: &[BlockId]) -> Vec<Option<u64>> {
    let mut bounds = vec![None; region.types.len()];
    for &b in order {
        let block = region.block(b);
        block.params.iter().for_each(|&p| bounds[p.index()] = most_of_type(region.ty(p).ty));
        for inst in &block.insts {
            let Some(v) = inst.result else { continue };
            let of = |i: usize| bounds[inst.args[i].index()];
            bounds[v.index()] = most(inst.kind, region.ty(v).ty, of, |i| defs.known(inst.args[i]));
        }
    }
    bounds
}

/// In how many bytes values are computed.
struct Widths<'a> {
    region: &'a Region,
    defs: Defs,
    behind: &'a Behind,
    /// By value.
    most: Vec<Option<u64>>,
    /// Bytes of a value that somebody asks for.
    asked: Vec<usize>,
    /// Where values are in other sizes already, by value and size.
    there: HashSet<(Value, usize)>,
    /// Instructions that can be narrower, by their results, in the order of definitions, with their sizes.
    found: Vec<(&'a Inst, usize)>,
    by_value: HashMap<Value, usize>,
}

impl<'a> Widths<'a> {
    fn new(region: &'a Region, order: &[BlockId], behind: &'a Behind) -> Self {
        let defs = Defs::of(region);
        let most = bounds(region, &defs, order);
        let (there, by_value) = (HashSet::new(), HashMap::new());
        let asked = vec![0; region.types.len()];
        let mut widths = Widths { region, defs, behind, most, asked, there, found: Vec::new(), by_value };
        // Whoever uses a value stands behind it in this order.
        for &b in order.iter().rev() {
            widths.block(b);
        }
        widths.found.reverse();
        for (i, &(inst, _)) in widths.found.iter().enumerate() {
            widths.by_value.extend(inst.result.map(|v| (v, i)));
        }
        widths
    }

    fn ask(&mut self, v: Value, bytes: usize) {
        let asked = &mut self.asked[v.index()];
        *asked = (*asked).max(bytes);
    }

    fn ask_for_all(&mut self, values: impl Iterator<Item = Value>) {
        values.for_each(|v| self.ask(v, self.region.ty(v).ty.size()));
    }

    fn block(&mut self, b: BlockId) {
        let region = self.region;
        let block = region.block(b);
        for &v in block.end.edges().flat_map(|e| &e.args) {
            let bytes = if self.behind.loop_of(v, b) { self.fits(v) } else { self.region.ty(v).ty.size() };
            self.ask(v, bytes);
        }
        if let End::Exit(exit) = block.end {
            self.exit(exit);
        }
        for inst in block.insts.iter().rev() {
            if let Some(exit) = inst.kind.exit() {
                self.exit(exit);
            }
            self.inst(inst, block.cold);
        }
    }

    /// Asks for what an exit hands on: it widens what fits in fewer bytes itself.
    fn exit(&mut self, exit: ExitId) {
        self.region.exits[exit.index()].values().for_each(|v| self.ask(v, self.fits(v)));
    }

    /// Asks for what an instruction needs, after all who need it.
    fn inst(&mut self, inst: &'a Inst, cold: bool) {
        let Some(asked) = inst.result.map(|v| self.asked[v.index()]).filter(|_| inst.kind.is_pure() && !cold) else {
            return self.ask_for_all(inst.args.iter().copied());
        };
        let is_dead = asked == 0 && inst.result.is_some_and(|v| self.region.ty(v).ty.is_int());
        if is_dead {
            return;
        }
        if let Some(size) = self.narrow(inst, asked) {
            self.found.push((inst, size));
            let is_and = matches!(inst.kind, Kind::Op { op: Op::And, .. });
            for (i, &arg) in inst.args.iter().enumerate() {
                let other = inst.args.get(1 - i.min(1)).filter(|&&v| is_and && self.defs.known(v).is_some());
                self.ask(arg, other.map_or(size, |&c| self.fits(c).min(size)));
            }
            return;
        }
        match inst.kind {
            kind if resizes(kind) => {
                let (arg, result) = (inst.args[0], asked);
                self.there.extend(inst.result.map(|v| (arg, self.region.ty(v).ty.size())));
                let size = self.region.ty(arg).ty.size();
                let is_wider = inst.result.is_some_and(|v| self.region.ty(v).ty.size() > size);
                self.ask(arg, if is_wider { self.fits(arg) } else { result.min(size) });
            }
            Kind::Op { op: Op::Convert, from, .. } if from.is_int() => self.ask(inst.args[0], self.fits(inst.args[0])),
            _ => self.ask_for_all(inst.args.iter().copied()),
        }
    }

    /// Bytes in which a value fits without a sign, as far as is known.
    fn fits(&self, v: Value) -> usize {
        let size = self.region.ty(v).ty.size();
        let most = self.most[v.index()];
        most.and_then(|most| [1, 2, 4, 8].into_iter().find(|&bytes| most <= all(bytes))).map_or(size, |n| n.min(size))
    }

    /// In how many bytes an instruction can be computed of whose result so many are asked for, if that is fewer than its type has.
    fn narrow(&self, inst: &Inst, asked: usize) -> Option<usize> {
        let Kind::Op { op, ty, .. } = inst.kind else { return None };
        let varies = |&v: &Value| self.region.ty(v).is_varying() && self.defs.splat(v).is_none();
        if !ty.is_int() || ty.size() == 1 || !inst.args.iter().any(varies) {
            return None;
        }
        let count = || Some(self.defs.known(inst.args[1])? % (8 * ty.size() as u64));
        let below = |size: usize, n: u64| (n < 8 * size as u64).then_some(size);
        let both = || self.fits(inst.args[0]).max(self.fits(inst.args[1]));
        let size = match op {
            Op::Add | Op::Sub | Op::And | Op::Or | Op::Xor | Op::Not | Op::Neg | Op::Select => asked,
            Op::Mul => asked.max(2),
            Op::Shl => below(asked.max(2), count()?)?,
            Op::Shr => below(asked.max(self.fits(inst.args[0])).max(2), count()?)?,
            Op::Min | Op::Max => asked.max(both()),
            _ if is_comparison(op) => both(),
            _ => return None,
        };
        (size < ty.size()).then_some(size)
    }

    /// What an instruction of so many bytes takes for an operand: another that is found, or what is converted.
    fn operand(&self, v: Value, size: usize) -> Value {
        extended(&self.defs, &self.by_value, source(&self.defs, self.region, &self.by_value, v, size))
    }

    fn of(&self, size: usize) -> usize {
        (self.region.width.lanes() * size).div_ceil(UNIT)
    }

    fn conversion(&self, from: usize, to: usize) -> usize {
        if from == to { 0 } else { 2 * self.of(from.max(to)) }
    }

    /// Sizes of the values that are to be narrower.
    fn chosen(&self) -> HashMap<Value, usize> {
        // Which of them belong together: each leads to one that stands for all.
        let mut leader: Vec<usize> = (0..self.found.len()).collect();
        fn lead(leader: &[usize], mut i: usize) -> usize {
            while leader[i] != i {
                i = leader[i];
            }
            i
        }
        for (i, &(inst, size)) in self.found.iter().enumerate() {
            for &arg in &inst.args {
                if let Some(&j) = self.by_value.get(&self.operand(arg, size)) {
                    let (a, b) = (lead(&leader, i), lead(&leader, j));
                    leader[a] = b;
                }
            }
        }
        let mut gain = vec![0isize; self.found.len()];
        let mut users: HashMap<Value, usize> = HashMap::new();
        for (inst, _) in &self.found {
            inst.args.iter().for_each(|&v| *users.entry(v).or_default() += 1);
        }
        let uses = uses(self.region, self.behind);
        let (mut gone, mut made) = (HashSet::new(), HashSet::new());
        for (i, &(inst, size)) in self.found.iter().enumerate() {
            let group = lead(&leader, i);
            let Kind::Op { op, ty, .. } = inst.kind else { continue };
            // Constants of 32 bits and more are operands in memory, smaller ones are loaded.
            let shifts = matches!(op, Op::Shl | Op::Shr);
            let loaded = inst.args.iter().filter(|&&v| !shifts && self.defs.known(v).is_some()).count();
            gain[group] -= if size < 4 && ty.size() >= 4 { loaded as isize } else { 0 };
            gain[group] += self.of(ty.size()) as isize - self.of(size) as isize;
            for &arg in inst.args.iter().filter(|&&v| self.region.ty(v).ty != Ty::Bool) {
                let source = self.operand(arg, size);
                if self.defs.known(source).is_some() || !self.region.ty(source).is_varying() {
                    continue;
                }
                let from = self.by_value.get(&source).map_or(self.region.ty(source).ty.size(), |&j| self.found[j].1);
                if from != size && !self.there.contains(&(source, size)) && made.insert((source, size)) {
                    gain[group] -= self.conversion(from, size) as isize;
                }
                // A conversion that nobody else asks for is no longer made.
                if source != arg && uses[arg.index()] == users[&arg] && gone.insert(arg) {
                    let before = self.region.ty(extended(&self.defs, &self.by_value, arg)).ty.size();
                    gain[group] += self.conversion(before, self.region.ty(arg).ty.size()) as isize;
                }
            }
        }
        for inst in self.region.blocks.iter().flat_map(|b| &b.insts) {
            let Some(&j) = inst.args.first().and_then(|v| self.by_value.get(v)) else { continue };
            let (Kind::Op { op: Op::Convert, ty, from }, narrow) = (inst.kind, self.found[j].1) else { continue };
            if users.contains_key(&inst.result.unwrap_or(inst.args[0])) && ty.size() <= from.size() {
                continue;
            }
            let (now, then) = match ty.is_int() {
                true => (self.conversion(from.size(), ty.size()), self.conversion(narrow, ty.size())),
                false => (0, self.conversion(narrow.min(4), 4)),
            };
            gain[lead(&leader, j)] += now as isize - then as isize;
        }
        let chosen = (0..self.found.len()).filter(|&i| gain[lead(&leader, i)] > 0);
        chosen.filter_map(|i| Some((self.found[i].0.result?, self.found[i].1))).collect()
    }
}

/// How often each value stands anywhere but in exits, and where it is handed on behind its loop.
fn uses(region: &Region, behind: &Behind) -> Vec<usize> {
    let mut times = vec![0; region.types.len()];
    let mut count = |v: Value| times[v.index()] += 1;
    for (b, block) in region.blocks.iter().enumerate() {
        let is_behind = |v: &Value| behind.loop_of(*v, BlockId(b as u32));
        block.insts.iter().flat_map(|inst| &inst.args).copied().for_each(&mut count);
        block.end.edges().flat_map(|edge| &edge.args).copied().filter(|v| !is_behind(v)).for_each(&mut count);
    }
    times
}

/// Where an instruction is put: before one of a block, by its number.
type Place = (BlockId, usize);

struct Rewriting<'a> {
    region: &'a mut Region,
    defs: Defs,
    behind: &'a Behind,
    /// Sizes of what is chosen, by value.
    sizes: HashMap<Value, usize>,
    /// The narrow value of each.
    narrow: HashMap<Value, Value>,
    /// By value: behind its definition.
    places: Vec<Place>,
    /// Conversions made, by what is converted and to how many bytes.
    made: HashMap<(Value, usize), Value>,
    /// Constants made, by their bits and bytes.
    constants: HashMap<(u64, usize), Value>,
    new: HashMap<Place, Vec<Inst>>,
    /// What stands for values.
    to: Vec<Value>,
}

impl<'a> Rewriting<'a> {
    fn new(region: &'a mut Region, defs: Defs, sizes: HashMap<Value, usize>, behind: &'a Behind) -> Self {
        let mut places = vec![(BlockId(0), 0); region.types.len()];
        for (b, block) in region.blocks.iter().enumerate() {
            let id = BlockId(b as u32);
            block.params.iter().for_each(|p| places[p.index()] = (id, 0));
            for (i, inst) in block.insts.iter().enumerate() {
                inst.result.iter().for_each(|v| places[v.index()] = (id, i + 1));
            }
        }
        let to = identity(region);
        let (narrow, made, constants, new) = (HashMap::new(), HashMap::new(), HashMap::new(), HashMap::new());
        Rewriting { region, defs, behind, sizes, narrow, places, made, constants, new, to }
    }

    fn run(mut self, order: &[BlockId]) {
        for &b in order {
            let mut insts = std::mem::take(&mut self.region.blocks[b.index()].insts);
            for (i, inst) in insts.iter_mut().enumerate() {
                self.inst(inst, (b, i + 1));
            }
            self.region.blocks[b.index()].insts = insts;
        }
        self.exits();
        self.edges();
        for (b, block) in self.region.blocks.iter_mut().enumerate() {
            let mut insts = Vec::with_capacity(block.insts.len());
            let mut put = |at: usize, insts: &mut Vec<Inst>| {
                insts.extend(self.new.remove(&(BlockId(b as u32), at)).unwrap_or_default());
            };
            put(0, &mut insts);
            for (i, inst) in std::mem::take(&mut block.insts).into_iter().enumerate() {
                insts.push(inst);
                put(i + 1, &mut insts);
            }
            block.insts = insts;
        }
        // What is converted so elsewhere, too.
        for inst in self.region.blocks.iter().flat_map(|b| &b.insts) {
            let Some(v) = inst.result.filter(|v| v.index() < self.to.len() && resizes(inst.kind)) else { continue };
            let ty = self.region.ty(v);
            match self.made.get(&(inst.args[0], ty.ty.size())) {
                Some(&made) if self.region.ty(made) == ty => self.to[v.index()] = made,
                _ => {}
            }
        }
        let old = self.to.len() as u32;
        self.to.extend((old..self.region.types.len() as u32).map(Value));
        replace(self.region, &self.to);
    }

    /// An instruction, and the place behind it.
    fn inst(&mut self, inst: &mut Inst, behind: Place) {
        let (Some(result), Kind::Op { op, ty, from }) = (inst.result, inst.kind) else { return };
        if let Some(&size) = self.sizes.get(&result) {
            let number = unsigned_of(size);
            let is_mask = |i: usize| op == Op::Select && i == 0;
            let args: Vec<Value> =
                inst.args.iter().enumerate().map(|(i, &v)| if is_mask(i) { v } else { self.low(v, size) }).collect();
            let kind = Kind::Op { op, ty: number, from: number };
            if is_comparison(op) {
                (inst.kind, inst.args) = (kind, args);
                return;
            }
            let v = self.make(kind, args, Type::varying(number), behind);
            self.narrow.insert(result, v);
            return;
        }
        let whole = from.is_int() && (op == Op::Convert || op == Op::Bitcast && ty.is_int());
        let Some(&narrow) = inst.args.first().and_then(|v| self.narrow.get(v)).filter(|_| whole) else { return };
        let from = self.region.ty(narrow).ty;
        if from == ty {
            self.to[result.index()] = narrow;
        } else {
            inst.kind = Kind::Op { op: Op::Convert, ty, from };
            inst.args[0] = narrow;
        }
    }

    /// Hands exits what is narrow now in the size that they ask for.
    fn exits(&mut self) {
        let mut exits = std::mem::take(&mut self.region.exits);
        let mut wide: HashMap<Value, Value> = HashMap::new();
        for v in exits.iter_mut().flat_map(|exit| exit.values_mut()) {
            let Some(&narrow) = self.narrow.get(v) else { continue };
            let ty = self.region.ty(*v);
            *v = *wide.entry(*v).or_insert_with(|| {
                let kind = Kind::Op { op: Op::Convert, ty: ty.ty, from: self.region.ty(narrow).ty };
                self.make(kind, vec![narrow], ty, self.places[narrow.index()])
            });
        }
        self.region.exits = exits;
    }

    /// Has blocks behind loops hand on what is narrow now in the size that it had.
    fn edges(&mut self) {
        for b in 0..self.region.blocks.len() {
            let mut end = self.region.blocks[b].end.clone();
            for v in end.edges_mut().flat_map(|edge| &mut edge.args) {
                let is_behind = self.behind.home.get(v.index()).is_some() && self.behind.loop_of(*v, BlockId(b as u32));
                let Some(&narrow) = self.narrow.get(v).filter(|_| is_behind) else { continue };
                let ty = self.region.ty(*v);
                let kind = Kind::Op { op: Op::Convert, ty: ty.ty, from: self.region.ty(narrow).ty };
                *v = self.make(kind, vec![narrow], ty, (BlockId(b as u32), 0));
            }
            self.region.blocks[b].end = end;
        }
    }

    fn make(&mut self, kind: Kind, args: Vec<Value>, ty: Type, at: Place) -> Value {
        let v = self.region.new_value(ty);
        self.new.entry(at).or_default().push(Inst { kind, args, result: Some(v) });
        self.places.push(at);
        v
    }

    /// So many low bytes of a value; the value itself, if it fits in them, or in what is computed of it.
    fn low(&mut self, v: Value, size: usize) -> Value {
        if let Some(bits) = self.defs.known(v) {
            return self.constant(bits, size);
        }
        let v = extended(&self.defs, &self.sizes, source(&self.defs, self.region, &self.sizes, v, size));
        if let Some(bits) = self.defs.known(v) {
            return self.constant(bits, size);
        }
        let v = self.narrow.get(&v).copied().unwrap_or(v);
        let Type { shape, ty: from } = self.region.ty(v);
        let ty = unsigned_of(size);
        if from == ty {
            return v;
        }
        if let Some(&made) = self.made.get(&(v, size)) {
            return made;
        }
        let made =
            self.make(Kind::Op { op: Op::Convert, ty, from }, vec![v], Type { shape, ty }, self.places[v.index()]);
        self.made.insert((v, size), made);
        made
    }

    fn constant(&mut self, bits: u64, size: usize) -> Value {
        let ty = unsigned_of(size);
        let key = (normalised(ty, bits), size);
        if let Some(&made) = self.constants.get(&key) {
            return made;
        }
        let made = self.make(Kind::Const(key.0), Vec::new(), Type::uniform(ty), (BlockId(0), 0));
        self.constants.insert(key, made);
        made
    }
}

/// The value that low bytes of another one are those of: what that is converted from, as long as it has as many. What is computed in
/// another size itself is no conversion.
fn source<T>(defs: &Defs, region: &Region, computed: &HashMap<Value, T>, mut v: Value, size: usize) -> Value {
    while !computed.contains_key(&v) {
        let Some(def) = defs.get(v) else { break };
        let passes = match def.kind {
            Kind::Splat => true,
            kind => resizes(kind) && region.ty(def.arg(0)).ty.size() >= size,
        };
        if !passes {
            break;
        }
        v = def.arg(0);
    }
    v
}

/// What a value that is not as wide as wanted is extended from, or the value.
fn extended<T>(defs: &Defs, computed: &HashMap<Value, T>, v: Value) -> Value {
    let def = defs.get(v).filter(|def| match def.kind {
        Kind::Op { op: Op::Convert, ty, from: Ty::Bool } => ty.is_int(),
        kind => resizes(kind),
    });
    def.filter(|_| !computed.contains_key(&v)).map_or(v, |def| def.arg(0))
}
