//! Reads the machine code of the hot loops: no call, no vector register spilled to the stack.
//!
//! A hot loop is an innermost one: a backward jump with no other backward jump between its target and itself.

use std::io;
use std::process::{Command, Stdio};

/// How an operand on the stack looks, per architecture.
#[cfg(target_arch = "x86_64")]
const VECTOR_STACK: [&str; 3] = ["xmmword ptr [rsp", "ymmword ptr [rsp", "zmmword ptr [rsp"];
#[cfg(not(target_arch = "x86_64"))]
const VECTOR_STACK: [&str; 1] = [", [sp"];

struct Instruction {
    address: u64,
    text: String,
}

/// Prints a line for each kernel function in this program with its loops; returns whether all are clean.
pub(crate) fn check() -> io::Result<bool> {
    let output = Command::new("objdump")
        .args(["--disassemble", "--no-show-raw-insn", "--demangle", "-M", "intel"])
        .arg(std::env::current_exe()?)
        .stderr(Stdio::null())
        .output();
    let Ok(output) = output else {
        println!("objdump is not installed: nothing was looked at");
        return Ok(true);
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let mut good = true;
    let mut functions = 0;
    for block in text.split("\n\n") {
        let Some((head, body)) = block.trim_start().split_once('\n') else { continue };
        let Some(name) = head.split_once('<').and_then(|(_, n)| n.strip_suffix(">:")) else { continue };
        // Trampolines of the dispatch table carry the kernel inlined.
        if !name.contains("batchwise_kernels::") || name.contains("portable") || name.contains("::dispatch::") {
            continue;
        }
        let code: Vec<Instruction> = body.lines().filter_map(instruction).collect();
        let loops = innermost_loops(&code);
        if loops.is_empty() {
            continue;
        }
        functions += 1;
        for range in loops {
            let body = &code[range];
            let vectors = body.iter().filter(|i| is_vector(&i.text)).count();
            let calls = body.iter().filter(|i| i.text.starts_with("call") || i.text.starts_with("bl ")).count();
            let spills = body.iter().filter(|i| VECTOR_STACK.iter().any(|s| i.text.contains(s))).count();
            // Loops without vector code (tails, byte loops) may spill nothing of interest.
            if calls > 0 || (vectors > 0 && spills > 0) {
                good = false;
                println!(
                    "{name}: loop at {:x} of {} instructions has {calls} calls and {spills} spills",
                    body[0].address,
                    body.len()
                );
            }
        }
    }
    println!("{functions} kernel functions with loops were looked at");
    Ok(good && functions > 0)
}

fn instruction(line: &str) -> Option<Instruction> {
    let (address, text) = line.trim_start().split_once(':')?;
    Some(Instruction { address: u64::from_str_radix(address, 16).ok()?, text: text.trim().to_owned() })
}

fn is_vector(text: &str) -> bool {
    text.starts_with('v') || text.starts_with('p') && !text.starts_with("pop") && !text.starts_with("push")
}

fn innermost_loops(code: &[Instruction]) -> Vec<std::ops::Range<usize>> {
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    for (end, i) in code.iter().enumerate() {
        let is_jump = i.text.starts_with('j') || i.text.starts_with("b.") || i.text.starts_with("cb");
        let target = i.text.split_whitespace().nth(1).and_then(|t| u64::from_str_radix(t, 16).ok());
        let (true, Some(target)) = (is_jump, target) else { continue };
        let start = code.partition_point(|c| c.address < target);
        // Ends come in ascending order, so a loop found before with a later start lies inside this one.
        if start <= end && target <= i.address && !found.iter().any(|l| l.start >= start) {
            found.push(start..end + 1);
        }
    }
    found
}
