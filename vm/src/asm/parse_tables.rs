//! The assembler: everything around the functions.

use super::lex::Token;
use super::literal::{parse_constant, parse_hex, parse_int};
use super::parse::{Fixup, Link, Parser};
use crate::program::{
    ArgFormat, ArgKind, ArrayShape, Export, ExportParam, FuncId, Global, GlobalId, Home, HostAccess, HostFunction,
    HostGlobal, HostType, HostValue, Import, Piece, Source, Symbol, Target, Variable,
};
use crate::types::Ty;
use crate::verify::MAX_TYPE_DEPTH;

impl Parser<'_> {
    pub(super) fn source(&mut self) -> Option<()> {
        self.advance();
        self.row_number(self.program.sources.len())?;
        let name = self.string()?;
        let text = self.string()?;
        self.program.sources.push(Source::new(name, text));
        self.end_of_line()
    }

    /// `.variable frame 0 at 16 "x" 4 * 3 * 5 : [f32 * 15]`: home, offset, name, the stride times the lengths, and the layout,
    /// if it is known, with `varying` before it.
    pub(super) fn variable(&mut self) -> Option<()> {
        self.advance();
        let is_global = self.accept_word("global");
        if !is_global && !self.accept_word("frame") {
            return self.expected("`frame` or `global`");
        }
        let index = self.number("the number of a function or global")?;
        let home = if is_global { Home::Global(GlobalId(index)) } else { Home::Frame(FuncId(index)) };
        if !self.accept_word("at") {
            return self.expected("`at`");
        }
        let offset = self.number("an offset in bytes")?;
        let name = self.string()?;
        let mut shape = ArrayShape { stride: self.number("a size in bytes")?, extents: Vec::new() };
        while self.accept(Token::Star) {
            shape.extents.push(self.number("a length")?);
        }
        let has_layout = self.accept(Token::Colon);
        let varying = has_layout && self.accept_word("varying");
        let layout = if has_layout { Some(self.host_type(0)?) } else { None };
        self.program.variables.push(Variable { home, name, offset, shape, layout, varying });
        self.end_of_line()
    }

    pub(super) fn message(&mut self) -> Option<()> {
        self.advance();
        self.row_number(self.program.messages.len())?;
        let text = self.string()?;
        self.program.messages.push(text);
        self.end_of_line()
    }

    pub(super) fn format(&mut self) -> Option<()> {
        self.advance();
        self.row_number(self.program.formats.len())?;
        let mut pieces = Vec::new();
        loop {
            match self.peek() {
                Token::Str => pieces.push(Piece::Text(self.string()?)),
                Token::OpenBrace => pieces.push(Piece::Arg(self.arg_format()?)),
                _ => break,
            }
        }
        self.program.formats.push(pieces);
        self.end_of_line()
    }

    fn arg_format(&mut self) -> Option<ArgFormat> {
        self.advance();
        let kind = match self.here() {
            "value" => ArgKind::Value,
            "pointer" => ArgKind::Pointer,
            "text" => ArgKind::Text,
            _ => return self.expected("`value`, `pointer` or `text`"),
        };
        self.advance();
        let mut arg =
            ArgFormat { kind, conversion: None, width: None, precision: None, zero: false, left: false, plus: false };
        while !self.accept(Token::CloseBrace) {
            match self.here() {
                "conversion" => arg.conversion = Some(self.conversion()?),
                "width" => arg.width = Some(self.option_number()?),
                "precision" => arg.precision = Some(self.option_number()?),
                "zero" => arg.zero = self.flag(),
                "left" => arg.left = self.flag(),
                "plus" => arg.plus = self.flag(),
                _ => return self.expected("`conversion`, `width`, `precision`, `zero`, `left`, `plus` or `}`"),
            }
        }
        Some(arg)
    }

    fn conversion(&mut self) -> Option<char> {
        self.advance();
        let at = self.start();
        let text = self.string()?;
        let mut chars = text.chars();
        let only = chars.next().filter(|_| chars.next().is_none());
        if only.is_none() {
            self.error_at(at, "a conversion is one character");
        }
        only
    }

    fn option_number(&mut self) -> Option<u16> {
        self.advance();
        self.number("a width")
    }

    fn flag(&mut self) -> bool {
        self.advance();
        true
    }

    /// Passes `{` and the end of its line, then calls `line` for each line up to `}`.
    pub(super) fn block(&mut self, mut line: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.expect(Token::OpenBrace)?;
        loop {
            self.skip_newlines();
            if self.accept(Token::CloseBrace) {
                return self.end_of_line();
            }
            if self.peek() == Token::End || self.too_many_errors() {
                return self.expected("`}`");
            }
            if line(self).is_none() {
                self.skip_line();
            }
        }
    }

    pub(super) fn global(&mut self) -> Option<()> {
        self.advance();
        let name = self.name("the global's name")?;
        let size = self.number("a size in bytes")?;
        let constant = self.accept_word("const");
        let index = self.program.globals.len();
        let global = Global { name, size, init: Vec::new(), constant, relocations: Vec::new(), host: None };
        self.program.globals.push(global);
        self.block(|p| p.global_line(index))
    }

    fn global_line(&mut self, index: usize) -> Option<()> {
        match self.here() {
            "text" => {
                self.advance();
                let text = self.string()?;
                self.program.globals[index].init.extend_from_slice(text.as_bytes());
            }
            "hex" => {
                self.advance();
                let at = self.start();
                match parse_hex(&self.string()?) {
                    Some(bytes) => self.program.globals[index].init.extend(bytes),
                    None => self.error_at(at, "expected pairs of hexadecimal digits"),
                }
            }
            "reloc" => {
                self.advance();
                let byte = self.number("a byte offset")?;
                let row = self.program.globals[index].relocations.len();
                self.program.globals[index].relocations.push((byte, Target::Global(GlobalId(0), 0)));
                let target = self.reference("a global", Fixup::Relocation(index, row))?;
                let offset = self.displacement()?;
                self.program.globals[index].relocations[row].1 = Target::Global(GlobalId(target), offset);
            }
            "function" => {
                self.advance();
                let byte = self.number("a byte offset")?;
                let row = self.program.globals[index].relocations.len();
                self.program.globals[index].relocations.push((byte, Target::Function(FuncId(0))));
                let target = self.reference("a function", Fixup::FunctionRelocation(index, row))?;
                self.program.globals[index].relocations[row].1 = Target::Function(FuncId(target));
            }
            "host" => {
                self.advance();
                let word = self.here();
                let Some(&(access, _)) = HostAccess::WORDS.iter().find(|(_, known)| *known == word) else {
                    return self.expected("`readonly`, `writable` or `extern`");
                };
                self.advance();
                self.program.globals[index].host = Some(HostGlobal { access, layout: self.host_type(0)? });
            }
            _ => return self.expected("`text`, `hex`, `reloc`, `function`, `host` or `}`"),
        }
        self.end_of_line()
    }

    pub(super) fn export(&mut self) -> Option<()> {
        self.advance();
        let name = self.name("the export's name")?;
        let index = self.program.exports.len();
        let (params, result, doc, declaration) = (Vec::new(), None, String::new(), String::new());
        self.program.exports.push(Export { name, function: FuncId(0), params, result, doc, declaration });
        let function = self.reference("a function", Fixup::Export(index))?;
        let signature = self.host_function()?;
        let export = &mut self.program.exports[index];
        (export.function, export.params, export.result) = (FuncId(function), signature.params, signature.result);
        self.block(|p| {
            let field = p.here();
            if field != "doc" && field != "declaration" {
                return p.expected("`doc`, `declaration` or `}`");
            }
            p.advance();
            let text = p.string()?;
            let export = &mut p.program.exports[index];
            *if field == "doc" { &mut export.doc } else { &mut export.declaration } = text;
            p.end_of_line()
        })
    }

    /// `(n: uniform i32) -> uniform f32`.
    fn host_function(&mut self) -> Option<HostFunction> {
        let mut params = Vec::new();
        self.expect(Token::Open)?;
        self.separated(Token::Close, |p| {
            params.push(p.export_param()?);
            Some(())
        })?;
        let result = if self.accept(Token::Arrow) { Some(self.host_value()?) } else { None };
        Some(HostFunction { params, result })
    }

    /// `.symbol "f(varying float)" function f "float (float)" @0:1-9 {`, then its structs, line by line.
    pub(super) fn defined_symbol(&mut self) -> Option<()> {
        self.advance();
        let index = self.program.symbols.len();
        let symbol = self.symbol(false, index)?;
        self.program.symbols[index] = symbol;
        self.block(|p| {
            let known = p.struct_digest()?;
            p.program.symbols[index].structs.push(known);
            p.end_of_line()
        })
    }

    /// The same, with `used @0:20-25` if it is used somewhere, the line `host (…) -> …` if a host may provide it, and
    /// `near "f(varying int32)" @1:3-9` for a definition that is not meant.
    pub(super) fn import(&mut self) -> Option<()> {
        self.advance();
        let index = self.program.imports.len();
        let symbol = self.symbol(true, index)?;
        let used = if self.accept_word("used") { self.span()? } else { Default::default() };
        self.program.imports[index].symbol = symbol;
        self.program.imports[index].used = used;
        self.block(|p| {
            if p.accept_word("host") {
                let host = p.host_function()?;
                p.program.imports[index].host = Some(host);
            } else if p.accept_word("near") {
                let near = (p.string()?, p.span()?);
                p.program.imports[index].near = Some(near);
            } else {
                let known = p.struct_digest()?;
                p.program.imports[index].symbol.structs.push(known);
            }
            p.end_of_line()
        })
    }

    /// The head of a symbol. Its place in the list is made at once, for its name may be resolved later.
    fn symbol(&mut self, is_import: bool, index: usize) -> Option<Symbol> {
        let name = self.string()?;
        let is_global = self.accept_word("global");
        if !is_global && !self.accept_word("function") {
            return self.expected("`function` or `global`");
        }
        let link = Link { is_import, is_global };
        let empty = Symbol {
            name: String::new(),
            item: link.item(0),
            ty: String::new(),
            structs: Vec::new(),
            span: Default::default(),
        };
        match is_import {
            true => {
                self.program.imports.push(Import { symbol: empty, used: Default::default(), host: None, near: None })
            }
            false => self.program.symbols.push(empty),
        }
        let what = if is_global { "a global" } else { "a function" };
        let item = link.item(self.reference(what, Fixup::Symbol(link, index))?);
        Some(Symbol { name, item, ty: self.string()?, structs: Vec::new(), span: self.span()? })
    }

    /// `struct "V" 123`.
    fn struct_digest(&mut self) -> Option<(String, u64)> {
        if !self.accept_word("struct") {
            return self.expected("`struct`, `host`, `near` or `}`");
        }
        Some((self.string()?, self.number("a digest")?))
    }

    fn export_param(&mut self) -> Option<ExportParam> {
        let name = self.name("a parameter's name")?;
        self.expect(Token::Colon)?;
        let value = self.host_value()?;
        let mut default = None;
        if self.accept(Token::Equals) {
            let ty = match value {
                HostValue::Uniform(ty) | HostValue::Varying(ty) => ty,
                HostValue::Array { .. } => Ty::U64,
            };
            default = Some(self.constant(ty)?);
        }
        Some(ExportParam { name, value, default })
    }

    fn host_value(&mut self) -> Option<HostValue> {
        let word = self.here();
        if !matches!(word, "uniform" | "varying" | "array" | "reference") {
            return self.expected("`uniform`, `varying`, `array` or `reference`");
        }
        self.advance();
        Some(match word {
            "uniform" => HostValue::Uniform(self.ty()?),
            "varying" => HostValue::Varying(self.ty()?),
            _ => {
                let writable = self.accept_word("writable");
                HostValue::Array { elem: self.host_type(0)?, writable, reference: word == "reference" }
            }
        })
    }

    fn host_type(&mut self, depth: usize) -> Option<HostType> {
        if depth > MAX_TYPE_DEPTH {
            self.error_at(self.start(), "the type is nested too deeply");
            return None;
        }
        if self.accept(Token::OpenBracket) {
            let elem = self.host_type(depth + 1)?;
            self.expect(Token::Star)?;
            let n = self.number("a number of elements")?;
            self.expect(Token::CloseBracket)?;
            return Some(HostType::Array(Box::new(elem), n));
        }
        if self.accept_word("enum") {
            return Some(HostType::Enum(self.string()?));
        }
        if self.accept_word("pointer") {
            return Some(HostType::Pointer);
        }
        if self.accept_word("byte") {
            return Some(HostType::Byte);
        }
        if self.accept_word("struct") {
            let name = self.string()?;
            let size = self.number("a size in bytes")?;
            let mut fields = Vec::new();
            self.expect(Token::OpenBrace)?;
            self.separated(Token::CloseBrace, |p| {
                fields.push((p.string()?, p.number("a byte offset")?, p.host_type(depth + 1)?));
                Some(())
            })?;
            return Some(HostType::Struct { name, size, fields });
        }
        match Ty::from_name(self.here()) {
            Some(_) => Some(HostType::Scalar(self.ty()?)),
            None => self.expected("a type"),
        }
    }

    /// A constant of an element type, as bits.
    pub(super) fn constant(&mut self, ty: Ty) -> Option<u64> {
        let at = self.start();
        if self.accept_word("bits") {
            self.expect(Token::Open)?;
            let bits = self.number("64 bits")?;
            self.expect(Token::Close)?;
            return Some(bits);
        }
        let negative = if self.accept(Token::Minus) { "-" } else { "" };
        if !matches!(self.peek(), Token::Number | Token::Ident) {
            return self.expected(&format!("a constant of type {ty}"));
        }
        let text = format!("{negative}{}", self.advance());
        let known_word = matches!(text.as_str(), "inf" | "-inf" | "nan" | "true" | "false");
        let bits = (known_word || text.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']))
            .then(|| parse_constant(ty, &text))
            .flatten()
            // Hexadecimal is welcome for floats as well: their bits.
            .or_else(|| parse_int(&text).filter(|_| ty.is_float() && text.starts_with("0x")).map(|n| n as u64));
        if bits.is_none() {
            self.error_at(at, format!("`{text}` is no constant of type {ty}"));
        }
        bits
    }
}
