//! The formats of `print`.
//!
//! `%` alone shows the next value by its type. What may follow it, as in C: flags `-`, `+`, `0` and blank, a width, `.` and a
//! precision, length modifiers (ignored), and a conversion letter. `%%` is a percent sign.

use super::table::Checker;
use crate::ast;
use crate::diag::{Code, Diagnostic};
use crate::hir::{Expr, ExprKind, Place, PlaceBase, Projection, Shape, StmtKind, TypeId, TypeKind, TypeTable};
use crate::source::Span;
use spmdvm_vm::Ty;
use spmdvm_vm::program::{ArgFormat, ArgKind, Piece};

impl<'a> Checker<'a, '_> {
    /// `print(format, args…)`.
    pub(super) fn print(&mut self, format: &'a ast::Expr<'a>, args: &'a [&'a ast::Expr<'a>], span: Span) -> StmtKind {
        let values: Vec<Expr> = args.iter().map(|arg| self.value(arg)).collect();
        let text = match format.kind {
            ast::ExprKind::String(text) => Some(text.to_string()),
            _ => {
                let value = self.value(format);
                match self.constant_text(&value) {
                    Some(text) => Some(text),
                    None => return self.print_text(value, args, format.span),
                }
            }
        };
        let pieces = parse_format(&text.unwrap_or_default());
        self.print_pieces(pieces, values, format.span, span)
    }

    /// `print(text)` with a string that is not known: shown as it is.
    fn print_text(&mut self, value: Expr, args: &[&'a ast::Expr<'a>], span: Span) -> StmtKind {
        if value.ty != TypeTable::ERROR && (!self.is_text(value.ty) || !args.is_empty()) {
            let error = Diagnostic::new(Code::BadFormat, span, "the format of `print` must be a string literal");
            self.error(error.help("write `print(\"%\\n\", value);`"));
        }
        let piece = Piece::Arg(ArgFormat { kind: ArgKind::Text, ..plain_format() });
        StmtKind::Print { pieces: vec![piece], args: vec![value] }
    }

    fn print_pieces(&mut self, pieces: Vec<Piece>, values: Vec<Expr>, format_span: Span, span: Span) -> StmtKind {
        let wanted = pieces.iter().filter(|piece| matches!(piece, Piece::Arg(_))).count();
        if wanted != values.len() {
            let message = format!(
                "the format shows {wanted} value{}, but {} {} given",
                if wanted == 1 { "" } else { "s" },
                values.len(),
                if values.len() == 1 { "is" } else { "are" }
            );
            let error = Diagnostic::new(Code::BadFormat, span, message).label(format_span, "each `%` shows one value");
            self.error(error.help("to show a percent sign write `%%`"));
            return StmtKind::Print { pieces: Vec::new(), args: Vec::new() };
        }
        let mut values = values.into_iter();
        let (mut shown, mut args) = (Vec::new(), Vec::new());
        for piece in pieces {
            match piece {
                Piece::Text(_) => shown.push(piece),
                Piece::Arg(format) => {
                    if let Some(value) = values.next() {
                        self.print_value(format, value, &mut shown, &mut args);
                    }
                }
            }
        }
        StmtKind::Print { pieces: shown, args }
    }

    /// One value; short vectors are shown component by component.
    fn print_value(&mut self, format: ArgFormat, value: Expr, shown: &mut Vec<Piece>, args: &mut Vec<Expr>) {
        let span = value.span;
        match *self.kind(value.ty) {
            TypeKind::Error => {}
            TypeKind::Vector(elem, len) => {
                let place = self.temporary(value);
                shown.push(Piece::Text("{".into()));
                for component in 0..len {
                    if component > 0 {
                        shown.push(Piece::Text(", ".into()));
                    }
                    let value = self.component(place.clone(), component, elem);
                    self.print_value(format, value, shown, args);
                }
                shown.push(Piece::Text("}".into()));
            }
            TypeKind::Enum(_, shape) => {
                let plain = self.scalar(Ty::U32, shape);
                let value = self.convert(value, plain, "the printed value");
                self.push_value(format, ArgKind::Value, value, shown, args);
            }
            TypeKind::Scalar(ty, _) => {
                let format = self.fitting_format(format, ty, span);
                self.push_value(format, ArgKind::Value, value, shown, args);
            }
            TypeKind::Pointer { .. } => {
                let is_text = self.is_text(value.ty) && format.conversion != Some('p');
                let kind = if is_text { ArgKind::Text } else { ArgKind::Pointer };
                self.push_value(format, kind, value, shown, args);
            }
            _ => {
                let message = format!("`{}` cannot be printed", self.show(value.ty));
                let error = Diagnostic::new(Code::BadFormat, span, message);
                self.error(error.help("print its members one by one"));
            }
        }
    }

    fn push_value(
        &mut self,
        format: ArgFormat,
        kind: ArgKind,
        value: Expr,
        shown: &mut Vec<Piece>,
        args: &mut Vec<Expr>,
    ) {
        shown.push(Piece::Arg(ArgFormat { kind, ..format }));
        args.push(value);
    }

    fn component(&mut self, mut place: Place, component: u32, elem: TypeId) -> Expr {
        place.projections.push(Projection::Swizzle { components: vec![component as u8], ty: elem });
        place.ty = elem;
        self.load(place)
    }

    /// The format, without its conversion letter if that is for other types.
    fn fitting_format(&mut self, format: ArgFormat, ty: Ty, span: Span) -> ArgFormat {
        let Some(letter) = format.conversion else { return format };
        let fits = match letter {
            'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'c' | 'b' => !ty.is_float(),
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'a' | 'A' => ty.is_float(),
            _ => false,
        };
        if fits {
            return format;
        }
        let message =
            format!("`%{letter}` is not for `{}`, which is shown as its type is", crate::hir::scalar_name(ty));
        let warning = Diagnostic::new(Code::FormatMismatch, span, message);
        self.warn(warning.help("a `%` alone shows any value"));
        ArgFormat { conversion: None, ..format }
    }

    /// Strings: pointers to constant `int8`.
    fn is_text(&self, ty: TypeId) -> bool {
        let TypeKind::Pointer { pointee, .. } = *self.kind(ty) else { return false };
        self.is_const(pointee) && matches!(self.kind(pointee), TypeKind::Scalar(Ty::I8, Shape::Uniform))
    }

    /// The text of a string that is known at compile time.
    pub(super) fn constant_text(&self, value: &Expr) -> Option<String> {
        let ExprKind::AddressOf(place) = &value.kind else { return None };
        let PlaceBase::Global(id) = place.base else { return None };
        let global = self.known_global(id).filter(|_| place.projections.is_empty())?;
        if !self.is_text(value.ty) {
            return None;
        }
        let end = global.init.iter().position(|&byte| byte == 0).unwrap_or(global.init.len());
        String::from_utf8(global.init[..end].to_vec()).ok()
    }
}

fn plain_format() -> ArgFormat {
    ArgFormat {
        kind: ArgKind::Value,
        conversion: None,
        width: None,
        precision: None,
        zero: false,
        left: false,
        plus: false,
    }
}

/// Splits a format into text and values.
fn parse_format(format: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            text.push('%');
            rest = after;
            continue;
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        let (format, len) = parse_spec(rest);
        pieces.push(Piece::Arg(format));
        rest = &rest[len..];
    }
    text.push_str(rest);
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

/// What follows a `%`, and how many bytes that is: nothing, unless it ends in a conversion letter or has a width or a
/// precision. So in `"% d"` or `"%, x"` the percent sign stands alone.
fn parse_spec(rest: &str) -> (ArgFormat, usize) {
    let bytes = rest.as_bytes();
    let mut format = plain_format();
    let mut at = 0;
    while let Some(flag) = bytes.get(at).filter(|byte| b"-+0".contains(byte)) {
        format.left |= *flag == b'-';
        format.plus |= *flag == b'+';
        format.zero |= *flag == b'0';
        at += 1;
    }
    let flags_end = at;
    format.width = parse_number(bytes, &mut at);
    if bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
        at += 1;
        format.precision = parse_number(bytes, &mut at);
    }
    let sized = at;
    while bytes.get(at).is_some_and(|byte| b"hlzjt".contains(byte)) {
        at += 1;
    }
    match bytes.get(at) {
        Some(&letter) if b"diuxXocfFeEgGaAsp".contains(&letter) && ends_word(bytes, at + 1) => {
            if letter != b's' {
                format.conversion = Some(letter as char);
            }
            (format, at + 1)
        }
        _ if sized > flags_end => (format, sized),
        _ => (plain_format(), 0),
    }
}

/// A conversion letter that a word begins with is no conversion: `"%items"` shows a value and then `items`.
fn ends_word(bytes: &[u8], at: usize) -> bool {
    !bytes.get(at).is_some_and(|byte| byte.is_ascii_alphabetic())
}

fn parse_number(bytes: &[u8], at: &mut usize) -> Option<u16> {
    let start = *at;
    while bytes.get(*at).is_some_and(u8::is_ascii_digit) {
        *at += 1;
    }
    let digits = std::str::from_utf8(&bytes[start..*at]).ok().filter(|digits| !digits.is_empty())?;
    // More than any terminal is wide is as much as meant.
    Some(digits.parse::<u16>().unwrap_or(u16::MAX).min(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arg(piece: &Piece) -> ArgFormat {
        match piece {
            Piece::Arg(format) => *format,
            Piece::Text(text) => panic!("text {text}"),
        }
    }

    #[test]
    fn formats() {
        let pieces = parse_format("a = %, b = %d%% %8.3f|%-5x%\n");
        assert_eq!(pieces.len(), 10);
        assert_eq!(pieces[0], Piece::Text("a = ".into()));
        assert_eq!(arg(&pieces[1]), plain_format());
        assert_eq!(arg(&pieces[3]).conversion, Some('d'));
        assert_eq!(pieces[4], Piece::Text("% ".into()));
        let fixed = arg(&pieces[5]);
        assert_eq!((fixed.width, fixed.precision, fixed.conversion), (Some(8), Some(3), Some('f')));
        assert!(arg(&pieces[7]).left);
        assert_eq!(arg(&pieces[8]), plain_format());
    }

    #[test]
    fn words_are_no_conversions() {
        assert_eq!(parse_format("%items").len(), 2);
        assert_eq!(parse_format("100%").len(), 2);
    }
}
