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

/// Where dots are set first as it gets brighter: an ordered dither (Bayer, "An optimum method for two-level rendition of continuous-tone
/// pictures", 1973).
const DITHER: [[u16; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// The bits of the dots of a braille character, by row and column.
const DOTS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

impl Image {
    /// It in so many columns of the terminal, in dots, eight to a character: without colours, and finer than [`draw`](Self::draw).
    pub fn dots(&self, columns: usize) -> String {
        let width = self.width.min(2 * columns).max(1);
        let height = (self.height * width).div_ceil(self.width.max(1));
        let is_set = |x: usize, y: usize| {
            let at = y * self.height / height * self.width + x * self.width / width;
            let Some(pixel) = self.pixels.get(at).filter(|_| x < width && y < height) else { return false };
            let mean = pixel.iter().map(|&part| u16::from(part)).sum::<u16>() / 3;
            mean > DITHER[y % 4][x % 4] * 16 + 8
        };
        let mut text = String::new();
        for y in (0..height).step_by(4) {
            for x in (0..width).step_by(2) {
                let all = (0..4).flat_map(|row| (0..2).map(move |column| (row, column)));
                let bits =
                    all.filter(|&(row, column)| is_set(x + column, y + row)).map(|(row, column)| DOTS[row][column]);
                text.extend(char::from_u32(0x2800 + bits.sum::<u32>()));
            }
            text.push('\n');
        }
        text
    }

    /// A curve through the numbers of an array, white on black: so many pixels wide and high.
    pub fn plot(numbers: &[f64], width: usize, height: usize) -> Image {
        let width = width.min(numbers.len()).max(1);
        let byte = scale(Ty::F64, numbers);
        let row = |x: f64| (255 - usize::from(byte(x))) * (height - 1) / 255;
        let mut pixels = vec![[0; 3]; width * height];
        let mut last = None;
        for column in 0..width {
            let own = &numbers[column * numbers.len() / width..(column + 1) * numbers.len() / width];
            // From where the last column ended, so that the curve holds together.
            let rows: Vec<usize> = own.iter().filter(|x| x.is_finite()).map(|&x| row(x)).collect();
            let touched = || last.iter().chain(&rows).copied();
            let (Some(top), Some(bottom)) = (touched().min(), touched().max()) else { continue };
            if let Some(&end) = rows.last() {
                (top..=bottom).for_each(|y| pixels[y * width + column] = [255; 3]);
                last = Some(end);
            }
        }
        Image { width, height, pixels, is_grey: true }
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
    fn curves() {
        let image = Image::plot(&[0.0, 1.0, 2.0, 3.0], 8, 4);
        let rows: Vec<String> =
            image.pixels.chunks(4).map(|row| row.iter().map(|p| if p[0] > 0 { '#' } else { '.' }).collect()).collect();
        assert_eq!(rows, ["...#", "..##", ".##.", "##.."]);
        // Gaps, and more numbers than there is room for.
        let image = Image::plot(&[0.0, f64::NAN, 1.0], 3, 2);
        assert_eq!(image.pixels.iter().filter(|p| p[0] > 0).count(), 3);
        let many: Vec<f64> = (0..1000).map(|i| f64::from(i % 2)).collect();
        assert!(Image::plot(&many, 10, 4).pixels.iter().all(|p| p[0] > 0));
        assert_eq!(Image::plot(&[], 10, 4).width, 1);
    }

    #[test]
    fn pictures_in_the_terminal() {
        let image = Image::of(Ty::U8, &[2, 2], &[0.0, 255.0, 0.0, 255.0]).unwrap();
        assert_eq!(image.draw(80, false), " █\n");
        assert!(image.draw(80, true).contains("▀"));
        // Dots: the right column of each pair, then what does not fill a character.
        assert_eq!(image.dots(80), "⠘\n");
        let row: Vec<f64> = (0..16).map(f64::from).collect();
        let image = Image::of(Ty::I32, &[1, 16], &row).unwrap();
        assert_eq!(image.dots(80).chars().count(), 9);
        // Brighter is denser.
        let count = |value: f64| {
            let image = Image::of(Ty::U8, &[8, 8], &[value; 64]).unwrap();
            image.dots(80).chars().map(|c| (c as u32 & 0xff).count_ones()).sum::<u32>()
        };
        assert_eq!((count(0.0), count(255.0)), (0, 64));
        assert!((1..8).all(|level| count(f64::from(level) * 32.0) > count(f64::from(level - 1) * 32.0)));
    }
}
