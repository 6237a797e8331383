//! What is made from the definition of the arguments.

use crate::VALID;
use crate::args::{Args, Completions};
use clap::CommandFactory;
use std::io::{self, Write};

/// Prints a completion script.
pub(crate) fn completions(args: &Completions) -> io::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "batchwise", &mut script);
    io::stdout().write_all(&script)?;
    Ok(VALID)
}

/// Prints one manual page for the command and all its subcommands.
pub(crate) fn man() -> io::Result<u8> {
    let mut command = Args::command().disable_help_subcommand(true);
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        let man = clap_mangen::Man::new(subcommand.clone());
        writeln!(page, ".SH \"{}\"", subcommand.get_name().to_uppercase())?;
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
        man.render_extra_section(&mut page)?;
    }
    io::stdout().write_all(&page)?;
    Ok(VALID)
}
