//! The programs that the page offers to start from: those of `examples/`, each with a call.

use serde::Serialize;

/// A program with a call.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Example {
    /// Its name.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// The source.
    pub source: &'static str,
    /// The function that is called.
    pub entry: &'static str,
    /// The words for its parameters.
    pub arguments: &'static [&'static str],
    /// The number of lanes that suits it.
    pub width: u32,
}

/// Files that programs may include.
pub const HEADERS: &[(&str, &str)] = &[("small_sort.isph", include_str!("../../examples/crev/small_sort.isph"))];

macro_rules! examples {
    ($($name:literal $about:literal, $file:literal: $entry:literal($($word:literal),*) in $width:literal lanes;)*) => {
        /// The programs, the one to begin with first.
        pub const EXAMPLES: &[Example] = &[$(Example {
            name: $name,
            about: $about,
            source: include_str!(concat!("../../", $file)),
            entry: $entry,
            arguments: &[$($word),*],
            width: $width,
        }),*];
    };
}

examples! {
    "settle" "lanes leave a loop one after another", "play/page/settle.ispc":
        "settle"("a=[1.5, 20, 3, 0.5, 7, 44, 2, 12]", "n=8") in 8 lanes;
    "mandelbrot" "a picture; lanes escape at different times", "examples/mandelbrot.ispc":
        "mandelbrot"("x0=-2.8", "y0=-1.15", "x1=1.8", "y1=1.15", "width=192", "height=96", "limit=64", "counts=zeros:i32:96x192")
        in 16 lanes;
    "noise" "gradient noise: clouds", "examples/noise.ispc":
        "turbulence"("width=192", "height=128", "scale=4", "octaves=5", "image=zeros:f32:128x192") in 16 lanes;
    "ao" "ambient occlusion: rays that go different ways", "examples/ao.ispc":
        "ao"("width=96", "height=72", "samples=24", "image=zeros:f32:72x96") in 16 lanes;
    "stencil" "heat flows through a plate", "examples/stencil.ispc":
        "heat"("width=96", "height=64", "steps=40", "rate=0.2", "a=random:f32:64x96:1", "b=random:f32:64x96:1") in 16 lanes;
    "spmv" "a sparse matrix: gathers, and rows of different lengths", "examples/spmv.ispc":
        "spmv"("rows=8", "starts=[0, 1, 4, 6, 6, 11, 12, 14, 18]",
            "columns=[0, 1, 3, 5, 2, 7, 0, 1, 4, 5, 6, 5, 1, 6, 0, 2, 4, 7]", "values=ones:f32:18", "x=iota:f32:8", "y=zeros:f32:8")
        in 8 lanes;
    "prefix sum" "lanes that talk to each other", "examples/reduction.ispc":
        "prefix_sum"("n=40", "data=iota:i32:40", "out=zeros:i32:40") in 16 lanes;
    "bitonic sort" "a sort without divergence", "examples/bitonic_sort.ispc":
        "bitonic_sort"("n=64", "data=random:f32:64:7") in 16 lanes;
    "quicksort" "calls that put all lanes to work for one (crev)", "examples/crev/quicksort.ispc":
        "quicksort_crev"("a=random:i32:100:3", "n=100", "room=zeros:i32:100") in 16 lanes;
    "histogram" "counters of each lane's own, added up at the end", "examples/histogram.ispc":
        "histogram"("n=20000", "low=-1", "high=1", "data=random:f32:20000:5", "counts=zeros:i32:256") in 16 lanes;
    "n-body" "gravity: every body pulls on every other one", "examples/nbody.ispc":
        "nbody_step"("n=16", "dt=0.05", "softening=0.1", "mass=ones:f32:16", "position=random:f32:3x16:2", "velocity=zeros:f32:3x16")
        in 16 lanes;
    "saxpy" "the streaming kernel that everybody measures with", "examples/saxpy.ispc":
        "saxpy"("n=100", "a=2", "x=iota:f32:100", "y=ones:f32:100") in 16 lanes;
    "tasks" "the Mandelbrot set on all cores", "examples/mandelbrot_tasks.ispc":
        "mandelbrot_tasks"("x0=-2.8", "y0=-1.15", "x1=1.8", "y1=1.15", "width=192", "height=96", "limit=64", "rows=8",
            "counts=zeros:i32:96x192") in 16 lanes;
}
