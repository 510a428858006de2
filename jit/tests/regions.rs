//! Random regions: native code against the interpretation of the IR, on all that can be seen.

mod harness;

use harness::Host;
use harness::generate::Generator;
use harness::trees::trees;
use harness::values::Rng;
use spmdvm_jit::Backend;
use spmdvm_jit::backend::Executable;
use spmdvm_jit::clif::{Clif, Options};
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Region, verify};
use spmdvm_vm::types::Width;
use std::sync::Arc;

/// A random region, or one of random expressions.
fn region(host: &Host, seed: u64) -> Region {
    if seed.is_multiple_of(3) { trees(host, seed) } else { Generator::new(host, seed).run() }
}

fn compare(width: Width, seeds: std::ops::Range<u64>, native: &dyn Backend) {
    let mut host = Host::new(width);
    for seed in seeds {
        let region = region(&host, seed);
        verify(&region).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{region}"));
        let region = Arc::new(region);
        let codes: [Arc<dyn Executable>; 2] =
            [&Ir as &dyn Backend, native].map(|b| Arc::from(b.compile(region.clone()).unwrap()));
        let mut rng = Rng(!seed);
        for round in 0..3 {
            let input = host.random_input(&mut rng, round == 2);
            host.agree_codes(&region, &codes, &input);
        }
    }
}

fn widths(lanes: &[u32], first: u64, options: &Options) {
    random(lanes, first, &Clif::with(options.clone()).unwrap());
}

fn random(lanes: &[u32], first: u64, native: &dyn Backend) {
    let n = std::env::var("SPMDVM_RANDOM_REGIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    for &lanes in lanes {
        let width = Width::new(lanes).unwrap();
        compare(width, first + 1_000_000 * lanes as u64..first + 1_000_000 * lanes as u64 + n, native);
    }
}

#[test]
fn random_regions() {
    widths(&[1, 2, 4, 8, 16, 32, 64], 0, &Options::default());
}

#[test]
fn random_regions_optimised() {
    widths(&[4, 16], 10_000_000_000, &Options { optimise: true, ..Options::default() });
}

#[test]
fn random_regions_compiled_quickly() {
    widths(&[2, 16, 32], 20_000_000_000, &Options { quick: true, ..Options::default() });
}

#[test]
fn random_regions_in_wide_vectors() {
    for x86 in harness::each_x86() {
        random(&[1, 2, 4, 8, 16, 32, 64], 30_000_000_000, &*x86);
    }
}
