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

    /// Threads of the pool begin with what the thread that starts them had set.
    #[test]
    fn tasks_run_in_the_default_environment() {
        let text = "func f(u0:f32) -> (u5) frame 64 {
              const u1:i32 = 16
              const u2:i32 = 1
              var u3:u64, u4:i32, u5:f32
              u3 = frame.addr 0
              launch t(u1, u2, u2, u3, u0)
              sync
              u5 = load.f32 [u3 + 60]
              ret
            }
            func t(u0:i32, u1:i32, u2:i32, u3:i32, u4:i32, u5:i32, u6:u64, u7:f32) task {
              const u8:f32 = 0.5
              var u9:f32
              u9 = mul.f32 u7, u8
              store.f32.i32 [u6 + u0*4], u9
              ret
            }";
        let program = crate::asm::assemble(text).unwrap_or_else(|e| panic!("{e:#?}"));
        let program = crate::verify(program).unwrap_or_else(|e| panic!("{e:#?}"));
        let before = register::read();
        register::write(before | 0x8040);
        // A number of threads that no other test asks for: the pool is started here.
        let limits = crate::Limits { threads: 7, ..crate::Limits::default() };
        let mut machine = crate::Machine::new(program, limits).expect("small");
        let tiny = f32::MIN_POSITIVE.to_bits() as u64;
        let result = machine.call(crate::FuncId(0), &[crate::Arg::Word(tiny)], 1).map(|r| r.word(0, 0));
        register::write(before);
        assert_eq!(result, Ok(tiny >> 1));
    }
}
