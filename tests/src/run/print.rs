//! What a call should print.

use super::call::{Names, Passed};
use crate::case::PrintPart;
use crate::expr::{Value, eval};

/// The text of an expected line.
pub fn expected_output(parts: &[PrintPart], passed: &Passed, width: u32) -> Result<String, String> {
    let mut line = String::new();
    for part in parts {
        match part {
            PrintPart::Text(text) => line.push_str(text),
            PrintPart::Value(expr) => line.push_str(&shown(&eval(expr, &Names { passed, i: None, lane: None })?)),
            PrintPart::Lanes(expr, mask) => {
                let mut lanes = Vec::new();
                for lane in 0..width {
                    let names = Names { passed, i: None, lane: Some(lane.into()) };
                    let value = shown(&eval(expr, &names)?);
                    let on = mask.as_ref().map_or(Ok(true), |mask| eval(mask, &names).map(|on| on.truth()))?;
                    lanes.push(if on { value } else { format!("(({value}))") });
                }
                line += &format!("[{}]", lanes.join(","));
            }
        }
    }
    Ok(line)
}

/// A value as `print` shows it.
fn shown(value: &Value) -> String {
    match value {
        Value::Float(v) if v.is_finite() => format!("{v:.6}"),
        Value::Float(v) if v.is_nan() => "nan".to_owned(),
        Value::Float(v) => if *v > 0.0 { "inf" } else { "-inf" }.to_owned(),
        other => other.to_string(),
    }
}
