//! What tests of the debugger share: programs, and scripts for the console.

// Each test is a program of its own, and uses some of this.
#![allow(dead_code)]

use spmdvm::vm::Width;
use spmdvm::{Module, Options, Value};
use spmdvm_debug::{Console, Settings, open};
use std::sync::{Arc, Mutex};

/// Compiles a program for gangs of four.
pub fn module(source: &str) -> Module {
    let options = Options { width: Width::new(4).expect("a width"), ..Options::default() };
    Module::compile("test.ispc", source, &options).unwrap_or_else(|e| panic!("{}", e.render(false)))
}

/// What a console says to the lines of a script, as a person would see it.
pub fn session(source: &str, args: &[Value<'_>], script: &str) -> String {
    let module = module(source);
    let export = module.exports().last().expect("an export").clone();
    let printed = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&printed);
    let take = || std::mem::take(&mut *printed.lock().expect("no panic"));
    let print = move |text: &str| sink.lock().expect("no panic").push_str(text);
    let shown = open((&module, &export, args), Settings::default(), print, |session| {
        let mut console = Console::new(session, false);
        let mut shown = console.greeting();
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            shown += &format!("{}{line}\n", console.prompt());
            let answer = console.execute(line);
            shown += &take();
            shown += &answer.text;
            if answer.quits {
                break;
            }
        }
        shown
    });
    shown.unwrap_or_else(|e| panic!("{e}"))
}
