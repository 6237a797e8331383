//! Which versions of the peers are linked in.

/// Version of the package in this workspace's Cargo.lock; empty if it is not there (a system function, or ourselves).
pub(crate) fn version(package: &str) -> String {
    let lock = include_str!("../../Cargo.lock");
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|l| *l != name);
    lines.nth(1).and_then(|l| l.strip_prefix("version = \"")?.strip_suffix('"')).unwrap_or_default().to_owned()
}
