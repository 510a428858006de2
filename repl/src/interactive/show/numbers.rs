//! Single numbers, and what many of them are like.

use crate::data::{as_float, as_floats, show_element};
use spmdvm::Ty;

/// Signs of a histogram, from few to many.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Its columns.
const BINS: usize = 24;
/// Digits of a number that is shortened; one sign more of the number itself is no reason to shorten it.
const DIGITS: i32 = 5;

/// A number as text; `short` rounds floating-point ones to five digits.
pub fn scalar(ty: Ty, bits: u64, short: bool) -> String {
    match ty {
        Ty::F32 | Ty::F64 | Ty::F16 => {
            let exact = plain(&show_element(ty, bits), as_float(ty, bits));
            if short && exact.len() > DIGITS as usize + 2 { rounded(as_float(ty, bits)) } else { exact }
        }
        _ => show_element(ty, bits),
    }
}

/// Very large and very small numbers get an exponent.
fn plain(exact: &str, value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() || (1e-5..1e10).contains(&size) {
        return exact.to_owned();
    }
    // As many digits as make the same number.
    let digits = exact.trim_start_matches(['-', '0', '.']).chars().filter(char::is_ascii_digit).collect::<String>();
    let significant = digits.trim_end_matches('0').len().max(1);
    format!("{value:.*e}", significant - 1)
}

fn rounded(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    if !(1e-5..1e10).contains(&size) {
        return format!("{value:.*e}", DIGITS as usize - 1);
    }
    let decimals = (DIGITS - 1 - size.log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// What numbers are like, in a line: the least and greatest, the mean, and how they are distributed between.
pub fn histogram(ty: Ty, bytes: &[u8]) -> String {
    let finite = || as_floats(ty, bytes).filter(|x| x.is_finite());
    let total = bytes.len() / ty.size();
    let (mut least, mut greatest, mut sum, mut n) = (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0usize);
    for x in finite() {
        (least, greatest, sum, n) = (least.min(x), greatest.max(x), sum + x, n + 1);
    }
    let others = if n < total { format!("  {} not finite", total - n) } else { String::new() };
    if n == 0 {
        return others.trim_start().to_owned();
    }
    let span = greatest - least;
    if span == 0.0 {
        return format!("all {}{others}", rounded(least));
    }
    let mut bins = [0usize; BINS];
    for x in finite() {
        let at = ((x - least) / span * BINS as f64) as usize;
        bins[at.min(BINS - 1)] += 1;
    }
    let most = bins.iter().copied().max().unwrap_or(1).max(1);
    let sign = |&count: &usize| if count == 0 { ' ' } else { BARS[(count * BARS.len() - 1) / most] };
    let bars: String = bins.iter().map(sign).collect();
    let mean = sum / n as f64;
    format!("{} … {}  mean {}  ▕{bars}▏{others}", rounded(least), rounded(greatest), rounded(mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_but_exact() {
        let f = |x: f32| scalar(Ty::F32, u64::from(x.to_bits()), false);
        assert_eq!([f(0.1), f(1.0), f(1e20), f(1.5e-30), f(f32::INFINITY)], ["0.1", "1", "1e20", "1.5e-30", "inf"]);
        let short = |x: f64| scalar(Ty::F64, x.to_bits(), true);
        assert_eq!([short(1.0 / 3.0), short(123456.789), short(2e-9 / 3.0)], ["0.33333", "123457", "6.6667e-10"]);
    }

    #[test]
    fn distributions() {
        let all: Vec<u8> = (0..48).map(|i| i as f32).flat_map(f32::to_le_bytes).collect();
        assert_eq!(histogram(Ty::F32, &all), format!("0 … 47  mean 23.5  ▕{}▏", "█".repeat(24)));
        let nan = f32::NAN.to_le_bytes();
        assert_eq!(histogram(Ty::F32, &nan), "1 not finite");
    }
}
