//! The library's functions, run on the machine.

use super::functions::{BINARY, UNARY};
use spmdvm::{Fp, Module, Options, Value, Width};

/// A compiled module with an exported loop for every function, type and shape.
pub struct Library {
    module: Module,
}

/// A type whose functions are under test.
pub trait Number: Copy + Default {
    /// Its name in the language.
    const NAME: &'static str;
    /// An argument that is read.
    fn input(values: &[Self]) -> Value<'_>;
    /// An argument that is written.
    fn output(values: &mut [Self]) -> Value<'_>;
}

macro_rules! number {
    ($($ty:ty, $name:literal;)*) => {
        $(impl Number for $ty {
            const NAME: &'static str = $name;
            fn input(values: &[Self]) -> Value<'_> {
                Value::slice(values)
            }
            fn output(values: &mut [Self]) -> Value<'_> {
                Value::slice_mut(values)
            }
        })*
    };
}
number! { f32, "float"; f64, "double"; }

impl Library {
    /// Compiles the loops at a width.
    pub fn new(width: u32) -> Library {
        Library::compiled(Options { width: Width::new(width).unwrap(), ..Options::default() })
    }

    /// The same for the mode `fast`.
    pub fn fast(width: u32) -> Library {
        Library::compiled(Options { width: Width::new(width).unwrap(), fp: Fp::Fast, ..Options::default() })
    }

    fn compiled(options: Options) -> Library {
        let module = Module::compile("math.ispc", &source(), &options).unwrap_or_else(|error| panic!("{error}"));
        Library { module }
    }

    /// `name` of every element, with varying arguments.
    pub fn unary<T: Number>(&self, name: &str, x: &[T]) -> Vec<T> {
        let mut y = vec![T::default(); x.len()];
        self.run(&format!("{name}_{}", T::NAME), &[T::input(x), T::output(&mut y), count(x.len())]);
        y
    }

    /// `name` of every element, with uniform arguments.
    pub fn unary_uniform<T: Number>(&self, name: &str, x: &[T]) -> Vec<T> {
        let mut y = vec![T::default(); x.len()];
        self.run(&format!("{name}_{}_uniform", T::NAME), &[T::input(x), T::output(&mut y), count(x.len())]);
        y
    }

    /// `name` of every element, float16 as bits.
    pub fn unary_half(&self, name: &str, x: &[u16]) -> Vec<u16> {
        let mut y = vec![0u16; x.len()];
        self.run(&format!("{name}_float16"), &[Value::slice(x), Value::slice_mut(&mut y), count(x.len())]);
        y
    }

    /// `name` of every pair of elements.
    pub fn binary<T: Number>(&self, name: &str, x: &[T], y: &[T]) -> Vec<T> {
        let mut z = vec![T::default(); x.len()];
        let args = [T::input(x), T::input(y), T::output(&mut z), count(x.len())];
        self.run(&format!("{name}_{}", T::NAME), &args);
        z
    }

    fn run(&self, function: &str, args: &[Value<'_>]) {
        self.module.call(function, args).unwrap_or_else(|error| panic!("{function}: {error}"));
    }
}

fn count(n: usize) -> Value<'static> {
    Value::from(i32::try_from(n).unwrap())
}

/// The program: a loop for each function and type.
fn source() -> String {
    let mut text = String::new();
    for f in UNARY {
        let name = f.name;
        for ty in ["float", "double"] {
            text += &format!(
                "export void {name}_{ty}(const uniform {ty} x[], uniform {ty} y[], uniform int n) {{
                    foreach (i = 0 ... n) y[i] = {name}(x[i]);
                }}
                export void {name}_{ty}_uniform(const uniform {ty} x[], uniform {ty} y[], uniform int n) {{
                    for (uniform int i = 0; i < n; i++) y[i] = {name}(x[i]);
                }}\n"
            );
        }
        text += &format!(
            "export void {name}_float16(const uniform uint16 x[], uniform uint16 y[], uniform int n) {{
                foreach (i = 0 ... n) y[i] = intbits({name}(float16bits(x[i])));
            }}\n"
        );
    }
    for f in BINARY {
        let name = f.name;
        for ty in ["float", "double"] {
            text += &format!(
                "export void {name}_{ty}(const uniform {ty} x[], const uniform {ty} y[], uniform {ty} z[], uniform int n) {{
                    foreach (i = 0 ... n) z[i] = {name}(x[i], y[i]);
                }}\n"
            );
        }
    }
    text
}
