//! What a terminal shows, as a picture: `vt100` makes a screen of what a command has written, and this an SVG of the screen.

use std::fmt::Write;
use std::num::NonZero;
use vt100::{Cell, Color, Screen};

/// The size of a character, and the distance from the top of its row to where it stands.
const WIDTH: f64 = 8.4;
const HEIGHT: f64 = 18.0;
const BASE: f64 = 13.5;

/// Around the text.
const MARGIN: f64 = 14.0;

const GROUND: &str = "#1b1f24";
const TEXT: &str = "#e3e7eb";

/// The first sixteen colours of terminals.
const COLOURS: [&str; 16] = [
    "#3b424c", "#ff7b72", "#56d364", "#e3b341", "#6cb0ff", "#d2a8ff", "#56d4dd", "#c9d1d9", "#8b949e", "#ffa198",
    "#7ee787", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0ff", "#ffffff",
];

/// How a piece of text looks.
#[derive(Clone, PartialEq)]
struct Style {
    colour: String,
    ground: Option<String>,
    is_bold: bool,
    is_dim: bool,
    is_italic: bool,
    is_underlined: bool,
}

/// A picture of what was written to a terminal of so many columns. `title` says what it shows, to those who cannot see it.
pub fn svg(written: &str, columns: u16, title: &str) -> String {
    // Nothing scrolls out of view.
    let rows = 400;
    let lines = NonZero::new(rows).expect("there are rows");
    let mut parser = vt100::Parser::new(lines, NonZero::new(columns).expect("there are columns"), 0);
    parser.process(written.as_bytes());
    let screen = parser.screen();
    let is_used = |row: &u16| (0..columns).any(|column| !text(screen, *row, column).trim().is_empty());
    let used = (0..rows).rev().find(is_used).map_or(0, |last| last + 1);
    let (width, height) = (f64::from(columns) * WIDTH + 2.0 * MARGIN, f64::from(used) * HEIGHT + 2.0 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" role=\"img\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{GROUND}\"/>\n\
         <g font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\">\n",
        short(width),
        short(height),
        short(width),
        short(height),
        escaped(title)
    );
    for row in 0..used {
        line(&mut svg, screen, row, columns);
    }
    svg + "</g>\n</svg>\n"
}

fn text(screen: &Screen, row: u16, column: u16) -> &str {
    screen.cell(row, column).map_or("", Cell::contents)
}

/// A row, in pieces that look the same.
fn line(svg: &mut String, screen: &Screen, row: u16, columns: u16) {
    let mut column = 0;
    while column < columns {
        let Some(first) = screen.cell(row, column) else { break };
        let style = style(first);
        let same = |&at: &u16| screen.cell(row, at).is_some_and(|cell| self::style(cell) == style && !is_block(cell));
        let end =
            if is_block(first) { column + 1 } else { (column..columns).take_while(same).last().unwrap_or(column) + 1 };
        let (x, y) = (MARGIN + f64::from(column) * WIDTH, MARGIN + f64::from(row) * HEIGHT);
        let wide = f64::from(end - column) * WIDTH;
        if let Some(ground) = &style.ground {
            rectangle(svg, (x, y), (wide, HEIGHT), ground);
        }
        let piece: String =
            (column..end).map(|at| Some(text(screen, row, at)).filter(|t| !t.is_empty()).unwrap_or(" ")).collect();
        match piece.as_str() {
            "▀" => rectangle(svg, (x, y), (WIDTH, HEIGHT / 2.0), &style.colour),
            "▄" => rectangle(svg, (x, y + HEIGHT / 2.0), (WIDTH, HEIGHT / 2.0), &style.colour),
            "█" => rectangle(svg, (x, y), (WIDTH, HEIGHT), &style.colour),
            _ => words(svg, (x, y), &piece, &style),
        }
        column = end;
    }
}

/// Returns whether a cell holds a block: fonts leave gaps between them.
fn is_block(cell: &Cell) -> bool {
    matches!(cell.contents(), "▀" | "▄" | "█")
}

fn rectangle(svg: &mut String, (x, y): (f64, f64), (width, height): (f64, f64), colour: &str) {
    let (x, y, width, height) = (short(x), short(y), short(width), short(height));
    // Writing to a string cannot fail.
    let _ = writeln!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{colour}\"/>");
}

/// A piece of text that is as wide as its cells in any font.
fn words(svg: &mut String, (x, y): (f64, f64), piece: &str, style: &Style) {
    let blanks = piece.chars().take_while(|c| *c == ' ').count();
    let piece = piece.trim();
    if piece.is_empty() {
        return;
    }
    let (x, y) = (x + blanks as f64 * WIDTH, y + BASE);
    let mut marks = String::new();
    for (is_so, mark) in [
        (style.is_bold, " font-weight=\"bold\""),
        (style.is_dim, " fill-opacity=\"0.55\""),
        (style.is_italic, " font-style=\"italic\""),
        (style.is_underlined, " text-decoration=\"underline\""),
    ] {
        marks += if is_so { mark } else { "" };
    }
    let wide = short(piece.chars().count() as f64 * WIDTH);
    // Blanks that follow one another count as one, unless lines may not be broken there.
    let (x, y, colour, piece) = (short(x), short(y), &style.colour, escaped(piece).replace(' ', "\u{a0}"));
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" textLength=\"{wide}\" fill=\"{colour}\"{marks}>{piece}</text>");
}

fn style(cell: &Cell) -> Style {
    let (own, ground) = (colour(cell.fgcolor()), colour(cell.bgcolor()));
    let (own, ground) = match cell.inverse() {
        true => (Some(ground.unwrap_or_else(|| GROUND.into())), Some(own.unwrap_or_else(|| TEXT.into()))),
        false => (own, ground),
    };
    Style {
        colour: own.unwrap_or_else(|| TEXT.into()),
        ground,
        is_bold: cell.bold(),
        is_dim: cell.dim(),
        is_italic: cell.italic(),
        is_underlined: cell.underline(),
    }
}

/// A colour, unless it is the usual one.
fn colour(colour: Color) -> Option<String> {
    match colour {
        Color::Default => None,
        Color::Idx(at @ 0..16) => Some(COLOURS[usize::from(at)].to_owned()),
        // A cube of six steps for each of red, green and blue, then shades of grey.
        Color::Idx(at @ 16..232) => {
            let (at, step) = (at - 16, |n: u8| if n == 0 { 0 } else { 55 + 40 * n });
            Some(format!("#{:02x}{:02x}{:02x}", step(at / 36), step(at / 6 % 6), step(at % 6)))
        }
        Color::Idx(at) => {
            let grey = 8 + 10 * (at - 232);
            Some(format!("#{grey:02x}{grey:02x}{grey:02x}"))
        }
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}

/// A length with as few digits as it needs.
fn short(length: f64) -> String {
    format!("{length:.1}").trim_end_matches(".0").to_owned()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
