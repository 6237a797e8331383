//! The constants of the algorithm.

pub(super) const PRIME32_1: u64 = 0x9E37_79B1;
pub(super) const PRIME32_2: u64 = 0x85EB_CA77;
pub(super) const PRIME32_3: u64 = 0xC2B2_AE3D;
pub(super) const PRIME64_1: u64 = 0x9E37_79B1_85EB_CA87;
pub(super) const PRIME64_2: u64 = 0xC2B2_AE3D_27D4_EB4F;
pub(super) const PRIME64_3: u64 = 0x1656_67B1_9E37_79F9;
pub(super) const PRIME64_4: u64 = 0x85EB_CA77_C2B2_AE63;
pub(super) const PRIME64_5: u64 = 0x27D4_EB2F_1656_67C5;
pub(super) const PRIME_MX1: u64 = 0x1656_6791_9E37_79F9;
pub(super) const PRIME_MX2: u64 = 0x9FB2_1C65_1E98_DF25;
