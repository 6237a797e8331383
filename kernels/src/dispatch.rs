//! The switchboard: which kernel runs an operation on this CPU.
//!
//! An operation is declared once with `kernels!` as a list of rows, best first. Each row names the features that its
//! kernel needs; from that one list come both the run-time detection and the `#[target_feature]` of the trampoline, so
//! they cannot differ: a kernel that enables more than its row lists does not compile (E0133).
//!
//! The first call of an operation picks the first row that the CPU has and the [cap] allows; from then on a call
//! costs one relaxed load and one indirect call. Without the feature `std` the features the crate was compiled for
//! decide.
//!
//! The environment variable `BATCHWISE_KERNEL` holds the highest [`Level`] that may be used, for example `portable` or
//! `avx2`; [`set_cap`] does the same from code.
//!
//! ```
//! use batchwise_kernels::crc32c;
//! for kernel in crc32c::update::available() {
//!     assert_eq!(crc32c::update::with(kernel, 0, b"123456789"), 0xE306_9283, "{}", kernel.name());
//! }
//! ```

use core::fmt;
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

/// One implementation of one operation; `F` is its function pointer type.
pub struct Kernel<F: 'static> {
    name: &'static str,
    features: &'static [&'static str],
    detected: fn() -> bool,
    suits: fn() -> bool,
    pub(crate) run: F,
}

impl<F> Kernel<F> {
    /// # Safety
    /// `run` may be called wherever `detected` returns true, with any arguments.
    pub(crate) const unsafe fn new(
        name: &'static str,
        features: &'static [&'static str],
        detected: fn() -> bool,
        suits: fn() -> bool,
        run: F,
    ) -> Self {
        Kernel { name, features, detected, suits, run }
    }

    /// Name of the kernel, unique within its operation.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The CPU features it needs, spelt as `std::arch` spells them; empty for the portable kernel.
    #[must_use]
    pub const fn features(&self) -> &'static [&'static str] {
        self.features
    }

    /// Whether this CPU has all of [`features`](Self::features).
    #[must_use]
    pub fn is_available(&self) -> bool {
        (self.detected)()
    }

    /// Whether it is meant for this CPU; one that is not runs as well, but another row is faster.
    #[must_use]
    pub fn suits(&self) -> bool {
        (self.suits)()
    }

    /// The lowest level under which this kernel may run.
    #[must_use]
    pub fn level(&self) -> Level {
        self.features.iter().map(|f| Level::of_feature(f)).max().unwrap_or(Level::PORTABLE)
    }
}

impl<F> fmt::Debug for Kernel<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name).field("features", &self.features).finish_non_exhaustive()
    }
}

/// The kernels of one operation, best first, and the one that is in use.
pub struct Table<F: 'static> {
    operation: &'static str,
    kernels: &'static [Kernel<F>],
    resolver: *mut (),
    current: AtomicPtr<()>,
}

// SAFETY: `resolver` is the address of a function, which nobody reads or writes through; the kernels may be shared if `F` may.
unsafe impl<F: Sync> Sync for Table<F> {}

impl<F: Copy> Table<F> {
    /// # Safety
    /// `F` is a function pointer, and `resolver` the address of a function of that type that calls [`Table::choose`] and
    /// forwards. The last of `kernels` runs on any CPU.
    pub(crate) const unsafe fn new(operation: &'static str, kernels: &'static [Kernel<F>], resolver: *mut ()) -> Self {
        assert!(size_of::<F>() == size_of::<*mut ()>(), "F must be a function pointer");
        Table { operation, kernels, resolver, current: AtomicPtr::new(resolver) }
    }

    /// The function in use; before the first call, the resolver.
    #[inline(always)]
    pub(crate) fn current(&self) -> F {
        let address = self.current.load(Ordering::Relaxed);
        // SAFETY: only `new`, `choose` and `reset` store here: the resolver, of type `F` by the promise made to `new`, or
        // the function of a kernel.
        unsafe { core::mem::transmute_copy::<*mut (), F>(&address) }
    }

    /// Picks the kernel for the calls to come and returns its function.
    #[cold]
    #[inline(never)]
    pub(crate) fn choose(&self) -> F {
        loop {
            let cap = cap();
            let run = self.best_under(cap).run;
            // SAFETY: a function pointer by the promise made to `new`, which has checked its size.
            let address = unsafe { core::mem::transmute_copy::<F, *mut ()>(&run) };
            self.current.store(address, Ordering::SeqCst);
            // A cap that another thread set meanwhile may have reset the table before this stored.
            if CAP.load(Ordering::SeqCst) == cap.0 {
                return run;
            }
        }
    }

    /// The kernel that a call uses now: the first that the CPU has, that suits it, and that the [cap] allows.
    pub fn best(&self) -> &'static Kernel<F> {
        self.best_under(cap())
    }

    fn best_under(&self, cap: Level) -> &'static Kernel<F> {
        self.available().find(|k| k.suits() && k.level() <= cap).unwrap_or(&self.kernels[self.kernels.len() - 1])
    }

    /// Every kernel compiled in, best first; the last one is portable.
    #[must_use]
    pub const fn all(&self) -> &'static [Kernel<F>] {
        self.kernels
    }

    /// Every kernel that this CPU can run, best first, whatever the cap.
    pub fn available(&self) -> impl Iterator<Item = &'static Kernel<F>> + use<F> {
        self.kernels.iter().filter(|k| k.is_available())
    }
}

/// A [`Table`] without its function type, so that tables can be listed.
pub trait Operation: Sync {
    /// Path of the operation within this crate, for example `crc32c::update`.
    fn name(&self) -> &'static str;
    /// Calls `each` with every kernel compiled in, best first.
    fn rows(&self, each: &mut dyn FnMut(Row));
    /// Name of the kernel that a call uses now.
    fn chosen(&self) -> &'static str;
    #[doc(hidden)]
    fn reset(&self);
}

/// What [`Operation::rows`] tells of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Name of the kernel.
    pub name: &'static str,
    /// The CPU features it needs.
    pub features: &'static [&'static str],
    /// Whether this CPU has them.
    pub available: bool,
    /// Whether the kernel is meant for this CPU.
    pub suits: bool,
    /// The lowest [`Level`] under which it may run.
    pub level: Level,
}

impl<F: Copy + Sync> Operation for Table<F> {
    fn name(&self) -> &'static str {
        // `module_path!` begins with the crate's name, which says nothing here.
        self.operation.split_once("::").map_or(self.operation, |(_, rest)| rest)
    }

    fn rows(&self, each: &mut dyn FnMut(Row)) {
        for k in self.kernels {
            each(Row {
                name: k.name,
                features: k.features,
                available: k.is_available(),
                suits: k.suits(),
                level: k.level(),
            });
        }
    }

    fn chosen(&self) -> &'static str {
        self.best().name
    }

    fn reset(&self) {
        self.current.store(self.resolver, Ordering::SeqCst);
    }
}

/// A step in the ladder of instruction sets of this architecture; a cap names one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(u8);

/// Each level with the features that first appear in it, lowest first.
#[cfg(target_arch = "x86_64")]
static LADDER: &[(&str, &[&str])] = &[
    ("portable", &[]),
    ("sse2", &["sse2"]),
    ("sse4.2", &["ssse3", "sse4.1", "sse4.2", "popcnt", "pclmulqdq"]),
    ("avx2", &["avx", "avx2", "bmi1", "bmi2", "lzcnt", "fma", "vpclmulqdq"]),
    ("avx512", &[]),
];
#[cfg(target_arch = "aarch64")]
static LADDER: &[(&str, &[&str])] =
    &[("portable", &[]), ("neon", &["neon"]), ("crc", &["crc"]), ("pmull", &["aes"]), ("eor3", &[])];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
static LADDER: &[(&str, &[&str])] = &[("portable", &[])];

impl Level {
    /// Plain Rust, no instruction set named.
    pub const PORTABLE: Level = Level(0);

    /// Every level of this architecture, lowest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Level> + ExactSizeIterator {
        (0..LADDER.len() as u8).map(Level)
    }

    /// Name of the level, as `BATCHWISE_KERNEL` spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        LADDER[usize::from(self.0)].0
    }

    /// The level of that name on this architecture.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Level> {
        Level::all().find(|l| l.name() == name)
    }

    /// The highest level there is on this architecture.
    #[must_use]
    pub fn highest() -> Level {
        Level(LADDER.len() as u8 - 1)
    }

    /// The highest level of a kernel in this crate that the CPU can run.
    #[must_use]
    pub fn detected() -> Level {
        let mut best = Level::PORTABLE;
        for operation in crate::OPERATIONS {
            operation.rows(&mut |row| {
                if row.available {
                    best = best.max(row.level);
                }
            });
        }
        best
    }

    /// Level in which a feature first appears; one that the ladder does not name belongs to the highest.
    fn of_feature(feature: &str) -> Level {
        Level::all().find(|l| LADDER[usize::from(l.0)].1.contains(&feature)).unwrap_or(Level::highest())
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

const UNREAD: u8 = u8::MAX;
static CAP: AtomicU8 = AtomicU8::new(UNREAD);

/// Name of the environment variable that caps the choice of kernels.
pub const CAP_VARIABLE: &str = "BATCHWISE_KERNEL";

/// The highest level that may be used now: the last [`set_cap`], else `BATCHWISE_KERNEL`, else the highest.
///
/// A value of the variable that names no level is passed over; [`Level::from_name`] tells a program which would be.
#[must_use]
pub fn cap() -> Level {
    match CAP.load(Ordering::SeqCst) {
        UNREAD => {
            let level = cap_from_environment().unwrap_or(Level::highest());
            // What another thread has set meanwhile stands.
            CAP.compare_exchange(UNREAD, level.0, Ordering::SeqCst, Ordering::SeqCst).map_or_else(Level, |_| level)
        }
        level => Level(level),
    }
}

#[cfg(feature = "std")]
fn cap_from_environment() -> Option<Level> {
    Level::from_name(&std::env::var(CAP_VARIABLE).ok()?)
}

#[cfg(not(feature = "std"))]
fn cap_from_environment() -> Option<Level> {
    None
}

/// Caps the choice of kernels for the calls to come, in all threads; `Level::highest()` lifts the cap.
///
/// All kernels of an operation give the same results, so a call that runs at the same time is merely slower or faster.
pub fn set_cap(level: Level) {
    CAP.store(level.0, Ordering::SeqCst);
    for operation in crate::OPERATIONS {
        operation.reset();
    }
}

#[cfg(all(feature = "std", target_arch = "x86_64"))]
macro_rules! detected { ($($feature:tt),+) => { $(std::arch::is_x86_feature_detected!($feature))&&+ }; }
#[cfg(all(feature = "std", target_arch = "aarch64"))]
macro_rules! detected { ($($feature:tt),+) => { $(std::arch::is_aarch64_feature_detected!($feature))&&+ }; }
#[cfg(not(feature = "std"))]
#[allow(unused_macros, reason = "architectures without rows do not ask")]
macro_rules! detected { ($($feature:tt),+) => { $(cfg!(target_feature = $feature))&&+ }; }

/// Declares an operation: a function, and a module of the same name with its `TABLE`, `available` and `with`.
///
/// Each row is `"arch" ["feature", ..] => module::function`; the module's name becomes the kernel's. With `if path`
/// behind the features it is chosen only where the function at `path` says that it suits the CPU.
macro_rules! kernels {
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident $args:tt -> $ret:ty {
            $($arch:literal $features:tt $(if $suits:path)? => $file:ident :: $kernel:ident,)*
            portable => $pfile:ident :: $pkernel:ident $(,)?
        }
    ) => {
        kernels!(@entry [$(#[$meta])*] [$vis] $name $args [$ret]);
        kernels!(@module [$vis] $name $args [$ret] [
            $(
                #[cfg(target_arch = $arch)]
                kernels!(@row $args [$ret] $features [$($suits)?] $file $kernel),
            )*
            // SAFETY: a safe function that needs no feature.
            unsafe { crate::dispatch::Kernel::new(stringify!($pfile), &[], || true, || true, $pfile::$pkernel) },
        ]);
    };
    (@entry [$(#[$meta:meta])*] [$vis:vis] $name:ident ($($arg:ident: $ty:ty),* $(,)?) [$ret:ty]) => {
        $(#[$meta])*
        #[inline]
        $vis fn $name($($arg: $ty),*) -> $ret {
            // SAFETY: the table hands out only kernels whose features the CPU has, a kernel's only obligation.
            unsafe { ($name::TABLE.current())($($arg),*) }
        }
    };
    (@module [$vis:vis] $name:ident ($($arg:ident: $ty:ty),* $(,)?) [$ret:ty] [$($rows:tt)*]) => {
        #[doc = concat!("The kernels of [`", stringify!($name), "()`](fn@", stringify!($name), ").")]
        $vis mod $name {
            use super::*;
            pub(crate) type Function = unsafe fn($($ty),*) -> $ret;
            fn resolve($($arg: $ty),*) -> $ret {
                // SAFETY: `choose` returns a kernel whose features the CPU has, a kernel's only obligation.
                unsafe { (TABLE.choose())($($arg),*) }
            }
            static ROWS: &[crate::dispatch::Kernel<Function>] = &[$($rows)*];
            /// The kernels, best first.
            // SAFETY: `resolve` is of that type and does so, and the last row is the portable one.
            pub static TABLE: crate::dispatch::Table<Function> = unsafe {
                crate::dispatch::Table::new(concat!(module_path!()), ROWS, resolve as Function as *mut ())
            };
            /// Every kernel that this CPU can run, best first.
            pub fn available() -> impl Iterator<Item = &'static crate::dispatch::Kernel<Function>> {
                TABLE.available()
            }
            /// The same operation by one given kernel.
            ///
            /// # Panics
            /// If this CPU cannot run `kernel`, which none from [`available`] does.
            pub fn with(kernel: &crate::dispatch::Kernel<Function>, $($arg: $ty),*) -> $ret {
                assert!(kernel.is_available(), "this CPU lacks a feature of kernel {}", kernel.name());
                // SAFETY: the CPU has the kernel's features, its only obligation.
                unsafe { (kernel.run)($($arg),*) }
            }
        }
    };
    (@row ($($arg:ident: $ty:ty),* $(,)?) [$ret:ty] [$($feature:tt),+] [$($suits:path)?] $file:ident $kernel:ident) => {
        {
            // Does not compile if the kernel needs a feature that the row does not list.
            $(#[target_feature(enable = $feature)])+
            fn run($($arg: $ty),*) -> $ret { $file::$kernel($($arg),*) }
            // SAFETY: a safe function but for its features, which are those that are detected.
            unsafe {
                crate::dispatch::Kernel::new(
                    stringify!($file), &[$($feature),+], || detected!($($feature),+), || true $(&& $suits())?, run,
                )
            }
        }
    };
}
