//! The assembler: functions and instructions.

use super::lex::Token;
use super::parse::{Fixup, Parser};
use crate::isa::{Extra, Slot};
use crate::program::{Function, Inst, List, Reg, RegDecl};
use crate::types::{Shape, Ty};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// What is known of a function while it is read.
#[derive(Default)]
struct Body {
    index: usize,
    /// Declared registers, in any order: index, declaration, place in the text.
    declared: Vec<(u32, RegDecl, usize)>,
    /// Registers used: index, shape by its letter, place in the text.
    used: Vec<(Reg, Shape, usize)>,
    /// Constant registers, and the lists of calls and prints, so far.
    consts: Vec<(Reg, u64)>,
    pool: Vec<Reg>,
    /// Labels bound so far.
    labels: HashMap<String, u32>,
    /// Labels to be filled in: instruction, name, place in the text.
    jumps: Vec<(usize, String, usize)>,
}

impl Body {
    /// Puts registers into the pool.
    fn list(&mut self, regs: &[Reg]) -> List {
        if regs.is_empty() {
            return List::default();
        }
        self.pool.extend_from_slice(regs);
        List { start: (self.pool.len() - regs.len()) as u32, len: regs.len() as u32 }
    }
}

/// `u7` or `v7`.
fn parse_register(text: &str) -> Option<(Reg, Shape)> {
    let shape = match text.as_bytes().first()? {
        b'u' => Shape::Uniform,
        b'v' => Shape::Varying,
        _ => return None,
    };
    let digits = &text[1..];
    let plain = digits == "0" || digits.starts_with(|c: char| ('1'..='9').contains(&c));
    Some((Reg(digits.parse().ok().filter(|&n| plain && n != u32::MAX)?), shape))
}

impl Parser<'_> {
    pub(super) fn function(&mut self) -> Option<()> {
        self.advance();
        let name = self.name("the function's name")?;
        let mut body = Body { index: self.program.functions.len(), ..Body::default() };
        self.program.functions.push(Function { name, ..Function::default() });
        self.header(&mut body)?;
        self.block(|p| p.function_line(&mut body))?;
        self.finish(body);
        Some(())
    }

    fn current(&mut self, body: &Body) -> &mut Function {
        &mut self.program.functions[body.index]
    }

    fn header(&mut self, body: &mut Body) -> Option<()> {
        self.expect(Token::Open)?;
        self.separated(Token::Close, |p| {
            let at = p.start();
            let r = p.declaration(body)?;
            if r.0 as usize != body.declared.len() - 1 {
                p.error_at(at, format!("parameters are numbered in order: this is {}", body.declared.len() - 1));
            }
            Some(())
        })?;
        self.current(body).n_params = body.declared.len() as u32;
        if self.accept(Token::Arrow) {
            self.expect(Token::Open)?;
            let results = self.registers(body, Token::Close)?;
            self.current(body).results = results;
        }
        loop {
            if self.accept_word("task") {
                self.current(body).is_task = true;
            } else if self.accept_word("frame") {
                let size = self.number("a size in bytes")?;
                self.current(body).frame_size = size;
            } else {
                return Some(());
            }
        }
    }

    /// `v3:f32 "x"`.
    fn declaration(&mut self, body: &mut Body) -> Option<Reg> {
        let at = self.start();
        let Some((r, shape)) = parse_register(self.here()) else {
            return self.expected("a register (`u0`, `v1`, …)");
        };
        self.advance();
        self.expect(Token::Colon)?;
        let ty = self.ty()?;
        let name = if self.peek() == Token::Str { Some(self.string()?.into()) } else { None };
        body.declared.push((r.0, RegDecl { shape, ty, name }, at));
        Some(r)
    }

    fn function_line(&mut self, body: &mut Body) -> Option<()> {
        if self.accept_word("var") {
            loop {
                self.declaration(body)?;
                if !self.accept(Token::Comma) {
                    return self.end_of_line();
                }
            }
        }
        if self.accept_word("const") {
            let r = self.declaration(body)?;
            let ty = body.declared.last().map_or(Ty::U64, |d| d.1.ty);
            self.expect(Token::Equals)?;
            let bits = self.constant(ty)?;
            body.consts.push((r, bits));
            return self.end_of_line();
        }
        if matches!(self.peek(), Token::Ident | Token::Str) && self.peek_second() == Token::Colon {
            let at = self.start();
            let label = self.name("a label")?;
            self.advance();
            let here = self.current(body).code.len() as u32;
            if body.labels.insert(label.clone(), here).is_some() {
                self.error_at(at, format!("the label `{label}` stands twice"));
            }
            return Some(());
        }
        self.inst(body)
    }

    fn inst(&mut self, body: &mut Body) -> Option<()> {
        let at = self.start();
        let mut results = Vec::new();
        let is_register = parse_register(self.here()).is_some();
        if is_register || self.here() == "_" {
            results = self.registers(body, Token::Equals)?;
        }
        let mut inst = self.operation()?;
        let info = inst.op.info();
        if info.sig.extra.has_results() {
            inst.rets = body.list(&results);
        } else if let [one] = results[..] {
            inst.dst = one;
        } else if !results.is_empty() {
            self.error_at(at, format!("`{}` has at most one destination", info.name));
        }
        if info.sig.dst.is_some() == inst.dst.is_none() {
            let verb = if info.sig.dst.is_some() { "needs a" } else { "has no" };
            self.error_at(at, format!("`{}` {verb} destination", info.name));
        }
        self.operands(body, &mut inst)?;
        let span = self.span()?;
        let f = self.current(body);
        f.code.push(inst);
        f.spans.push(span);
        self.end_of_line()
    }

    /// `add.f32`, `cvt.f32.i32`, `mask.if`.
    fn operation(&mut self) -> Option<Inst> {
        if self.peek() != Token::Ident {
            return self.expected("an operation");
        }
        let (mut name, mut types) = (self.here(), Vec::new());
        while let Some((head, ty)) = name.rsplit_once('.').and_then(|(h, t)| Some((h, Ty::from_name(t)?))) {
            types.push(ty);
            name = head;
        }
        types.reverse();
        let Some(&op) = self.ops.get(name) else { return self.expected("an operation") };
        let info = op.info();
        let at = self.start();
        self.advance();
        let most = if info.types.is_empty() { 0 } else { 1 + info.sig.has_from as usize };
        let implied = info.implied_ty();
        if types.len() > most || (implied.is_none() && types.is_empty()) {
            let wanted = ["no type", "one type", "one or two types"][most];
            self.error_at(at, format!("`{name}` takes {wanted}, as in `add.f32`"));
        }
        let ty = types.first().copied().or(implied).unwrap_or(Ty::Bool);
        Some(Inst { from: types.get(1).copied().unwrap_or(ty), ..Inst::new(op, ty) })
    }

    fn operands(&mut self, body: &mut Body, inst: &mut Inst) -> Option<()> {
        let sig = &inst.op.info().sig;
        let mut first = true;
        let mut slots = sig.src;
        match sig.extra {
            Extra::Memory => {
                self.address(body, inst)?;
                (first, slots) = (false, &slots[2..]);
                self.sources(body, &mut inst.src[2..], slots, &mut first)?;
            }
            extra if extra.is_indirect() => {
                inst.src[0] = self.register(body)?;
                self.arguments(body, inst)?;
            }
            _ => self.sources(body, &mut inst.src, slots, &mut first)?,
        }
        if !matches!(sig.extra, Extra::None | Extra::Memory) && !sig.extra.is_indirect() && !first {
            self.expect(Token::Comma)?;
        }
        self.extra(body, inst)
    }

    fn sources(&mut self, body: &mut Body, to: &mut [Reg], slots: &[Slot], first: &mut bool) -> Option<()> {
        for (to, slot) in to.iter_mut().zip(slots) {
            if !std::mem::replace(first, false) && !self.accept(Token::Comma) {
                return self.expected(&format!("`,` and the operand `{}`", slot.name));
            }
            *to = self.register(body)?;
        }
        Some(())
    }

    fn extra(&mut self, body: &mut Body, inst: &mut Inst) -> Option<()> {
        let here = (body.index, self.current(body).code.len());
        match inst.op.info().sig.extra {
            Extra::None | Extra::Memory | Extra::CallInd | Extra::LaunchInd => {}
            Extra::Label => inst.aux = self.label(body, here.1)?,
            Extra::Call | Extra::Launch => {
                inst.aux = self.reference("a function", Fixup::Callee(here.0, here.1))?;
                self.arguments(body, inst)?;
            }
            Extra::Global => {
                inst.aux = self.reference("a global", Fixup::Global(here.0, here.1))?;
                inst.imm = self.displacement()?;
            }
            Extra::Frame => inst.imm = self.number("a byte offset")?,
            Extra::Func => inst.aux = self.reference("a function", Fixup::Callee(here.0, here.1))?,
            Extra::Print => {
                self.expect(Token::Hash)?;
                inst.aux = self.number("a format")?;
                self.arguments(body, inst)?;
            }
            Extra::Host => {
                self.expect(Token::Hash)?;
                inst.aux = self.number("an import")?;
                self.arguments(body, inst)?;
            }
            Extra::Message => {
                self.expect(Token::Hash)?;
                inst.aux = self.number("a message")?;
            }
        }
        Some(())
    }

    fn label(&mut self, body: &mut Body, inst: usize) -> Option<u32> {
        if self.accept(Token::Hash) {
            return self.number("an instruction");
        }
        let at = self.start();
        let name = self.name("a label")?;
        body.jumps.push((inst, name, at));
        Some(0)
    }

    fn arguments(&mut self, body: &mut Body, inst: &mut Inst) -> Option<()> {
        self.expect(Token::Open)?;
        let args = self.registers(body, Token::Close)?;
        inst.args = body.list(&args);
        // Arguments stand before results in the pool, but are read after them.
        if inst.rets.len > 0 && inst.args.len > 0 {
            let start = inst.rets.start as usize;
            body.pool[start..].rotate_left(inst.rets.len as usize);
            (inst.args.start, inst.rets.start) = (inst.rets.start, inst.rets.start + inst.args.len);
        }
        Some(())
    }

    /// `[base + index*scale + displacement]`.
    fn address(&mut self, body: &mut Body, inst: &mut Inst) -> Option<()> {
        self.expect(Token::OpenBracket)?;
        inst.src[0] = self.register(body)?;
        if self.peek() == Token::Plus && self.peek_second() == Token::Ident {
            self.advance();
            inst.src[1] = self.register(body)?;
            self.expect(Token::Star)?;
            inst.aux = self.number("a scale")?;
        }
        inst.imm = self.displacement()?;
        self.expect(Token::CloseBracket)
    }

    fn register(&mut self, body: &mut Body) -> Option<Reg> {
        let at = self.start();
        if self.accept_word("_") {
            return Some(Reg::NONE);
        }
        let Some((r, shape)) = parse_register(self.here()) else {
            return self.expected("a register (`u0`, `v1`, …)");
        };
        self.advance();
        body.used.push((r, shape, at));
        Some(r)
    }

    fn registers(&mut self, body: &mut Body, close: Token) -> Option<Vec<Reg>> {
        let mut regs = Vec::new();
        self.separated(close, |p| {
            regs.push(p.register(body)?);
            Some(())
        })?;
        Some(regs)
    }

    /// Places declarations, checks uses and fills in labels.
    fn finish(&mut self, body: Body) {
        let n = body.declared.len();
        let mut regs: Vec<Option<RegDecl>> = vec![None; n];
        for (index, decl, at) in body.declared {
            match regs.get_mut(index as usize) {
                None => self.error_at(at, format!("register {index} of {n}: numbers have a gap below it")),
                Some(Some(_)) => self.error_at(at, format!("register {index} is declared twice")),
                Some(place) => *place = Some(decl),
            }
        }
        for (r, shape, at) in body.used {
            match regs.get(r.index()).and_then(Option::as_ref) {
                None => self.error_at(at, format!("register {} is not declared", r.0)),
                Some(decl) if decl.shape != shape => {
                    self.error_at(at, format!("register {} is declared with the other shape", r.0));
                }
                Some(_) => {}
            }
        }
        let mut labels = body.labels;
        let f = &mut self.program.functions[body.index];
        f.regs = regs.into_iter().flatten().collect();
        (f.consts, f.pool) = (body.consts.into(), body.pool.into());
        let mut missing = Vec::new();
        for (inst, name, at) in body.jumps {
            match labels.entry(name) {
                // The instruction is missing if an error was found further on in its line.
                Entry::Occupied(target) => f.code.iter_mut().skip(inst).take(1).for_each(|i| i.aux = *target.get()),
                Entry::Vacant(entry) => missing.push((at, entry.into_key())),
            }
        }
        for (at, name) in missing {
            self.error_at(at, format!("there is no label `{name}`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asm::assemble;

    #[test]
    fn names_of_operations_do_not_end_in_a_type() {
        for row in crate::isa::OPS {
            assert_eq!(crate::isa::Op::from_name(row.name), Some(row.op));
            let last = row.name.rsplit('.').next().unwrap();
            assert_eq!(Ty::from_name(last), None, "{}", row.name);
            assert!(parse_register(row.name).is_none(), "{}", row.name);
        }
    }

    #[test]
    fn several_errors_are_reported_with_their_places() {
        let text = "func f(v0:f32) -> (v1) {\n  v1 = add.f32 v0\n  v1 = frob v0\n  jmp nowhere\n  ret\n}\n.width 3\n";
        let errors = assemble(text).unwrap_err();
        let shown: Vec<String> = errors.iter().map(|e| e.to_string()).collect();
        assert_eq!(
            shown,
            [
                "1:20: register 1 is not declared",
                "2:3: register 1 is not declared",
                "2:18: expected `,` and the operand `b`, found the end of the line",
                "3:3: register 1 is not declared",
                "3:8: expected an operation, found `frob`",
                "4:7: there is no label `nowhere`",
                "7:8: the width is 1, 2, 4, 8, 16, 32 or 64",
            ]
        );
    }
}
