//! `spmdvm completions` and `spmdvm man`: what shells and manuals know of the command line, made of its grammar.

use crate::cli::Cli;
use crate::{Failure, files};
use clap::CommandFactory;
use clap_complete::Shell;
use std::path::Path;

/// Prints the completions for a shell.
pub fn completions(shell: Shell) {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "spmdvm", &mut text);
    print!("{}", String::from_utf8_lossy(&text));
}

/// Prints the manual page, or writes the pages of all subcommands to a folder.
pub fn man(folder: Option<&Path>) -> Result<(), Failure> {
    let Some(folder) = folder else {
        print!("{}", page(Cli::command(), "spmdvm")?);
        return Ok(());
    };
    std::fs::create_dir_all(folder).map_err(|e| files::unwritable(folder, &e))?;
    let whole = Cli::command();
    let mut pages = vec![("spmdvm".to_owned(), whole.clone())];
    let visible = whole.get_subcommands().filter(|command| !command.is_hide_set());
    pages.extend(visible.map(|command| (format!("spmdvm-{}", command.get_name()), command.clone())));
    for (name, command) in &pages {
        files::write(&folder.join(format!("{name}.1")), page(command.clone(), name)?.as_bytes())?;
    }
    println!("{}: {} pages; `man -l {}/spmdvm.1` shows the first", folder.display(), pages.len(), folder.display());
    Ok(())
}

fn page(command: clap::Command, name: &str) -> Result<String, Failure> {
    let name: &'static str = name.to_owned().leak();
    let mut text = Vec::new();
    let page = clap_mangen::Man::new(command.name(name));
    page.render(&mut text).map_err(|e| Failure::usage(format!("the manual page cannot be made: {e}")))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
