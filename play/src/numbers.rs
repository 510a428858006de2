//! Numbers as the page gets them.

use serde_json::{Value as Json, json};
use spmdvm::Ty;
use spmdvm_oracle::number::{Number, shown, to_json};
use spmdvm_oracle::words::element_bits;

/// Most numbers of an array that are sent; of longer ones every second, third, … in each dimension that is drawn.
const MAX_NUMBERS: usize = 1 << 17;

/// Most elements that are shown as text.
const MAX_SHOWN: usize = 256;

/// The elements of an array.
pub struct Elements<'a> {
    /// Their type.
    pub ty: Ty,
    /// The lengths of the dimensions, outermost first.
    pub shape: &'a [u64],
    /// The elements.
    pub bytes: &'a [u8],
}

impl Elements<'_> {
    /// Their number.
    pub fn n(&self) -> usize {
        self.bytes.len() / self.ty.size()
    }

    fn number(&self, i: usize) -> Number {
        Number(self.ty, element_bits(self.ty, self.bytes, i))
    }

    /// What the page draws and lists: `{"type", "shape", "shown", "numbers", "every"}`. `numbers` are every so many (`every`) rows and
    /// columns of an array of rows (perhaps with several numbers per pixel), and every so many elements of another one.
    pub fn to_json(&self) -> Json {
        let n = self.n();
        let texts: Vec<String> = (0..n.min(MAX_SHOWN)).map(|i| shown(self.number(i))).collect();
        let (every, numbers) = self.thinned();
        json!({ "type": self.ty.name(), "shape": self.shape, "shown": texts, "every": every, "numbers": numbers })
    }

    /// The numbers that are sent, and of how many they are one, in each dimension.
    fn thinned(&self) -> (usize, Vec<Json>) {
        let number = |i: usize| to_json(self.number(i));
        let fewest = |fits: &dyn Fn(usize) -> bool| (1..).find(|&every| fits(every)).unwrap_or(1);
        match *self.shape {
            [rows, columns, ref pixel @ ..] if rows > 0 && columns > 0 && pixel.len() <= 1 => {
                let (rows, columns) = (rows as usize, columns as usize);
                let channels = pixel.first().map_or(1, |&n| n as usize);
                let sent = |every: usize| rows.div_ceil(every) * columns.div_ceil(every) * channels;
                let every = fewest(&|every| sent(every) <= MAX_NUMBERS || every >= rows.max(columns));
                let pixels = (0..rows)
                    .step_by(every)
                    .flat_map(|row| (0..columns).step_by(every).map(move |column| (row * columns + column) * channels));
                let all = pixels.flat_map(|first| (first..first + channels).map(number));
                (every, all.take(MAX_NUMBERS).collect())
            }
            _ => {
                let every = self.n().div_ceil(MAX_NUMBERS).max(1);
                (every, (0..self.n()).step_by(every).map(number).collect())
            }
        }
    }
}

/// Lanes of a mask as the page takes them: JavaScript's numbers have no 64 bits.
pub fn mask(lanes: u64) -> Json {
    json!([lanes as u32, (lanes >> 32) as u32])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_arrays_are_thinned() {
        let bytes = vec![0; 1000 * 2000];
        let json = Elements { ty: Ty::U8, shape: &[1000, 2000], bytes: &bytes }.to_json();
        let every = json["every"].as_u64().expect("a number") as usize;
        let numbers = json["numbers"].as_array().expect("numbers").len();
        assert!(every > 1 && numbers <= MAX_NUMBERS);
        assert_eq!(numbers, 1000usize.div_ceil(every) * 2000usize.div_ceil(every));
        let json = Elements { ty: Ty::U8, shape: &[2_000_000], bytes: &bytes }.to_json();
        assert_eq!(json["numbers"].as_array().expect("numbers").len(), 2_000_000usize.div_ceil(16));
    }

    #[test]
    fn numbers_that_are_none() {
        let bytes: Vec<u8> = [1.5, f32::NAN, f32::INFINITY].iter().flat_map(|x: &f32| x.to_le_bytes()).collect();
        let json = Elements { ty: Ty::F32, shape: &[3], bytes: &bytes }.to_json();
        assert_eq!(json["numbers"], json!([1.5, "nan", "inf"]));
        assert_eq!(json["shown"], json!(["1.5", "NaN", "inf"]));
    }
}
