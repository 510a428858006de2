//! A campaign in a process that has a fault.

use super::Wanted;
use serde_json::json;
use spmdvm::jit::faults;
use spmdvm::{Engine, Options, Width};
use spmdvm_oracle::campaign::{Campaign, Coverage, Finding, Round, Settings, agree};
use spmdvm_oracle::compare::engine::OwnEngine;
use spmdvm_oracle::generate::{Config, Dialect, Feature};
use std::process::ExitCode;

/// Runs the campaign until it finds something, and writes a line before each program and one at the end.
pub fn look_for(fault: &str, wanted: &Wanted) -> ExitCode {
    if !fault.is_empty() {
        faults::plant(fault);
    }
    let mut campaign = Campaign::new(settings(wanted));
    while campaign.programs < wanted.programs {
        println!("{}", json!({ "programs": campaign.programs + 1, "places": faults::places() }));
        if let Some(finding) = next_program(&mut campaign) {
            let (how, program) = (finding.to_string(), &finding.case.text);
            let found =
                json!({ "programs": campaign.programs, "places": faults::places(), "found": how, "program": program });
            println!("{found}");
            return ExitCode::SUCCESS;
        }
    }
    println!("{}", json!({ "programs": campaign.programs, "places": faults::places(), "missed": true }));
    ExitCode::SUCCESS
}

fn next_program(campaign: &mut Campaign) -> Option<Box<Finding>> {
    let (case, plan) = campaign.begin();
    let mut seen = Coverage::default();
    let checked = agree::check(&case, &plan, &campaign.settings().options.clone(), &mut seen);
    match campaign.count(case, checked, &seen) {
        Round::Found(finding) => Some(finding),
        Round::Agree(_) | Round::Invalid | Round::NotComparable(..) => None,
    }
}

/// All that programs may contain, on all engines at all widths.
fn settings(wanted: &Wanted) -> Settings {
    let config = Config::of(Dialect::Spmdvm).sized(wanted.size);
    let config =
        [Feature::Traps, Feature::Mask, Feature::Aliases, Feature::Halves].into_iter().fold(config, Config::with);
    let own = OwnEngine::compiling();
    let engines = own.iter().map(|own| own.engine).filter(|engine| *engine != Engine::Interp);
    Settings {
        config,
        widths: Width::ALL.to_vec(),
        engines: engines.collect(),
        options: Options::default(),
        mutants: true,
        seed: wanted.seed,
    }
}
