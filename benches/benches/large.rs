//! How the time to compile grows with the size of programs: `cargo bench -p spmdvm-benches --bench large -- [NAME [N]]`.
//!
//! For each family of large programs whose name contains NAME the milliseconds at N, 2N and 4N parts, and how many times
//! as much the last is as the one before: 2 where time is linear.

use spmdvm::{Module, Options};
use spmdvm_benches::large::{Family, families, headers};
use std::io::Write as _;
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let wanted = args.first().map_or("", String::as_str);
    let n = args.get(1).and_then(|n| n.parse().ok()).unwrap_or(4000);
    println!("{:64} {:>9} {:>9} {:>9} {:>6}", "", n, 2 * n, 4 * n, "ratio");
    for family in families().filter(|family| family.name.contains(wanted)) {
        print!("{:64}", family.name);
        let times = [n, 2 * n, 4 * n].map(|n| {
            let time = milliseconds(family, n);
            print!(" {time:9.1}");
            let _ = std::io::stdout().flush();
            time
        });
        println!(" {:6.1}", times[2] / times[1]);
    }
}

fn milliseconds(family: &Family, n: usize) -> f64 {
    let text = (family.make)(n);
    let options = Options { headers: headers(), ..Options::default() };
    let start = Instant::now();
    let result = Module::compile(family.name, &text, &options);
    let time = start.elapsed().as_secs_f64() * 1e3;
    if let Err(e) = &result
        && family.error.is_none()
    {
        print!("\n{}\n", e.to_string().lines().take(12).collect::<Vec<_>>().join("\n"));
    }
    time
}
