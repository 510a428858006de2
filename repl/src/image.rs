//! Pictures of arrays: as PNG files, and drawn in the terminal.

use crate::{Failure, files};
use spmdvm::Ty;
use std::path::Path;

/// A picture: rows of pixels of red, green and blue.
pub struct Image {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The pixels.
    pub pixels: Vec<[u8; 3]>,
    is_grey: bool,
}

/// Returns whether a path names a picture.
pub fn is_image(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"))
}

impl Image {
    /// A picture of an array of rows, or of rows of pixels with one, three or four numbers each. Bytes are as they are; other
    /// numbers are taken from 0 to 1, or from the least to the greatest if there are others.
    pub fn of(ty: Ty, shape: &[u64], numbers: &[f64]) -> Result<Image, String> {
        let (height, width, channels) = match *shape {
            [height, width] => (height as usize, width as usize, 1),
            [height, width, channels @ (1 | 3 | 4)] => (height as usize, width as usize, channels as usize),
            _ => {
                let lengths: Vec<String> = shape.iter().map(u64::to_string).collect();
                return Err(format!(
                    "a picture is made of an array of rows (such as float[240][320]) or of rows of pixels (uint8[240][320][3]), not of one with the lengths {}",
                    lengths.join(" × ")
                ));
            }
        };
        let byte = scale(ty, numbers);
        let pixel = |i: usize| match channels {
            1 => [byte(numbers[i]); 3],
            n => [0, 1, 2].map(|c| byte(numbers[i * n + c])),
        };
        Ok(Image { width, height, pixels: (0..width * height).map(pixel).collect(), is_grey: channels == 1 })
    }

    /// Writes it.
    pub fn save(&self, path: &Path) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(if self.is_grey { png::ColorType::Grayscale } else { png::ColorType::Rgb });
        encoder.set_depth(png::BitDepth::Eight);
        let data: Vec<u8> = match self.is_grey {
            true => self.pixels.iter().map(|pixel| pixel[0]).collect(),
            false => self.pixels.iter().flatten().copied().collect(),
        };
        let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&data));
        written.map_err(|e| Failure::usage(format!("cannot make a picture of it: {e}")))?;
        files::write(path, &bytes)
    }

    /// It in so many columns of the terminal: two rows of pixels in a line, or shades of grey without colours.
    pub fn draw(&self, columns: usize, color: bool) -> String {
        let width = self.width.min(columns).max(1);
        let height = (self.height * width).div_ceil(self.width.max(1)).next_multiple_of(2);
        let at = |x: usize, y: usize| {
            let (x, y) = (x * self.width / width, y * self.height / height);
            self.pixels.get(y * self.width + x).copied().unwrap_or_default()
        };
        let mut text = String::new();
        for y in (0..height).step_by(2) {
            for x in 0..width {
                let ([a, b, c], [d, e, f]) = (at(x, y), at(x, y + 1));
                match color {
                    true => text += &format!("\x1b[38;2;{a};{b};{c}m\x1b[48;2;{d};{e};{f}m▀"),
                    false => text.push(shade([a, b, c, d, e, f])),
                }
            }
            text += if color { "\x1b[0m\n" } else { "\n" };
        }
        text
    }
}

fn shade(parts: [u8; 6]) -> char {
    const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
    let mean = parts.iter().map(|&part| usize::from(part)).sum::<usize>() / parts.len();
    SHADES[mean * SHADES.len() / 256]
}

/// Makes bytes of numbers.
fn scale(ty: Ty, numbers: &[f64]) -> impl Fn(f64) -> u8 {
    let finite = numbers.iter().copied().filter(|x| x.is_finite());
    let (least, greatest) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let (from, to) = match ty {
        Ty::U8 => (0.0, 255.0),
        _ if least >= 0.0 && greatest <= 1.0 => (0.0, 1.0),
        _ if greatest > least => (least, greatest),
        _ => (least, least + 1.0),
    };
    // What is no number is black.
    move |x: f64| ((x - from) / (to - from) * 255.0).round().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_bytes() {
        let image = Image::of(Ty::F32, &[1, 3], &[0.0, 0.5, 1.0]).unwrap();
        assert_eq!(image.pixels, [[0; 3], [128; 3], [255; 3]]);
        let image = Image::of(Ty::I32, &[1, 3], &[-10.0, 0.0, 10.0]).unwrap();
        assert_eq!(image.pixels, [[0; 3], [128; 3], [255; 3]]);
        let image = Image::of(Ty::U8, &[1, 1, 3], &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(image.pixels, [[1, 2, 3]]);
        assert!(Image::of(Ty::F32, &[7], &[0.0; 7]).is_err());
    }

    #[test]
    fn pictures_in_the_terminal() {
        let image = Image::of(Ty::U8, &[2, 2], &[0.0, 255.0, 0.0, 255.0]).unwrap();
        assert_eq!(image.draw(80, false), " █\n");
        assert!(image.draw(80, true).contains("▀"));
    }
}
