//! Writing the binary form.

use crate::isa::{OPS, Op};
use crate::program::*;
use crate::types::Shape;

/// Bits of the flag byte of an instruction: what follows it. The two highest count its sources.
pub(super) const HAS_DST: u8 = 1;
pub(super) const HAS_FROM: u8 = 2;
pub(super) const HAS_AUX: u8 = 4;
pub(super) const HAS_IMM: u8 = 8;
pub(super) const HAS_ARGS: u8 = 16;
pub(super) const HAS_RETS: u8 = 32;
pub(super) const SRC_SHIFT: u32 = 6;

struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Position of each operation in the file's list.
    ops: Vec<u64>,
}

/// Appends everything behind the header.
pub(super) fn program(p: &Program, out: &mut Vec<u8>) {
    let mut used = vec![false; OPS.len()];
    p.functions.iter().flat_map(|f| &f.code).for_each(|inst| used[inst.op as usize] = true);
    let names: Vec<Op> = OPS.iter().map(|row| row.op).filter(|&op| used[op as usize]).collect();
    let mut w = Writer { out, ops: vec![0; OPS.len()] };
    names.iter().enumerate().for_each(|(i, &op)| w.ops[op as usize] = i as u64);
    w.number(p.width.lanes() as u64);
    w.list(&names, |w, op| w.text(op.info().name));
    w.list(&p.sources, |w, s| {
        w.text(&s.name);
        w.text(&s.text);
    });
    w.list(&p.messages, |w, m| w.text(m));
    w.list(&p.formats, |w, f| w.list(f, Writer::piece));
    w.list(&p.globals, Writer::global);
    w.list(&p.exports, Writer::export);
    w.list(&p.functions, Writer::function);
    w.list(&p.variables, Writer::variable);
    w.list(&p.imports, Writer::import);
    w.list(&p.symbols, Writer::symbol);
}

impl Writer<'_> {
    fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.out.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.out.push(n as u8);
    }

    fn signed(&mut self, n: i64) {
        self.number((n << 1 ^ n >> 63) as u64);
    }

    fn flag(&mut self, b: bool) {
        self.out.push(b as u8);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        self.number(items.len() as u64);
        items.iter().for_each(|x| item(self, x));
    }

    fn option<T>(&mut self, value: Option<T>, some: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            some(self, value);
        }
    }

    /// "None" is 0.
    fn reg(&mut self, r: Reg) {
        self.number(r.0.wrapping_add(1) as u64);
    }

    fn piece(&mut self, piece: &Piece) {
        let arg = match piece {
            Piece::Text(text) => {
                self.out.push(0);
                return self.text(text);
            }
            Piece::Arg(arg) => arg,
        };
        self.out.push(1 + arg.kind as u8);
        self.option(arg.conversion, |w, c| w.number(c as u64));
        self.option(arg.width, |w, n| w.number(n as u64));
        self.option(arg.precision, |w, n| w.number(n as u64));
        [arg.zero, arg.left, arg.plus].into_iter().for_each(|b| self.flag(b));
    }

    fn global(&mut self, g: &Global) {
        self.text(&g.name);
        self.number(g.size);
        self.bytes(&g.init);
        self.flag(g.constant);
        self.list(&g.relocations, |w, &(at, target)| {
            w.number(at);
            match target {
                Target::Global(target, offset) => {
                    w.item(Item::Global(target));
                    w.signed(offset);
                }
                Target::Function(target) => w.item(Item::Function(target)),
            }
        });
        self.option(g.host.as_ref(), |w, host| {
            w.out.push(host.access as u8);
            w.host_type(&host.layout);
        });
    }

    fn item(&mut self, item: Item) {
        let (is_global, index) = match item {
            Item::Function(function) => (false, function.0),
            Item::Global(global) => (true, global.0),
        };
        self.flag(is_global);
        self.number(index as u64);
    }

    fn symbol(&mut self, s: &Symbol) {
        self.text(&s.name);
        self.item(s.item);
        self.text(&s.ty);
        self.list(&s.structs, |w, (name, digest)| {
            w.text(name);
            w.number(*digest);
        });
        self.span(s.span);
    }

    fn import(&mut self, i: &Import) {
        self.symbol(&i.symbol);
        self.span(i.used);
        self.option(i.host.as_ref(), |w, host| {
            w.list(&host.params, Writer::param);
            w.option(host.result.as_ref(), |w, value| w.host_value(value));
        });
        self.option(i.near.as_ref(), |w, (name, span)| {
            w.text(name);
            w.span(*span);
        });
    }

    fn span(&mut self, span: Span) {
        [span.file, span.lo, span.hi].into_iter().for_each(|n| self.number(n as u64));
    }

    fn variable(&mut self, v: &Variable) {
        self.item(match v.home {
            Home::Frame(function) => Item::Function(function),
            Home::Global(global) => Item::Global(global),
        });
        self.text(&v.name);
        self.number(v.offset);
        self.number(v.shape.stride);
        self.list(&v.shape.extents, |w, &n| w.number(n));
        self.option(v.layout.as_ref(), |w, layout| w.host_type(layout));
        self.flag(v.varying);
    }

    fn export(&mut self, e: &Export) {
        self.text(&e.name);
        self.number(e.function.0 as u64);
        self.list(&e.params, Writer::param);
        self.option(e.result.as_ref(), |w, value| w.host_value(value));
        self.text(&e.doc);
        self.text(&e.declaration);
    }

    fn param(&mut self, param: &ExportParam) {
        self.text(&param.name);
        self.host_value(&param.value);
        self.option(param.default, Writer::number);
    }

    fn host_value(&mut self, value: &HostValue) {
        match value {
            HostValue::Uniform(ty) => self.out.extend([0, *ty as u8]),
            HostValue::Varying(ty) => self.out.extend([1, *ty as u8]),
            HostValue::Array { elem, writable, reference } => {
                self.out.extend([2, *writable as u8, *reference as u8]);
                self.host_type(elem);
            }
        }
    }

    fn host_type(&mut self, ty: &HostType) {
        match ty {
            HostType::Scalar(ty) => self.out.extend([0, *ty as u8]),
            HostType::Enum(name) => {
                self.out.push(1);
                self.text(name);
            }
            HostType::Array(elem, n) => {
                self.out.push(2);
                self.number(*n);
                self.host_type(elem);
            }
            HostType::Struct { name, size, fields } => {
                self.out.push(3);
                self.text(name);
                self.number(*size);
                self.list(fields, |w, (name, at, ty)| {
                    w.text(name);
                    w.number(*at);
                    w.host_type(ty);
                });
            }
            HostType::Pointer => self.out.push(4),
            HostType::Byte => self.out.push(5),
        }
    }

    fn function(&mut self, f: &Function) {
        self.text(&f.name);
        self.list(&f.regs, |w, d| {
            let varying = d.shape == Shape::Varying;
            w.out.push(d.ty as u8 | (varying as u8) << 4 | (d.name.is_some() as u8) << 5);
            if let Some(name) = &d.name {
                w.text(name);
            }
        });
        self.number(f.n_params as u64);
        self.list(&f.results, |w, &r| w.reg(r));
        self.list(&f.consts, |w, &(r, bits)| {
            w.reg(r);
            w.number(bits);
        });
        self.list(&f.code, Writer::inst);
        let mut last = Span::default();
        self.list(&f.spans, |w, span| {
            w.number(span.file as u64);
            w.signed(span.lo as i64 - last.lo as i64);
            w.signed(span.hi as i64 - span.lo as i64);
            last = *span;
        });
        self.list(&f.pool, |w, &r| w.reg(r));
        self.number(f.frame_size);
        self.flag(f.is_task);
    }

    fn inst(&mut self, inst: &Inst) {
        let sources = inst.src.iter().rposition(|r| !r.is_none()).map_or(0, |i| i + 1);
        let parts = [
            (!inst.dst.is_none(), HAS_DST),
            (inst.from != inst.ty, HAS_FROM),
            (inst.aux != 0, HAS_AUX),
            (inst.imm != 0, HAS_IMM),
            (inst.args != List::default(), HAS_ARGS),
            (inst.rets != List::default(), HAS_RETS),
        ];
        let flags = parts.iter().filter(|p| p.0).fold((sources as u8) << SRC_SHIFT, |flags, p| flags | p.1);
        self.number(self.ops[inst.op as usize]);
        self.out.extend([flags, inst.ty as u8]);
        if flags & HAS_FROM != 0 {
            self.out.push(inst.from as u8);
        }
        if flags & HAS_DST != 0 {
            self.reg(inst.dst);
        }
        inst.src[..sources].iter().for_each(|&r| self.reg(r));
        if flags & HAS_AUX != 0 {
            self.number(inst.aux as u64);
        }
        if flags & HAS_IMM != 0 {
            self.signed(inst.imm);
        }
        for (list, flag) in [(inst.args, HAS_ARGS), (inst.rets, HAS_RETS)] {
            if flags & flag != 0 {
                self.number(list.start as u64);
                self.number(list.len as u64);
            }
        }
    }
}
