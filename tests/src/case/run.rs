//! Reads calls, expectations, traps and prints.

use super::{Arg, Expect, Fill, PrintPart, Run, TrapExpect};
use crate::expr::{Expr, Parser, Value, parse};
use std::collections::HashMap;

/// Reads `NAME(ARG=…, …) EXPECTATIONS`.
pub(super) fn parse_run(text: &str, line: usize, when: Option<Expr>) -> Result<Run, String> {
    let mut parser = Parser::new(text);
    let function = parser.name().ok_or("expected a function's name")?.to_owned();
    parser.expect("(")?;
    let mut args = Vec::new();
    while !parser.take(")") {
        let name = parser.name().ok_or("arguments are written NAME=VALUE")?.to_owned();
        parser.expect("=")?;
        args.push((name, parse_arg(&mut parser)?));
        if !parser.take(",") {
            parser.expect(")")?;
            break;
        }
    }
    let expects = parse_expects(parser.rest())?;
    Ok(Run { line, when, function, args, mask: None, expects, traps: Vec::new(), prints: Vec::new() })
}

fn parse_arg(parser: &mut Parser) -> Result<Arg, String> {
    let read_only = parser.take("readonly ");
    let int = |v| Expr::Literal(Value::Int(v));
    let fill = if parser.take("zeros") {
        Fill::Each(int(0))
    } else if parser.take("ones") {
        Fill::Each(int(1))
    } else if parser.take("iota") {
        Fill::Each(Expr::Name("i".to_owned()))
    } else if parser.take("fill(") {
        let value = parser.expr()?;
        parser.expect(")")?;
        Fill::Each(value)
    } else if parser.take("rand") {
        parser.expect(":")?;
        match parser.primary()? {
            Expr::Literal(Value::Int(seed)) => Fill::Random(seed as u64),
            _ => return Err("a seed is a number: rand:1".to_owned()),
        }
    } else if parser.take("alias(") {
        let other = parser.name().ok_or("expected an argument's name")?.to_owned();
        let from = if parser.take(",") { parser.expr()? } else { int(0) };
        parser.expect(")")?;
        Fill::Alias(other, from)
    } else if parser.take("[") {
        Fill::List(parse_list(parser)?)
    } else {
        return Ok(Arg::Scalar(parser.expr()?));
    };
    let len = if parser.take(":") { Some(parser.primary()?) } else { None };
    Ok(Arg::Array { fill, len, read_only })
}

fn parse_list(parser: &mut Parser) -> Result<Vec<Expr>, String> {
    let mut list = Vec::new();
    while !parser.take("]") {
        list.push(parser.expr()?);
        if !parser.take(",") {
            parser.expect("]")?;
            break;
        }
    }
    Ok(list)
}

/// Reads `NAME[i] == EXPR; result == EXPR; …`.
pub(super) fn parse_expects(text: &str) -> Result<Vec<Expect>, String> {
    let mut parser = Parser::new(text);
    let mut expects = Vec::new();
    while !parser.rest().is_empty() {
        let start = parser.rest();
        let name = parser.name().ok_or_else(|| format!("expected an array or `result` before `{start}`"))?.to_owned();
        let mut index = None;
        if parser.take("[") {
            index = Some(parser.expr()?);
            parser.expect("]")?;
        }
        let path = parser.path();
        parser.expect("==")?;
        let value = parser.expr()?;
        let text = start[..start.len() - parser.rest().len()].trim().to_owned();
        expects.push(Expect { name, index, path, value, text });
        if !parser.rest().is_empty() {
            parser.expect(";")?;
        }
    }
    Ok(expects)
}

/// Reads `KIND [lane=EXPR] [line=N or NAME] [message=TEXT]`; `message` comes last.
pub(super) fn parse_trap(text: &str, marks: &HashMap<String, usize>) -> Result<TrapExpect, String> {
    let (text, message) = match text.split_once("message=") {
        Some((text, message)) => (text, Some(message.trim().to_owned())),
        None => (text, None),
    };
    let mut words = text.split_whitespace();
    let kind = words.next().ok_or("expected a kind of trap")?.to_owned();
    let mut trap = TrapExpect { kind, lane: None, line: None, message };
    for word in words {
        match word.split_once('=') {
            Some(("lane", lane)) => trap.lane = Some(parse(lane)?),
            Some(("line", line)) => {
                let number = line.parse().ok().or_else(|| marks.get(line).copied());
                trap.line = Some(number.ok_or_else(|| format!("no line is marked `//~ line: {line}`"))?);
            }
            _ => return Err(format!("cannot read `{word}`")),
        }
    }
    Ok(trap)
}

/// Reads a line of output with `{e}`, `{[e]}` and `{[e | mask]}` in it; `{{` is a brace.
pub(super) fn parse_print(text: &str) -> Result<Vec<PrintPart>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        parts.push(PrintPart::Text(rest[..open].to_owned()));
        rest = &rest[open + 1..];
        if let Some(after) = rest.strip_prefix('{') {
            parts.push(PrintPart::Text("{".to_owned()));
            rest = after;
            continue;
        }
        let close = rest.find('}').ok_or("a `{` without its `}`")?;
        let inner = &rest[..close];
        parts.push(match inner.strip_prefix('[').and_then(|i| i.strip_suffix(']')) {
            None => PrintPart::Value(parse(inner)?),
            Some(lanes) => match lanes.split_once(" | ") {
                None => PrintPart::Lanes(parse(lanes)?, None),
                Some((value, mask)) => PrintPart::Lanes(parse(value)?, Some(parse(mask)?)),
            },
        });
        rest = &rest[close + 1..];
    }
    parts.push(PrintPart::Text(rest.to_owned()));
    Ok(parts)
}
