//! Reading the binary form. Nothing is allocated but what bytes of the file have paid for.

use super::DecodeError;
use super::write::{HAS_ARGS, HAS_AUX, HAS_DST, HAS_FROM, HAS_IMM, HAS_RETS, SRC_SHIFT};
use crate::isa::Op;
use crate::program::*;
use crate::types::{Shape, Ty, Width};
use crate::verify::MAX_TYPE_DEPTH;

type Result<T> = std::result::Result<T, DecodeError>;

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    ops: Vec<Op>,
}

/// Reads everything behind the header, which ends at `at`.
pub(super) fn program(bytes: &[u8], at: usize) -> Result<Program> {
    let mut r = Reader { bytes, at, ops: Vec::new() };
    let lanes = r.narrow("width")?;
    let Some(width) = Width::new(lanes) else { return r.fail("a width that there is not") };
    r.ops = r.list(Reader::op_name)?;
    let program = Program {
        width,
        sources: r.list(|r| Ok(Source::new(r.text()?, r.text()?)))?,
        messages: r.list(Reader::text)?,
        formats: r.list(|r| r.list(Reader::piece))?,
        globals: r.list(Reader::global)?,
        exports: r.list(Reader::export)?,
        functions: r.list(Reader::function)?,
        variables: r.list(Reader::variable)?,
        imports: r.list(Reader::import)?,
        symbols: r.list(Reader::symbol)?,
    };
    if r.at != bytes.len() { r.fail("bytes are left over") } else { Ok(program) }
}

impl Reader<'_> {
    fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(DecodeError { offset: self.at, message: message.into() })
    }

    fn byte(&mut self) -> Result<u8> {
        let Some(&byte) = self.bytes.get(self.at) else { return self.fail("the data ends too early") };
        self.at += 1;
        Ok(byte)
    }

    fn number(&mut self) -> Result<u64> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = (byte & 0x7f) as u64;
            if part << shift >> shift != part {
                break;
            }
            n |= part << shift;
            if byte < 0x80 {
                return Ok(n);
            }
        }
        self.fail("a number of more than 64 bits")
    }

    fn signed(&mut self) -> Result<i64> {
        let n = self.number()?;
        Ok((n >> 1) as i64 ^ -((n & 1) as i64))
    }

    /// A number that fits a smaller type.
    fn narrow<T: TryFrom<u64>>(&mut self, what: &str) -> Result<T> {
        let n = self.number()?;
        T::try_from(n).or_else(|_| self.fail(format!("{n} is out of range for a {what}")))
    }

    fn flag(&mut self) -> Result<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            n => self.fail(format!("{n} is neither true nor false")),
        }
    }

    fn raw(&mut self) -> Result<&[u8]> {
        let n = self.number()?;
        let left = self.bytes.len() - self.at;
        if n > left as u64 {
            return self.fail(format!("{n} bytes are announced, {left} are left"));
        }
        self.at += n as usize;
        Ok(&self.bytes[self.at - n as usize..self.at])
    }

    fn text(&mut self) -> Result<String> {
        match std::str::from_utf8(self.raw()?) {
            Ok(text) => Ok(text.to_string()),
            Err(_) => self.fail("text that is not UTF-8"),
        }
    }

    /// A list. Every item takes at least a byte, so a length beyond what is left is wrong.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let n = self.number()?;
        let left = self.bytes.len() - self.at;
        if n > left as u64 {
            return self.fail(format!("{n} items are announced, {left} bytes are left"));
        }
        (0..n).map(|_| item(self)).collect()
    }

    fn option<T>(&mut self, some: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<T>> {
        if self.flag()? { some(self).map(Some) } else { Ok(None) }
    }

    fn op_name(&mut self) -> Result<Op> {
        let name = self.text()?;
        Op::from_name(&name).map_or_else(|| self.fail(format!("there is no operation `{name}`")), Ok)
    }

    fn ty(&mut self) -> Result<Ty> {
        let code = self.byte()?;
        self.ty_of(code)
    }

    fn ty_of(&self, code: u8) -> Result<Ty> {
        Ty::ALL.get(code as usize).copied().map_or_else(|| self.fail(format!("there is no type {code}")), Ok)
    }

    fn reg(&mut self) -> Result<Reg> {
        Ok(Reg(self.narrow::<u32>("register")?.wrapping_sub(1)))
    }

    fn piece(&mut self) -> Result<Piece> {
        let kind = match self.byte()? {
            0 => return Ok(Piece::Text(self.text()?)),
            1 => ArgKind::Value,
            2 => ArgKind::Pointer,
            3 => ArgKind::Text,
            n => return self.fail(format!("there is no format piece {n}")),
        };
        Ok(Piece::Arg(ArgFormat {
            kind,
            conversion: self.option(Reader::character)?,
            width: self.option(|r| r.narrow("width"))?,
            precision: self.option(|r| r.narrow("precision"))?,
            zero: self.flag()?,
            left: self.flag()?,
            plus: self.flag()?,
        }))
    }

    fn character(&mut self) -> Result<char> {
        let code = self.narrow("character")?;
        char::from_u32(code).map_or_else(|| self.fail(format!("{code} is no character")), Ok)
    }

    fn global(&mut self) -> Result<Global> {
        Ok(Global {
            name: self.text()?,
            size: self.number()?,
            init: self.raw()?.to_vec(),
            constant: self.flag()?,
            relocations: self.list(|r| Ok((r.number()?, r.target()?)))?,
            host: self.option(Reader::host_global)?,
        })
    }

    fn host_global(&mut self) -> Result<HostGlobal> {
        let code = self.byte()?;
        let Some(&(access, _)) = HostAccess::WORDS.get(code as usize) else {
            return self.fail(format!("there is no kind of access {code}"));
        };
        Ok(HostGlobal { access, layout: self.host_type(0)? })
    }

    fn export(&mut self) -> Result<Export> {
        Ok(Export {
            name: self.text()?,
            function: FuncId(self.narrow("function")?),
            params: self.list(Reader::param)?,
            result: self.option(Reader::host_value)?,
            doc: self.text()?,
            declaration: self.text()?,
        })
    }

    fn param(&mut self) -> Result<ExportParam> {
        Ok(ExportParam { name: self.text()?, value: self.host_value()?, default: self.option(Reader::number)? })
    }

    fn host_value(&mut self) -> Result<HostValue> {
        match self.byte()? {
            0 => Ok(HostValue::Uniform(self.ty()?)),
            1 => Ok(HostValue::Varying(self.ty()?)),
            2 => {
                let (writable, reference) = (self.flag()?, self.flag()?);
                Ok(HostValue::Array { elem: self.host_type(0)?, writable, reference })
            }
            n => self.fail(format!("there is no kind of parameter {n}")),
        }
    }

    fn host_type(&mut self, depth: usize) -> Result<HostType> {
        if depth > MAX_TYPE_DEPTH {
            return self.fail("a type that is nested too deeply");
        }
        match self.byte()? {
            0 => Ok(HostType::Scalar(self.ty()?)),
            1 => Ok(HostType::Enum(self.text()?)),
            2 => {
                let n = self.number()?;
                Ok(HostType::Array(Box::new(self.host_type(depth + 1)?), n))
            }
            3 => Ok(HostType::Struct {
                name: self.text()?,
                size: self.number()?,
                fields: self.list(|r| Ok((r.text()?, r.number()?, r.host_type(depth + 1)?)))?,
            }),
            4 => Ok(HostType::Pointer),
            5 => Ok(HostType::Byte),
            n => self.fail(format!("there is no kind of type {n}")),
        }
    }

    fn item(&mut self) -> Result<Item> {
        let is_global = self.flag()?;
        let index = self.narrow("function or global")?;
        Ok(if is_global { Item::Global(GlobalId(index)) } else { Item::Function(FuncId(index)) })
    }

    fn target(&mut self) -> Result<Target> {
        Ok(match self.item()? {
            Item::Global(global) => Target::Global(global, self.signed()?),
            Item::Function(function) => Target::Function(function),
        })
    }

    fn symbol(&mut self) -> Result<Symbol> {
        Ok(Symbol {
            name: self.text()?,
            item: self.item()?,
            ty: self.text()?,
            structs: self.list(|r| Ok((r.text()?, r.number()?)))?,
            span: self.span()?,
        })
    }

    fn import(&mut self) -> Result<Import> {
        let (symbol, used) = (self.symbol()?, self.span()?);
        let host = self
            .option(|r| Ok(HostFunction { params: r.list(Reader::param)?, result: r.option(Reader::host_value)? }))?;
        let near = self.option(|r| Ok((r.text()?, r.span()?)))?;
        Ok(Import { symbol, used, host, near })
    }

    fn span(&mut self) -> Result<Span> {
        Ok(Span { file: self.narrow("file")?, lo: self.narrow("position")?, hi: self.narrow("position")? })
    }

    fn variable(&mut self) -> Result<Variable> {
        Ok(Variable {
            home: match self.item()? {
                Item::Function(function) => Home::Frame(function),
                Item::Global(global) => Home::Global(global),
            },
            name: self.text()?,
            offset: self.number()?,
            shape: ArrayShape { stride: self.number()?, extents: self.list(Reader::number)? },
            layout: self.option(|r| r.host_type(0))?,
            varying: self.flag()?,
        })
    }

    fn function(&mut self) -> Result<Function> {
        let mut last = Span::default();
        Ok(Function {
            name: self.text()?,
            regs: self.list(Reader::declaration)?.into(),
            n_params: self.narrow("number of parameters")?,
            results: self.list(Reader::reg)?,
            consts: self.list(|r| Ok((r.reg()?, r.number()?)))?.into(),
            code: self.list(Reader::inst)?,
            spans: self.list(|r| {
                let file = r.narrow("file")?;
                let lo = r.near(last.lo)?;
                let hi = r.near(lo)?;
                last = Span { file, lo, hi };
                Ok(last)
            })?,
            pool: self.list(Reader::reg)?.into(),
            frame_size: self.number()?,
            is_task: self.flag()?,
        })
    }

    /// A number given by its difference from another.
    fn near(&mut self, base: u32) -> Result<u32> {
        let difference = self.signed()?;
        let n = (base as i64).checked_add(difference).and_then(|n| u32::try_from(n).ok());
        n.map_or_else(|| self.fail("a position of more than 32 bits"), Ok)
    }

    fn declaration(&mut self) -> Result<RegDecl> {
        let byte = self.byte()?;
        if byte >= 64 {
            return self.fail(format!("there is no register declaration {byte}"));
        }
        let shape = if byte & 16 != 0 { Shape::Varying } else { Shape::Uniform };
        let ty = self.ty_of(byte & 15)?;
        let name = if byte & 32 != 0 { Some(self.text()?.into()) } else { None };
        Ok(RegDecl { shape, ty, name })
    }

    fn inst(&mut self) -> Result<Inst> {
        let n = self.number()?;
        let Some(&op) = usize::try_from(n).ok().and_then(|n| self.ops.get(n)) else {
            return self.fail(format!("operation {n} of {}", self.ops.len()));
        };
        let flags = self.byte()?;
        let has = |flag| flags & flag != 0;
        let mut inst = Inst::new(op, self.ty()?);
        if has(HAS_FROM) {
            inst.from = self.ty()?;
        }
        if has(HAS_DST) {
            inst.dst = self.reg()?;
        }
        for src in &mut inst.src[..(flags >> SRC_SHIFT) as usize] {
            *src = self.reg()?;
        }
        if has(HAS_AUX) {
            inst.aux = self.narrow("field")?;
        }
        if has(HAS_IMM) {
            inst.imm = self.signed()?;
        }
        for (list, flag) in [(&mut inst.args, HAS_ARGS), (&mut inst.rets, HAS_RETS)] {
            if has(flag) {
                *list = List { start: self.narrow("list")?, len: self.narrow("list")? };
            }
        }
        Ok(inst)
    }
}
