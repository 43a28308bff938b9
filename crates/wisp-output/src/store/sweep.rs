//! Removing old sessions' outputs.
/// x
pub struct Sweep;
/// x
pub struct SweepReport;
/// x
pub struct Swept;
