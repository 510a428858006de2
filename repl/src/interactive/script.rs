//! Inputs that are not typed: from a file or a pipe.

use super::session::Problem;
use super::shell::Shell;
use super::units::tokens;
use crate::Failure;
use spmdvm::tools::TokenKind;
use std::cell::RefCell;
use std::io::{BufRead, Write as _};
use std::rc::Rc;

/// Answers all inputs. With `batch` the first error ends it, and is the command's failure.
pub fn run(shell: &mut Shell, batch: bool) -> Result<(), Failure> {
    let mut input = String::new();
    // What is no text is told by whoever reads the line.
    let text = |line: Vec<u8>| String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(&line)).into_owned();
    let read = std::io::stdin().lock().split(b'\n').map_while(Result::ok).map(text);
    let lines = Rc::new(RefCell::new(read.peekable()));
    let rest = Rc::clone(&lines);
    shell.script = Some(Box::new(move || rest.borrow_mut().next()));
    let next = || lines.borrow_mut().next();
    while let Some(line) = next() {
        input += &line;
        let is_ended = line.trim().is_empty();
        let has_next = lines.borrow_mut().peek().is_some();
        let goes_on = lines.borrow_mut().peek().is_some_and(|next| begins_with_else(next));
        if has_next && (goes_on || (shell.is_unfinished(&input) && !is_ended_by(&input, is_ended))) {
            input.push('\n');
            continue;
        }
        answer(shell, &std::mem::take(&mut input), batch)?;
        if shell.leaving {
            break;
        }
    }
    Ok(())
}

/// Returns whether an empty line ends an input that is unfinished: no bracket is open in it.
pub fn is_ended_by(input: &str, is_empty_line: bool) -> bool {
    let depth = tokens(input).iter().fold(0i32, |depth, (kind, _)| match kind {
        TokenKind::LParen | TokenKind::LBrace | TokenKind::LBracket => depth + 1,
        TokenKind::RParen | TokenKind::RBrace | TokenKind::RBracket => depth - 1,
        TokenKind::UnterminatedComment => depth + 1,
        _ => depth,
    });
    is_empty_line && depth <= 0
}

fn begins_with_else(line: &str) -> bool {
    tokens(line).first().is_some_and(|(kind, _)| *kind == TokenKind::Else)
}

fn answer(shell: &mut Shell, input: &str, batch: bool) -> Result<(), Failure> {
    match shell.respond(input) {
        Ok(text) => print!("{text}"),
        Err(problem) => {
            let _ = std::io::stdout().flush();
            let text = Problem::into_text(problem);
            match batch {
                // What a program says when it stops begins with the name of the trap.
                true if text.contains("] Trap: ") => return Err(Failure::Trap(text)),
                true => return Err(Failure::Program(text)),
                false => eprint!("{text}"),
            }
        }
    }
    let _ = std::io::stdout().flush();
    Ok(())
}
