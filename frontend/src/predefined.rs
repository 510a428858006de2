//! What every program finds already there, beside the library: macros that it may test, and headers that it may include.
//!
//! Macros have the meaning that ISPC documents for them; what they say does not depend on the machine. There is no LLVM
//! here, so its version macros are not defined (which conditions read as 0).

use spmdvm_vm::Width;

/// Headers that every program may include: name and text.
pub const HEADERS: &[(&str, &str)] =
    &[("short_vec.isph", PART_OF_LIBRARY), ("stdlib.isph", PART_OF_LIBRARY), ("core.isph", PART_OF_LIBRARY)];

/// ISPC declares functions of short vectors in a header of their own, and has one for its library. Here both are always there.
const PART_OF_LIBRARY: &str = "#pragma once
// What ISPC declares here belongs to the library; nothing need be included for it.
";

/// The macros and their replacements; [`defines`] adds those that depend on the width.
const MACROS: &[(&str, &str)] = &[
    ("SPMDVM", "1"),
    // The language and its version.
    ("ISPC", "1"),
    ("ISPC_MAJOR_VERSION", "1"),
    ("ISPC_MINOR_VERSION", "31"),
    ("ISPC_UINT_IS_DEFINED", "1"),
    ("ISPC_ATTRIBUTE_SUPPORTED", "1"),
    // The target: that of which the widths and layouts are, whatever the machine.
    ("ISPC_TARGET_AVX2", "1"),
    ("ISPC_POINTER_SIZE", "64"),
    ("ISPC_MASK_BITS", "32"),
    ("TARGET_ELEMENT_WIDTH", "4"),
    ("ISPC_TARGET_HAS_FP16_SUPPORT", "1"),
    ("ISPC_TARGET_HAS_FP64_SUPPORT", "1"),
    ("ISPC_FP16_SUPPORTED", "1"),
    ("ISPC_FP64_SUPPORTED", "1"),
    // Numbers. The smallest float is the smallest normal one.
    ("PI", "3.1415926535"),
    ("INT8_MIN", "(-127 - 1)"),
    ("INT8_MAX", "127"),
    ("UINT8_MAX", "255U"),
    ("INT16_MIN", "(-32767 - 1)"),
    ("INT16_MAX", "32767"),
    ("UINT16_MAX", "65535U"),
    ("INT32_MIN", "(-2147483647 - 1)"),
    ("INT32_MAX", "2147483647"),
    ("UINT32_MAX", "4294967295U"),
    ("INT64_MIN", "(-9223372036854775807LL - 1)"),
    ("INT64_MAX", "9223372036854775807LL"),
    ("UINT64_MAX", "18446744073709551615ULL"),
    ("F16_MIN", "0x1p-14f16"),
    ("F16_MAX", "65504.0f16"),
    ("FLT_MIN", "0x1p-126f"),
    ("FLT_MAX", "0x1.fffffep+127f"),
    ("DBL_MIN", "0x1p-1022d"),
    ("DBL_MAX", "0x1.fffffffffffffp+1023d"),
];

/// The macros of a compilation for gangs of this width.
pub fn defines(width: Width) -> Vec<(String, String)> {
    let lanes = width.lanes().to_string();
    let all = MACROS.iter().copied().chain([("TARGET_WIDTH", lanes.as_str())]);
    all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
