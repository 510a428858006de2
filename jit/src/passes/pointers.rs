//! Asks about memory where a loop begins, not in each of its rounds.
//!
//! A sum of a pointer and an offset stays in the pointer's region (`vm::sem::padd`). So the length of the region of a pointer that
//! changes in a loop is that of the pointer that it has been made from, its *root*, if that does not change there; and a host
//! address is the root's, plus the distance between the two. Pointers that a loop hands on from round to round have the root that all
//! ways into it bring. What is asked about the root then leaves the loop (`licm`); asking is a call. In regions that make
//! frames with memory, what is asked about a pointer from within may not leave every loop ([`Lasting`]): there a
//! root from before the region is asked, too.

use super::Lasting;
use super::defs::Defs;
use super::licm::{Loops, definitions};
use super::make::Maker;
use crate::dominance::Dominators;
use crate::ir::{BlockId, Inst, Kind, Region, Type, Value};
use foldhash::{HashMap, HashMapExt};
use spmdvm_vm::isa::Op;
use spmdvm_vm::sem::OFFSET_BITS;
use spmdvm_vm::types::Ty;

/// Parameters that lead to one another before they count as roots.
const MAX_DEPTH: usize = 8;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let dominators = Dominators::new(region);
    let loops = Loops::new(region, &dominators);
    let roots = Roots::new(region);
    let home = definitions(region);
    let lasting = Lasting::new(region, &dominators);
    for &b in dominators.order() {
        let Some(l) = loops.of(b).filter(|_| !region.block(b).cold) else { continue };
        let root_of = |pointer: Value| {
            let root = roots.of(pointer);
            let leaves = loops.contains(l, home[pointer.index()]) && !loops.contains(l, home[root.index()]);
            // Where memory may end, only what is asked about pointers from before holds.
            let holds = !lasting.all() && lasting.has(root) && home[pointer.index()] != BlockId(0);
            (leaves || holds).then_some(root)
        };
        rewrite(region, b, root_of);
    }
}

fn rewrite(region: &mut Region, b: BlockId, root_of: impl Fn(Value) -> Option<Value>) {
    let insts = std::mem::take(&mut region.blocks[b.index()].insts);
    let mut new = Vec::with_capacity(insts.len());
    for mut inst in insts {
        let is_varying = |v: Value| region.ty(v).is_varying();
        match inst.kind {
            Kind::RegionLen { .. } | Kind::RegionBase => {
                // Of pointers that vary it is asked for each lane.
                let root = root_of(inst.args[0]).filter(|&root| is_varying(root) == is_varying(inst.args[0]));
                inst.args[0] = root.unwrap_or(inst.args[0]);
            }
            Kind::HostAddress { disp } => {
                if let Some(root) = root_of(inst.args[0]) {
                    inst = host_address(&mut Maker { region, to: &mut new }, inst, root, disp);
                }
            }
            _ => {}
        }
        new.push(inst);
    }
    region.blocks[b.index()].insts = new;
}

/// The address of the root plus how far the pointer's offset is from the root's.
fn host_address(m: &mut Maker<'_>, inst: Inst, root: Value, disp: i64) -> Inst {
    let base = m.inst(Kind::HostAddress { disp }, &[root, inst.args[1]], Type::uniform(Ty::U64));
    let [offset, from] = [inst.args[0], root].map(|pointer| {
        let above = 64 - u64::from(OFFSET_BITS);
        let bits = m.cast(Op::Bitcast, pointer, Ty::I64);
        let upper = m.with(Op::Shl, Ty::I64, bits, above);
        m.with(Op::Shr, Ty::I64, upper, above)
    });
    let distance = m.op(Op::Sub, Ty::I64, &[offset, from]);
    let distance = m.cast(Op::Bitcast, distance, Ty::U64);
    Inst { kind: Kind::Op { op: Op::Add, ty: Ty::U64, from: Ty::U64 }, args: vec![base, distance], result: inst.result }
}

/// What pointers have been made from.
pub(super) struct Roots {
    defs: Defs,
    /// Of parameters: what the ways into their blocks bring.
    brought: HashMap<Value, Vec<Value>>,
}

impl Roots {
    pub fn new(region: &Region) -> Roots {
        let mut brought: HashMap<Value, Vec<Value>> = HashMap::new();
        for edge in region.blocks.iter().flat_map(|block| block.end.edges()) {
            for (&param, &arg) in region.block(edge.to).params.iter().zip(&edge.args) {
                brought.entry(param).or_default().push(arg);
            }
        }
        Roots { defs: Defs::of(region), brought }
    }

    /// The pointer that this one is a sum from, perhaps itself; it is available wherever this one is.
    pub fn of(&self, pointer: Value) -> Value {
        self.find(pointer, &mut Vec::new()).unwrap_or(pointer)
    }

    /// The root; none if it is that of a parameter that is being looked at.
    fn find(&self, mut pointer: Value, open: &mut Vec<Value>) -> Option<Value> {
        while let Some(sum) = self.defs.as_op(pointer, Op::PAdd) {
            pointer = sum.arg(0);
        }
        if open.contains(&pointer) {
            return None;
        }
        let Some(brought) = self.brought.get(&pointer).filter(|_| open.len() < MAX_DEPTH) else { return Some(pointer) };
        open.push(pointer);
        let mut roots = brought.iter().filter_map(|&v| self.find(v, open));
        let first = roots.next();
        let same = first.filter(|&first| roots.all(|root| root == first));
        open.pop();
        Some(same.unwrap_or(pointer))
    }
}
