//! What differs between processors in how long instructions take. It decides between codes that do the same.

/// Which of several codes take less time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tuning {
    /// Whether the machine's own gathers and scatters take less time than its loads and stores lane by lane. Of 16 lanes a gather takes
    /// some 3 ns on Intel's processors, against 15 lane by lane; on AMD's up to Zen 4 it is the other way round, as it is where Intel's
    /// have been mended in microcode against reading by gathers what belongs to others.
    pub gathers: bool,
    /// Whether the machine is quick to compress a vector into memory. Intel's processors take some cycles; AMD's Zen 4 more than a hundred,
    /// where compressing in a register and a masked store take few.
    pub compressing_stores: bool,
}

impl Tuning {
    /// For the processor that this runs on.
    pub(super) fn of_this_machine() -> Tuning {
        Tuning { gathers: is_of_intel() && !are_gathers_mended(), compressing_stores: is_of_intel() }
    }

    /// For a processor of which nothing is known.
    pub(super) const UNKNOWN: Tuning = Tuning { gathers: false, compressing_stores: false };
}

#[cfg(target_arch = "x86_64")]
fn is_of_intel() -> bool {
    let leaf = std::arch::x86_64::__cpuid(0);
    [leaf.ebx, leaf.edx, leaf.ecx] == [*b"Genu", *b"ineI", *b"ntel"].map(u32::from_le_bytes)
}

#[cfg(not(target_arch = "x86_64"))]
fn is_of_intel() -> bool {
    false
}

/// Returns whether Linux says that gathers have been slowed down.
fn are_gathers_mended() -> bool {
    let told = std::fs::read_to_string("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling");
    told.is_ok_and(|told| told.starts_with("Mitigation"))
}
