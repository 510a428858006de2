//! Arrays in memory as cases describe and examine them.
//!
//! A [`Layout`] says where the scalars of an element lie; an [`Array`] is bytes with a layout.

use crate::expr::Value;
use half::f16;
use spmdvm::Ty;

/// A scalar within an element.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// How expectations name it: empty for an element that is a scalar, else such as `pos[1].x`.
    pub path: String,
    /// Its byte offset in the element.
    pub offset: u64,
    /// Its type.
    pub ty: Ty,
}

/// The element of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Bytes per element.
    pub size: u64,
    /// The scalars it consists of.
    pub leaves: Vec<Leaf>,
}

impl Layout {
    /// An element that is one scalar.
    pub fn scalar(ty: Ty) -> Layout {
        Layout { size: ty.size() as u64, leaves: vec![Leaf { path: String::new(), offset: 0, ty }] }
    }
}

/// An array argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Its element.
    pub layout: Layout,
    /// Its memory.
    pub bytes: Vec<u8>,
}

impl Array {
    /// An array of `len` zero elements.
    pub fn zeros(layout: Layout, len: usize) -> Array {
        let bytes = vec![0; len * layout.size as usize];
        Array { layout, bytes }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.layout.size.max(1) as usize
    }

    /// Returns whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bits of one scalar.
    pub fn bits(&self, index: usize, leaf: &Leaf) -> u64 {
        let at = index * self.layout.size as usize + leaf.offset as usize;
        let mut word = [0; 8];
        word[..leaf.ty.size()].copy_from_slice(&self.bytes[at..][..leaf.ty.size()]);
        u64::from_le_bytes(word)
    }

    /// Sets every scalar of an element.
    pub fn set(&mut self, index: usize, value: &Value) -> Result<(), String> {
        for leaf in self.layout.leaves.clone() {
            let at = index * self.layout.size as usize + leaf.offset as usize;
            let word = to_bits(value, leaf.ty)?.to_le_bytes();
            self.bytes[at..][..leaf.ty.size()].copy_from_slice(&word[..leaf.ty.size()]);
        }
        Ok(())
    }

    /// The scalar at `path` of an element.
    pub fn leaf(&self, path: &str) -> Result<&Leaf, String> {
        self.layout.leaves.iter().find(|leaf| leaf.path == path).ok_or_else(|| {
            let known: Vec<&str> = self.layout.leaves.iter().map(|leaf| leaf.path.as_str()).collect();
            format!("no scalar `{path}` in an element; there are {known:?}")
        })
    }

    /// The value at `path` of an element.
    pub fn value(&self, index: i128, path: &str) -> Result<Value, String> {
        let leaf = self.leaf(path)?;
        let inside = usize::try_from(index).ok().filter(|at| *at < self.len());
        let at = inside.ok_or_else(|| format!("index {index} in an array of {}", self.len()))?;
        Ok(from_bits(self.bits(at, leaf), leaf.ty))
    }
}

/// The bits an expected value has as an element of type `ty`: integers wrap, floats are rounded.
pub fn to_bits(value: &Value, ty: Ty) -> Result<u64, String> {
    let mask = u64::MAX >> (64 - 8 * ty.size());
    Ok(match ty {
        Ty::Bool => value.truth() as u64,
        Ty::F16 => f16::from_f64(value.as_f64()?).to_bits().into(),
        Ty::F32 => match value {
            Value::Int(v) => (*v as f32).to_bits().into(),
            value => (value.as_f64()? as f32).to_bits().into(),
        },
        Ty::F64 => value.as_f64()?.to_bits(),
        _ => value.as_int()? as u64 & mask,
    })
}

/// The value with these bits.
pub fn from_bits(bits: u64, ty: Ty) -> Value {
    match ty {
        Ty::Bool => Value::Int((bits & 0xff != 0) as i128),
        Ty::I8 => Value::Int((bits as i8).into()),
        Ty::I16 => Value::Int((bits as i16).into()),
        Ty::I32 => Value::Int((bits as i32).into()),
        Ty::I64 => Value::Int((bits as i64).into()),
        Ty::U8 => Value::Int((bits as u8).into()),
        Ty::U16 => Value::Int((bits as u16).into()),
        Ty::U32 => Value::Int((bits as u32).into()),
        Ty::U64 => Value::Int(bits.into()),
        Ty::F16 => Value::Float(f16::from_bits(bits as u16).to_f64()),
        Ty::F32 => Value::Float(f32::from_bits(bits as u32).into()),
        Ty::F64 => Value::Float(f64::from_bits(bits)),
    }
}

/// Returns whether these are the same element, all NaNs being equal.
pub fn same(a: u64, b: u64, ty: Ty) -> bool {
    let is_nan = |bits| matches!(from_bits(bits, ty), Value::Float(v) if v.is_nan());
    a == b || (ty.is_float() && is_nan(a) && is_nan(b))
}

/// The first scalar in which two arrays differ, as text.
pub fn first_difference(a: &Array, b: &Array) -> Option<String> {
    (0..a.len().max(b.len())).find_map(|index| {
        let leaf =
            a.layout.leaves.iter().find(|leaf| {
                index >= a.len().min(b.len()) || !same(a.bits(index, leaf), b.bits(index, leaf), leaf.ty)
            })?;
        let show = |array: &Array| array.value(index as i128, &leaf.path).map_or("nothing".into(), |v| v.to_string());
        let dot = if leaf.path.is_empty() { "" } else { "." };
        Some(format!("[{index}]{dot}{} is {} against {}", leaf.path, show(a), show(b)))
    })
}

/// A seeded sequence of numbers (SplitMix64), for `rand:SEED`.
pub fn random(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add((index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The `index`-th random value for elements of type `ty`: integers of all sizes, floats in −1000 … 1000.
pub fn random_value(seed: u64, index: u64, ty: Ty) -> Value {
    let word = random(seed, index);
    match ty {
        Ty::Bool => Value::Int((word & 1).into()),
        Ty::F16 | Ty::F32 | Ty::F64 => Value::Float((word >> 11) as f64 / (1u64 << 53) as f64 * 2000.0 - 1000.0),
        _ => Value::Int((word >> (word & 31)).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_wrap_and_round() {
        assert_eq!(to_bits(&Value::Int(-1), Ty::U16), Ok(0xffff));
        assert_eq!(to_bits(&Value::Int(1 << 40), Ty::I32), Ok(0));
        assert_eq!(to_bits(&Value::Int(16_777_217), Ty::F32), Ok(16_777_216f32.to_bits().into()));
        assert!(to_bits(&Value::Float(1.0), Ty::I32).is_err());
        assert_eq!(from_bits(0xff, Ty::I8), Value::Int(-1));
    }

    #[test]
    fn nans_are_equal_and_zeros_differ() {
        assert!(same(f32::NAN.to_bits().into(), 0xffc0_0001, Ty::F32));
        assert!(!same(0, 0x8000_0000, Ty::F32));
    }

    #[test]
    fn structs_have_leaves() {
        let leaf = |path: &str, offset, ty| Leaf { path: path.to_owned(), offset, ty };
        let layout = Layout { size: 8, leaves: vec![leaf("x", 0, Ty::F32), leaf("tag", 4, Ty::U8)] };
        let mut array = Array::zeros(layout, 3);
        let before = array.clone();
        array.set(1, &Value::Int(7)).unwrap();
        assert_eq!(array.value(1, "x"), Ok(Value::Float(7.0)));
        assert_eq!(array.value(1, "tag"), Ok(Value::Int(7)));
        assert!(array.value(3, "x").is_err());
        assert_eq!(first_difference(&before, &array).unwrap(), "[1].x is 0.0 against 7.0");
    }
}
