//! When something happened and which audit events hold it.
//!
//! This crate reads no clock and writes no log, so both come in with whatever is recorded.

use serde::{Deserialize, Serialize};

/// A moment, with the offset its clock time is shown in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Time {
    /// Milliseconds since 1970-01-01 UTC.
    pub millis: i64,
    /// Seconds east of UTC of the person's clock at that moment.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset: i32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(offset: &i32) -> bool {
    *offset == 0
}

impl Time {
    /// A moment shown in UTC.
    pub const fn utc(millis: i64) -> Self {
        Self { millis, offset: 0 }
    }

    /// `HH:MM:SS` on the person's clock.
    pub fn clock(self) -> String {
        let second = self
            .millis
            .div_euclid(1000)
            .saturating_add(i64::from(self.offset))
            .rem_euclid(86_400);
        format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
    }
}

/// What every recorded entry carries: its time and the audit events that hold its content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stamp {
    /// When it was recorded.
    pub time: Time,
    /// Ids of audit events, for example a prompt's `prompt` event.
    pub sources: Vec<String>,
}

impl Stamp {
    /// A stamp that names no audit event.
    pub const fn at(time: Time) -> Self {
        Self {
            time,
            sources: Vec::new(),
        }
    }

    /// The same stamp, naming one more audit event.
    #[must_use]
    pub fn from(mut self, event: impl Into<String>) -> Self {
        self.sources.push(event.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_time_follows_the_offset_and_wraps() {
        assert_eq!(Time::utc(0).clock(), "00:00:00");
        assert_eq!(
            Time {
                millis: 50_712_999,
                offset: 0
            }
            .clock(),
            "14:05:12"
        );
        assert_eq!(
            Time {
                millis: 0,
                offset: -3600
            }
            .clock(),
            "23:00:00"
        );
        assert_eq!(
            Time {
                millis: i64::MIN,
                offset: i32::MIN
            }
            .clock()
            .len(),
            8
        );
    }
}
