//! Files of traces: lines of JSON, compressed if the name ends in `.gz`.

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

/// How files in the format of gzip begin.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// How many bytes are compressed at once.
const BUFFER: usize = 1 << 16;

/// A file that a trace is written to. Flushing completes it.
pub enum TraceFile {
    /// Lines of JSON.
    Plain(BufWriter<File>),
    /// The same, compressed.
    Gzip(BufWriter<GzEncoder<File>>),
}

impl TraceFile {
    /// Makes a file.
    pub fn create(path: &Path) -> io::Result<TraceFile> {
        let is = |ending: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending));
        if ["zst", "zstd", "xz", "bz2", "zip"].into_iter().any(is) {
            let message = "traces are compressed as .gz alone; give a name that ends in .jsonl.gz or .jsonl";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let file = File::create(path)?;
        Ok(match is("gz") {
            true => TraceFile::Gzip(BufWriter::with_capacity(BUFFER, GzEncoder::new(file, Compression::fast()))),
            false => TraceFile::Plain(BufWriter::new(file)),
        })
    }
}

impl Write for TraceFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            TraceFile::Plain(to) => to.write(bytes),
            TraceFile::Gzip(to) => to.write(bytes),
        }
    }

    /// Completes the file: a compressed one takes nothing afterwards.
    fn flush(&mut self) -> io::Result<()> {
        match self {
            TraceFile::Plain(to) => to.flush(),
            TraceFile::Gzip(to) => {
                to.flush()?;
                to.get_mut().try_finish()
            }
        }
    }
}

/// Opens a file of a trace, compressed or not.
pub fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    decompressed(BufReader::new(File::open(path)?))
}

/// The lines of a trace, compressed or not.
pub fn decompressed(mut from: impl BufRead + 'static) -> io::Result<Box<dyn BufRead>> {
    let is_compressed = from.fill_buf()?.starts_with(&GZIP);
    Ok(match is_compressed {
        true => Box::new(BufReader::new(MultiGzDecoder::new(from))),
        false => Box::new(from),
    })
}
