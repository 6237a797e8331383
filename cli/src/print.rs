//! What is made from the definition of the arguments.

use crate::VALID;
use crate::args::{Args, Completions};
use batchwise::kernels::dispatch;
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
    let whole = clap_mangen::Man::new(command.clone());
    whole.render_title(&mut page)?;
    whole.render_name_section(&mut page)?;
    whole.render_synopsis_section(&mut page)?;
    whole.render_description_section(&mut page)?;
    whole.render_options_section(&mut page)?;
    for subcommand in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        let man = clap_mangen::Man::new(subcommand.clone());
        let mut part = Vec::new();
        man.render_synopsis_section(&mut part)?;
        man.render_description_section(&mut part)?;
        man.render_options_section(&mut part)?;
        if subcommand.get_after_help().is_some() {
            man.render_extra_section(&mut part)?;
        }
        // The sections of a page of its own become parts of one section.
        let part = String::from_utf8_lossy(&part).replace(".SH EXTRA", ".SH NOTES").replace("\n.SH ", "\n.SS ");
        write!(page, ".SH \"{}\"\n{part}", subcommand.get_name().to_uppercase())?;
    }
    write!(page, ".SH ENVIRONMENT\n.TP\n{}\nThe highest level of kernels to use: ", dispatch::CAP_VARIABLE)?;
    let levels: Vec<_> = dispatch::Level::all().map(|level| level.name()).collect();
    writeln!(page, "{}. Without it, the highest that the CPU has.", levels.join(", "))?;
    whole.render_version_section(&mut page)?;
    io::stdout().write_all(&page)?;
    Ok(VALID)
}
