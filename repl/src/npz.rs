//! `.npz` files: archives of named `.npy` arrays.

use crate::data::Content;
use crate::npy::{element_type, has_sizes, write_to};
use crate::{Failure, files};
use npyz::NpyHeader;
use spmdvm::Ty;
use std::fs::File;
use std::io::{Cursor, Read as _, Write as _};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Most bytes that an array of an archive may have.
const MAX_BYTES: u64 = 1 << 34;

/// The archive and the member that a path names (`data.npz`, `data.npz:x`); `None` if it is no archive.
pub fn member_of(path: &Path) -> Option<(&Path, Option<&str>)> {
    let text = path.to_str()?;
    match text.rsplit_once(".npz:") {
        Some((_, member)) => Some((Path::new(&text[..text.len() - member.len() - 1]), Some(member))),
        None => text.ends_with(".npz").then_some((path, None)),
    }
}

/// Reads a member of an archive.
pub fn read(path: &Path, member: &str) -> Result<Content, Failure> {
    let name = path.display();
    files::check(path)?;
    let file = File::open(path).map_err(|e| files::unreadable(path, &e))?;
    let mut archive = ZipArchive::new(file).map_err(|e| Failure::usage(format!("{name} is not a .npz file: {e}")))?;
    let names = archive.file_names().filter_map(|name| Some(name.ok()?.strip_suffix(".npy")?.to_owned()));
    let names: Vec<String> = names.collect();
    let Ok(found) = archive.by_name(&format!("{member}.npy")) else {
        let list = if names.is_empty() { "nothing".into() } else { names.join(", ") };
        return Err(Failure::usage(format!(
            "{name} has no array `{member}` (it has {list}); name one as in @{name}:NAME"
        )));
    };
    let mut bytes = Vec::new();
    let broken = |why: String| Failure::usage(format!("{name}: `{member}` is broken: {why}"));
    found.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|e| broken(e.to_string()))?;
    of_npy(&bytes).map_err(broken)
}

/// The array in the bytes of a `.npy` file.
fn of_npy(file: &[u8]) -> Result<Content, String> {
    if !has_sizes(file) {
        return Err("its header promises more bytes than there can be".into());
    }
    let mut cursor = Cursor::new(file);
    let header = NpyHeader::from_reader(&mut cursor).map_err(|e| e.to_string())?;
    let ty = element_type(&header.dtype())
        .ok_or_else(|| format!("it holds {}, which no program type matches", header.dtype().descr()))?;
    if header.order() != npyz::Order::C && header.shape().len() > 1 {
        return Err("it is in Fortran order; save it with np.ascontiguousarray".into());
    }
    let shape = header.shape().to_vec();
    let bytes = shape.iter().try_fold(ty.size() as u64, |bytes, &n| bytes.checked_mul(n));
    let data = &file[cursor.position() as usize..];
    let bytes = bytes.filter(|&bytes| bytes <= data.len() as u64).ok_or("it is cut off")? as usize;
    // Words, so that elements are aligned.
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    };
    let data = data[..bytes].chunks(8).map(word).collect();
    Ok(Content::Owned { ty, shape, data, bytes })
}

/// An array to be written: its name, type, shape and bytes.
pub type Member<'a> = (&'a str, Ty, &'a [u64], &'a [u8]);

/// Writes an archive of these arrays.
pub fn write(path: &Path, members: &[Member<'_>]) -> Result<(), Failure> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    let mut attempt = || -> std::io::Result<()> {
        for (name, ty, shape, bytes) in members {
            archive.start_file(format!("{name}.npy"), options).map_err(std::io::Error::other)?;
            let mut npy = Vec::new();
            write_to(&mut npy, *ty, shape, bytes)?;
            archive.write_all(&npy)?;
        }
        Ok(())
    };
    attempt().map_err(|e| files::unwritable(path, &e))?;
    let whole = archive.finish().map_err(|e| files::unwritable(path, &std::io::Error::other(e)))?;
    files::write(path, &whole.into_inner())
}

#[cfg(test)]
mod tests {
    use super::member_of;
    use std::path::Path;

    #[test]
    fn members() {
        let of = |text: &str| {
            member_of(Path::new(text)).map(|(path, member)| (path.display().to_string(), member.map(str::to_owned)))
        };
        assert_eq!(of("a.npz"), Some(("a.npz".into(), None)));
        assert_eq!(of("a.npz:x"), Some(("a.npz".into(), Some("x".into()))));
        assert_eq!(of("a.npy"), None);
    }
}
