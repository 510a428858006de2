//! Commands about arrays: making, drawing and writing them.

use super::{fail, needs};
use crate::data::as_floats;
use crate::image::{Image, is_image};
use crate::interactive::arrays::{self, of_variable};
use crate::interactive::session::Answer;
use crate::interactive::shell::Shell;
use crate::interactive::variables::Stored;
use crate::{files, npy};
use spmdvm::tools::TokenKind;
use std::path::Path;

pub fn let_array(shell: &mut Shell, rest: &str) -> Answer {
    let rest = needs("let", "x = linspace(0, 1, 1000)", rest)?;
    let Some((name, value)) = rest.split_once('=') else {
        return Err(fail("`:let` takes a name, `=` and an array, for instance `:let x = linspace(0, 1, 1000)`"));
    };
    let name = name.trim();
    if !matches!(crate::interactive::units::tokens(name).as_slice(), [(TokenKind::Word, _)]) {
        return Err(fail(format!("`{name}` cannot be the name of a variable")));
    }
    let session = &mut shell.session;
    let array = arrays::evaluate(value, session.variables()).map_err(fail)?;
    let known = session.variables().get(name).filter(|known| known.is_extern).cloned();
    if known.is_some() {
        session.variables_mut().set(name, Stored { bytes: array.bytes, pointers: Vec::new() });
        return Ok(format!("{name} has a value now\n"));
    }
    session.declare(name, array.into_variable(name))?;
    Ok(session.show_variable(name))
}

/// Rows of dots of a curve: eight lines.
const PLOT_ROWS: usize = 32;

pub fn image(shell: &mut Shell, rest: &str) -> Answer {
    let rest = needs("image", "y out.png", rest)?;
    let (name, file) = two(rest);
    let array = of_variable(name, shell.session.variables()).map_err(fail)?;
    let numbers: Vec<f64> = as_floats(array.ty, &array.bytes).collect();
    if file == Some("braille") && array.shape.len() == 1 {
        return Ok(
            Image::plot(&numbers, 2 * shell.session.painter.columns, PLOT_ROWS).dots(shell.session.painter.columns)
        );
    }
    let of_rows = Image::of(array.ty, &array.shape, &numbers);
    let image =
        of_rows.map_err(|why| fail(format!("{why}; `:image {name} braille` draws a curve of an array of numbers")))?;
    match file {
        Some("braille") => Ok(image.dots(shell.session.painter.columns)),
        None => Ok(image.draw(shell.session.painter.columns, shell.session.painter.color)),
        Some(file) if is_image(Path::new(file)) => {
            image.save(Path::new(file)).map_err(|failure| fail(failure.message()))?;
            Ok(format!("{file}: {} × {} pixels\n", image.width, image.height))
        }
        Some(file) => Err(fail(format!("pictures are written as PNG: `:image {name} {file}.png`"))),
    }
}

pub fn save(shell: &mut Shell, rest: &str) -> Answer {
    let rest = needs("save", "x out.npy", rest)?;
    match two(rest) {
        (file, None) => {
            let text: String = shell.session.log.iter().map(|input| format!("{input}\n")).collect();
            files::write(Path::new(file), text.as_bytes()).map_err(|failure| fail(failure.message()))?;
            Ok(format!(
                "{file}: {} inputs; `:load {file}` or `spmdvm repl < {file}` runs them\n",
                shell.session.log.len()
            ))
        }
        (name, Some(file)) => {
            let array = of_variable(name, shell.session.variables()).map_err(fail)?;
            npy::write(Path::new(file), array.ty, &array.shape, &array.bytes)
                .map_err(|failure| fail(failure.message()))?;
            let lengths: Vec<String> = array.shape.iter().map(u64::to_string).collect();
            Ok(format!("{file}: {}[{}]\n", array.ty, lengths.join(", ")))
        }
    }
}

/// A name, and perhaps a file, which may stand in quotes.
fn two(rest: &str) -> (&str, Option<&str>) {
    match rest.split_once(char::is_whitespace) {
        Some((name, file)) => (name, Some(file.trim().trim_matches('"'))),
        None => (rest.trim_matches('"'), None),
    }
}
