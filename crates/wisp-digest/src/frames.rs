//! How a literal is told from others with the same gram: by the eight bytes around the gram.
//!
//! `error: `, `error[`, ` errors` and a dozen more have one gram in common, and a line with any of them asks for all.
//! So the bytes around a gram are loaded once, and each literal says what it expects of them; for most that is all of
//! the literal.

/// Bytes of a frame that stand before its gram.
const BEFORE: usize = 2;

/// The eight bytes around a gram, as a number.
#[inline]
pub(crate) fn frame(bytes: &[u8], gram: usize) -> u64 {
    let whole = gram
        .checked_sub(BEFORE)
        .and_then(|from| bytes.get(from..)?.first_chunk());
    whole.map_or_else(|| at_an_end(bytes, gram), |eight| u64::from_le_bytes(*eight))
}

/// The same where some of them are missing: zeros stand there.
#[cold]
fn at_an_end(bytes: &[u8], gram: usize) -> u64 {
    let mut eight = [0; 8];
    for (at, byte) in eight.iter_mut().enumerate() {
        let place = (gram + at).checked_sub(BEFORE);
        *byte = place.and_then(|place| bytes.get(place)).copied().unwrap_or(0);
    }
    u64::from_le_bytes(eight)
}

/// A gram by which a literal is known.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Entry {
    /// What of the literal is in the frame, and which bytes of the frame that is.
    frame: u64,
    mask: u64,
    pub literal: u16,
    /// Where the gram begins, counted from the literal's first byte.
    pub offset: u16,
    /// Whether all of the literal is in the frame.
    pub whole: bool,
}

impl Entry {
    /// The literal by its gram at `offset`.
    pub(crate) fn new(bytes: &[u8], literal: u16, offset: u16) -> Self {
        let mut frame = [0; 8];
        let mut mask = [0; 8];
        for (at, (byte, mask)) in frame.iter_mut().zip(&mut mask).enumerate() {
            let place = (at + usize::from(offset)).checked_sub(BEFORE);
            if let Some(expected) = place.and_then(|place| bytes.get(place)) {
                (*byte, *mask) = (*expected, 0xFF);
            }
        }
        Self {
            frame: u64::from_le_bytes(frame),
            mask: u64::from_le_bytes(mask),
            literal,
            offset,
            whole: mask.iter().filter(|byte| **byte != 0).count() == bytes.len(),
        }
    }

    /// Whether the literal may stand in a frame.
    #[inline]
    pub(crate) fn fits(&self, frame: u64) -> bool {
        (frame ^ self.frame) & self.mask == 0
    }
}
