//! Reads the machine code of the hot loops: no call, no vector register spilled to the stack.
//!
//! A loop looked at is an innermost one: a backward jump with no other backward jump between its target and itself. Among
//! them are loops that are not hot: a turn of theirs is a whole frame or record, for which they call a kernel. Those calls
//! are named in [`WHOLE`]; every other call fails the check, above all that of a helper that was to be inlined.

use std::collections::{HashMap, HashSet};
use std::io;
use std::process::{Command, Stdio};

/// What loops over frames, chunks or records call once for each: where the function that holds the loop begins, and the
/// end of what it calls.
const WHOLE: &[(&str, &[&str])] = &[
    // A frame. Short ones are hashed out of line on purpose: in the kernel's instruction set the code is slower.
    ("xxh3::", &["xxh3::short::hash", "xxh3::short::middle", "::whole", "::oneshot", "xxh3::avx512::default"]),
    // A round of many frames.
    (
        "xxh3::avx512::many::",
        &["Round::fill", "Round::fill_ranges", "many::hash", "pairs::up_to_128", "pairs::up_to_240"],
    ),
    ("crc32c::", &["::side_by_side"]),
    ("crc32c::many", &["::update", "::state"]),
    ("crc32c::update", &["::state"]),
    // A chunk that stays in the first-level cache, copied and then checksummed.
    ("crc32c::copy", &["memcpy", "memmove", "::update", "::state"]),
    // A batch, the end of a batch, a record that the vector code does not read, a header of a record.
    ("varint::records::", &["avx512::walk", "State::rest", "::finish", "portable::steps", "Cursor::blob"]),
    // A pass, which ends once for many records, and what comes before a run of records that are alike.
    ("varint::records::", &["Chain<_>::new", "Chain<_>::drain", "Like::count", "alike::first", "alike::one_by_one"]),
];

struct Instruction {
    address: u64,
    text: String,
}

/// Prints a line for each loop that is not clean; returns whether all are.
pub(crate) fn check() -> io::Result<bool> {
    let program = std::env::current_exe()?;
    let objdump = |args: &[&str]| {
        let output = Command::new("objdump").args(args).arg(&program).stderr(Stdio::null()).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (Some(text), Some(relocations)) =
        (objdump(&["--disassemble", "--no-show-raw-insn", "--demangle", "-M", "intel"]), objdump(&["--dynamic-reloc"]))
    else {
        println!("objdump is not installed: nothing was looked at");
        return Ok(true);
    };
    let functions: Vec<(&str, u64, &str)> = text.split("\n\n").filter_map(function).collect();
    let names = names(&functions, &relocations);
    let (mut seen, mut over_frames, mut good) = (0, 0, true);
    for (name, _, body) in functions {
        // Trampolines of the dispatch table carry the kernel inlined.
        let Some(short) = name.strip_prefix("batchwise_kernels::") else { continue };
        if ["dispatch::", "selftest::"].iter().any(|room| short.starts_with(room)) || short.contains("portable") {
            continue;
        }
        let code: Vec<Instruction> = body.lines().filter_map(instruction).collect();
        let loops = innermost_loops(&code);
        seen += usize::from(!loops.is_empty());
        for range in loops {
            let body = &code[range.clone()];
            let calls = range.filter(|&i| is_call(&code[i].text)).map(|i| callee(&code, i, &names));
            // What never returns is no part of the loop, wherever the compiler has put the code.
            let calls: Vec<String> = calls.filter(|c| !never_returns(c)).collect();
            let is_whole = |callee: &String| {
                let own = WHOLE.iter().filter(|(from, _)| short.starts_with(from)).flat_map(|(_, callees)| *callees);
                own.into_iter().any(|whole| callee.split('@').next().is_some_and(|c| c.ends_with(whole)))
            };
            let strange: Vec<&String> = calls.iter().filter(|c| !is_whole(c)).collect();
            let spills = spills(body);
            over_frames += usize::from(!calls.is_empty() && strange.is_empty());
            // Around the call for a frame vectors have to be saved.
            if !strange.is_empty() || (spills > 0 && calls.is_empty()) {
                good = false;
                let (at, len) = (body[0].address, body.len());
                println!("{name}: loop at {at:x} of {len} instructions calls {strange:?} and spills {spills} vectors");
            }
        }
    }
    println!(
        "{seen} kernel functions with loops, of which {over_frames} loops call a whole kernel for each frame or record"
    );
    Ok(good && seen > 0)
}

/// Name, address and lines of a function in the output of objdump.
fn function(block: &str) -> Option<(&str, u64, &str)> {
    let (head, body) = block.trim_start().split_once('\n')?;
    let (address, name) = head.split_once(" <")?;
    Some((name.strip_suffix(">:")?, u64::from_str_radix(address, 16).ok()?, body))
}

/// What stands at an address: a function's name, also where a pointer to it is kept.
fn names(functions: &[(&str, u64, &str)], relocations: &str) -> HashMap<u64, String> {
    let mut names: HashMap<u64, String> = functions.iter().map(|&(name, at, _)| (at, name.to_owned())).collect();
    for line in relocations.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [at, _, value] = words[..] else { continue };
        let Ok(at) = u64::from_str_radix(at, 16) else { continue };
        let target = value.strip_prefix("*ABS*+0x").and_then(|v| u64::from_str_radix(v, 16).ok());
        let name = target.map_or(Some(value.to_owned()), |t| names.get(&t).cloned());
        if let Some(name) = name {
            names.insert(at, name);
        }
    }
    names
}

/// Whom the call at `i` calls; its text if that cannot be told.
fn callee(code: &[Instruction], i: usize, names: &HashMap<u64, String>) -> String {
    let text = &code[i].text;
    let operand = text.split_once(' ').map_or("", |(_, o)| o.trim());
    // Through a register: what was last loaded into it from a place with a name.
    let load = format!("{operand},QWORD PTR [rip+");
    let text = if operand.starts_with('r') {
        code[..i].iter().rev().map(|c| &c.text).find(|t| t.starts_with("mov") && t.contains(&load)).unwrap_or(text)
    } else {
        text
    };
    let address = match text.split_once("# ") {
        Some((_, place)) => place.split_whitespace().next(),
        None => operand.split_whitespace().next(),
    };
    let name = address.and_then(|a| u64::from_str_radix(a, 16).ok()).and_then(|a| names.get(&a));
    name.unwrap_or(text).clone()
}

fn is_call(text: &str) -> bool {
    text.starts_with("call") || text.starts_with("bl ") || text.starts_with("bl\t") || text.starts_with("blr")
}

fn never_returns(callee: &str) -> bool {
    let name = callee.rsplit("::").next().unwrap_or(callee);
    name.starts_with("panic")
        || name.ends_with("_fail")
        || name.ends_with("_failed")
        || name.starts_with("assert_failed")
}

fn instruction(line: &str) -> Option<Instruction> {
    let (address, text) = line.trim_start().split_once(':')?;
    Some(Instruction { address: u64::from_str_radix(address, 16).ok()?, text: text.trim().to_owned() })
}

/// How many vectors are stored to a fixed place on the stack and loaded from there again. A place that is computed is an
/// element of an array, and a constant that is only loaded costs no more there than elsewhere in memory.
fn spills(body: &[Instruction]) -> usize {
    #[cfg(target_arch = "x86_64")]
    let place = |text: &str| {
        let (_, place) = text.split_once("MMWORD PTR [rsp")?;
        place.split_once(']').map(|(at, _)| at.to_owned()).filter(|at| !at.contains(['r', '*']))
    };
    #[cfg(not(target_arch = "x86_64"))]
    let place = |text: &str| {
        let vector = text.split_whitespace().nth(1)?.starts_with(['q', 'v']);
        text.split_once(", [sp").filter(|_| vector).map(|(_, at)| at.to_owned())
    };
    let is_store = |text: &str| {
        text.split_once(' ')
            .is_some_and(|(_, operands)| operands.contains("PTR [rsp") && !operands.trim().starts_with(['x', 'y', 'z']))
            || text.starts_with("st")
    };
    let (mut stored, mut spilled) = (HashSet::new(), HashSet::new());
    // Twice around, for what is loaded at the top.
    for i in body.iter().chain(body) {
        match place(&i.text) {
            Some(at) if is_store(&i.text) => _ = stored.insert(at),
            Some(at) if stored.contains(&at) => _ = spilled.insert(at),
            _ => {}
        }
    }
    spilled.len()
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

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn code(text: &str) -> Vec<Instruction> {
        text.lines().filter_map(instruction).collect()
    }

    #[test]
    fn a_spill_is_stored_and_loaded_at_a_fixed_place() {
        let spill = "10: vmovdqu64 ZMMWORD PTR [rsp+0xd0],zmm6\n18: vpaddq zmm1,zmm2,ZMMWORD PTR [rsp+0xd0]";
        assert_eq!(spills(&code(spill)), 1);
        let across_turns = "10: vmovdqu64 zmm6,ZMMWORD PTR [rsp]\n18: vmovdqa64 ZMMWORD PTR [rsp],zmm6";
        assert_eq!(spills(&code(across_turns)), 1);
        let array = "10: vmovdqa64 ZMMWORD PTR [rsp+r10*4+0x440],zmm1\n18: vmovdqa64 zmm1,ZMMWORD PTR [rsp+0x440]";
        assert_eq!(spills(&code(array)), 0);
        let constant = "10: vpxor ymm1,ymm1,YMMWORD PTR [rsp+0x20]";
        assert_eq!(spills(&code(constant)), 0);
    }

    #[test]
    fn calls_have_names() {
        let names = HashMap::from([(0x100, "direct".to_owned()), (0x200, "kept".to_owned())]);
        let code = code(
            "10: mov rbx,QWORD PTR [rip+0x1f0]        # 200 <x>\n18: call rbx\n20: call 100 <y>\n28: call QWORD PTR [rax+0x20]",
        );
        assert_eq!(callee(&code, 1, &names), "kept");
        assert_eq!(callee(&code, 2, &names), "direct");
        assert_eq!(callee(&code, 3, &names), "call QWORD PTR [rax+0x20]");
        assert!(never_returns("core::slice::index::slice_index_fail") && !never_returns("direct"));
    }

    #[test]
    fn loops_are_found_innermost_first() {
        let code = code("10: nop\n11: nop\n12: jne 11\n14: jne 10\n16: ja 20\n20: ret");
        let found: Vec<_> = innermost_loops(&code).into_iter().map(|l| (l.start, l.end)).collect();
        assert_eq!(found, [(1, 3)]);
    }
}
