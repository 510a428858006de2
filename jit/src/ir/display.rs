//! The text of a region, as `--dump ir` shows it.

use super::{Block, Edge, End, Exit, Inst, Kind, Region, Type, Value};
use std::fmt::{self, Display, Formatter};

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let shape = if self.is_varying() { "v." } else { "" };
        write!(f, "{shape}{}", self.ty)
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

/// Values, separated by commas.
struct List<'a>(&'a [Value]);

impl Display for List<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, v) in self.0.iter().enumerate() {
            write!(f, "{}{v}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl Display for Edge {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "b{}({})", self.to.0, List(&self.args))
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Kind::Const(bits) => write!(f, "const {bits:#x}"),
            Kind::EntryReg { at } => write!(f, "entry.reg @{at}"),
            Kind::EntryMask(m) => write!(f, "entry.mask {m:?}"),
            Kind::EntryVisiting(i) => write!(f, "entry.visiting {i}"),
            Kind::FrameAddress => f.write_str("frame.addr"),
            Kind::IsShared => f.write_str("memory.is_shared"),
            Kind::FrameHost { at, within: None, .. } => write!(f, "frame.host +{at}"),
            Kind::FrameHost { at, within: Some((from, to)), .. } => write!(f, "frame.host +{at} within {from}..{to}"),
            Kind::FrameOpen { function, at, exit } => write!(f, "frame.open f{} +{at} else x{}", function.0, exit.0),
            Kind::FrameClose => f.write_str("frame.close"),
            Kind::FramePass => f.write_str("frame.pass"),
            Kind::FramePasses { each } => write!(f, "frame.passes {each}"),
            Kind::Interpret { site, exit } => write!(f, "interpret s{site} else x{}", exit.0),
            Kind::Call { site, exit } => write!(f, "call c{site} else x{}", exit.0),
            Kind::CallIndirect { exit } => write!(f, "call.ind else x{}", exit.0),
            Kind::Returned { at } => write!(f, "returned @{at}"),
            Kind::Op { op, ty, from } if ty == from => write!(f, "{}.{ty}", op.info().name),
            Kind::Op { op, ty, from } => write!(f, "{}.{ty}.{from}", op.info().name),
            Kind::Zeros => f.write_str("zeros"),
            Kind::LoadedPointer { exit } => write!(f, "loaded_pointer else x{}", exit.0),
            Kind::RawBits { ty, from } => write!(f, "raw_bits.{ty}.{from}"),
            Kind::Splat => f.write_str("splat"),
            Kind::MaskBits => f.write_str("mask.bits"),
            Kind::MaskFromBits => f.write_str("mask.from_bits"),
            Kind::AnyLane => f.write_str("any"),
            Kind::Reduce { op, ty } => write!(f, "{}.{ty}", op.info().name),
            Kind::RegionBase => f.write_str("region.base"),
            Kind::RegionLen { write: false } => f.write_str("region.len"),
            Kind::RegionLen { write: true } => f.write_str("region.len.w"),
            Kind::HostAddress { disp } => write!(f, "host.addr {disp:+}"),
            Kind::IndexLow { scale, disp, ty } => write!(f, "index.low.{ty} *{scale}{disp:+}"),
            Kind::IndexSpan { scale, disp, need, ty } => write!(f, "index.span.{ty} *{scale}{disp:+} need {need}"),
            Kind::Load { ty } => write!(f, "load.{ty}"),
            Kind::LoadLanes { ty } => write!(f, "load.lanes.{ty}"),
            Kind::LoadStrided { ty, stride } => write!(f, "load.strided.{ty} {stride:+}"),
            Kind::Gather { ty, index, scale, clears } => {
                write!(f, "gather{}.{ty}.{index} *{scale}", if clears { "" } else { ".dont_care" })
            }
            Kind::Store { ty } => write!(f, "store.{ty}"),
            Kind::StoreLanes { ty } => write!(f, "store.lanes.{ty}"),
            Kind::StoreStrided { ty, stride } => write!(f, "store.strided.{ty} {stride:+}"),
            Kind::Clear { bytes } => write!(f, "clear *{bytes}"),
            Kind::StoreMasked { ty } => write!(f, "store.masked.{ty}"),
            Kind::LoadPacked { ty } => write!(f, "load.packed.{ty}"),
            Kind::StorePacked { ty } => write!(f, "store.packed.{ty}"),
            Kind::Atomic { op, ty } => write!(f, "{}.{ty}", op.info().name),
            Kind::Scatter { ty, index, scale } => write!(f, "scatter.{ty}.{index} *{scale}"),
            Kind::LoadAny { ty, address, exit } => {
                write!(f, "load.any.{ty} *{}{:+} else x{}", address.scale, address.disp, exit.0)
            }
            Kind::StoreAny { ty, address, exit } => {
                write!(f, "store.any.{ty} *{}{:+} else x{}", address.scale, address.disp, exit.0)
            }
            Kind::Guard { exit } => write!(f, "guard else x{}", exit.0),
            Kind::Tick { units: 1, exit } => write!(f, "tick else x{}", exit.0),
            Kind::Tick { units, exit } => write!(f, "tick {units} else x{}", exit.0),
            Kind::Ticks { each } => write!(f, "ticks *{each}"),
            Kind::Count(n) => write!(f, "count {n}"),
            Kind::Chance { counter, odds } => write!(f, "chance {counter} odds {odds}"),
        }
    }
}

fn inst(f: &mut Formatter<'_>, region: &Region, inst: &Inst) -> fmt::Result {
    match inst.result {
        Some(v) => write!(f, "  {v}: {} = {}", region.ty(v), inst.kind)?,
        None => write!(f, "  {}", inst.kind)?,
    }
    let gap = if inst.args.is_empty() { "" } else { " " };
    writeln!(f, "{gap}{}", List(&inst.args))
}

fn block(f: &mut Formatter<'_>, region: &Region, number: usize, block: &Block) -> fmt::Result {
    write!(f, "b{number}(")?;
    for (i, &p) in block.params.iter().enumerate() {
        write!(f, "{}{p}: {}", if i == 0 { "" } else { ", " }, region.ty(p))?;
    }
    writeln!(f, "):{}", if block.cold { "  ; cold" } else { "" })?;
    for i in &block.insts {
        inst(f, region, i)?;
    }
    match &block.end {
        End::Jump(edge) => writeln!(f, "  jump {edge}"),
        End::Branch { cond, then, other } => writeln!(f, "  branch {cond}, {then}, {other}"),
        End::Exit(exit) => writeln!(f, "  exit x{}", exit.0),
    }
}

fn exit(f: &mut Formatter<'_>, number: usize, exit: &Exit) -> fmt::Result {
    match exit.fuel {
        0 => writeln!(f, "x{number}: {}", exit.reason)?,
        units => writeln!(f, "x{number}: {}; gives back {units}", exit.reason)?,
    }
    for frame in &exit.frames {
        write!(f, "  f{} at {}: mask {}", frame.function.0, frame.pc, frame.mask)?;
        for e in &frame.entries {
            write!(f, ", {:?}({}, {})", e.kind, e.restore, e.other)?;
        }
        f.write_str(";")?;
        for r in &frame.regs {
            write!(f, " r{}={}", r.reg.0, r.value)?;
            if let Some(owner) = r.into {
                write!(f, " in frame {owner}")?;
            }
        }
        if let Some(zeroed) = &frame.unopened {
            f.write_str("; opens")?;
            zeroed.iter().try_for_each(|range| write!(f, " {}..{}", range.start, range.end))?;
        }
        writeln!(f)?;
    }
    for (cell, v) in &exit.cells {
        writeln!(f, "  f{} memory +{} = {v}", cell.function.0, cell.at)?;
    }
    Ok(())
}

impl Display for Region {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "region f{} at {}, width {}", self.function.0, self.pc, self.width)?;
        for (i, b) in self.blocks.iter().enumerate() {
            block(f, self, i, b)?;
        }
        for (i, s) in self.handler_calls.iter().enumerate() {
            writeln!(f, "s{i}: f{} at {}", s.function.0, s.pc)?;
        }
        for (i, c) in self.call_sites.iter().enumerate() {
            writeln!(f, "c{i}: f{} in the frame at {}", c.callee.0, c.at)?;
        }
        for (i, e) in self.exits.iter().enumerate() {
            exit(f, i, e)?;
        }
        Ok(())
    }
}
