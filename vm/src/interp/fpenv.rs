//! The floating-point environment: programs run with round-to-nearest, denormals kept and no exceptions unmasked, whatever
//! other libraries have set on the thread.
//!
//! On x86-64 that is the MXCSR register, on AArch64 FPCR. Other architectures are trusted to run in the default
//! environment, which Rust itself assumes.

/// Sets the default environment until dropped.
pub(crate) struct DefaultEnvironment {
    #[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code))]
    saved: u64,
}

#[cfg(target_arch = "x86_64")]
mod register {
    /// All exceptions masked, round to nearest, no flush to zero.
    pub const DEFAULT: u64 = 0x1f80;
    /// The exception flags do not influence results.
    pub const RELEVANT: u64 = !0x3f;

    #[inline]
    pub fn read() -> u64 {
        let mut value = 0u32;
        // SAFETY: stores MXCSR to a local.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut value, options(nostack, preserves_flags)) };
        value as u64
    }

    #[inline]
    pub fn write(value: u64) {
        let value = value as u32;
        // SAFETY: the value is the default or was read from MXCSR, so no reserved bit is set.
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &value, options(nostack, preserves_flags, readonly)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod register {
    pub const DEFAULT: u64 = 0;
    pub const RELEVANT: u64 = !0;

    #[inline]
    pub fn read() -> u64 {
        let value: u64;
        // SAFETY: reads FPCR.
        unsafe { std::arch::asm!("mrs {}, fpcr", out(reg) value, options(nomem, nostack, preserves_flags)) };
        value
    }

    #[inline]
    pub fn write(value: u64) {
        // SAFETY: the value is the default or was read from FPCR.
        unsafe { std::arch::asm!("msr fpcr, {}", in(reg) value, options(nomem, nostack, preserves_flags)) };
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod register {
    pub const DEFAULT: u64 = 0;
    pub const RELEVANT: u64 = 0;

    pub fn read() -> u64 {
        0
    }

    pub fn write(_: u64) {}
}

impl DefaultEnvironment {
    /// Saves the thread's environment and sets the default one.
    #[inline]
    pub fn enter() -> DefaultEnvironment {
        let saved = register::read();
        if (saved ^ register::DEFAULT) & register::RELEVANT != 0 {
            register::write(register::DEFAULT);
        }
        DefaultEnvironment { saved }
    }
}

impl Drop for DefaultEnvironment {
    #[inline]
    fn drop(&mut self) {
        if (self.saved ^ register::DEFAULT) & register::RELEVANT != 0 {
            register::write(self.saved);
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn flush_to_zero_is_lifted_and_put_back() {
        let before = register::read();
        register::write(before | 0x8040);
        let tiny = || black_box(f32::MIN_POSITIVE) * black_box(0.5);
        let inside = {
            let _guard = DefaultEnvironment::enter();
            tiny()
        };
        let after = register::read();
        register::write(before);
        assert!(inside > 0.0);
        assert_eq!(after & 0x8040, 0x8040);
    }
}
