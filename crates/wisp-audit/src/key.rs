//! The key that seals are made with, when there is one: who does not have it can change the record, but not seal it again.

use std::fmt;
use std::io::Read;
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use wisp_host::files;

use crate::AuditError;

/// The fewest bytes of a key.
pub const KEY_MIN: usize = 32;

/// The most bytes of a key's file that are read.
const MOST: u64 = 4096;

/// A secret that is in no record.
#[derive(Clone)]
pub struct Key(Vec<u8>);

impl Key {
    /// Reads a key from a file: all of its bytes but white space at the end.
    ///
    /// Errors: [`AuditError::File`] when it cannot be read or others can, [`AuditError::ShortKey`] below [`KEY_MIN`] bytes.
    pub fn read(path: &Path) -> Result<Self, AuditError> {
        let file = files::open_own(path)?;
        files::secret(&file, path)?;
        let mut bytes = Vec::new();
        let read = file.take(MOST).read_to_end(&mut bytes);
        read.map_err(|e| AuditError::read(path, e))?;
        Self::of(bytes.trim_ascii_end()).ok_or_else(|| AuditError::ShortKey {
            path: path.to_owned(),
        })
    }

    /// A key of these bytes; none when they are too few.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        (bytes.len() >= KEY_MIN).then(|| Self(bytes.to_owned()))
    }

    fn mac(&self, name: &str, text: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key may have any length");
        // Lengths first, so that no two pairs are the same bytes.
        mac.update(&(name.len() as u64).to_be_bytes());
        mac.update(name.as_bytes());
        mac.update(text.as_bytes());
        mac
    }

    /// The code of a text under a name: 64 hex digits.
    pub(crate) fn sign(&self, name: &str, text: &str) -> String {
        base16ct::lower::encode_string(&self.mac(name, text).finalize().into_bytes())
    }

    /// Whether a code is the one of this text, in the same time for every wrong one.
    pub(crate) fn vouches(&self, name: &str, text: &str, code: &str) -> bool {
        let mut bytes = [0; 32];
        base16ct::lower::decode(code, &mut bytes)
            .is_ok_and(|code| self.mac(name, text).verify_slice(code).is_ok())
    }
}

/// Nothing of it is shown.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test writes a key's file")]

    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_code_is_of_its_text_its_name_and_its_key() {
        let key = Key::of(&[7; 32]).unwrap();
        let code = key.sign("s", "text");
        assert!(key.vouches("s", "text", &code));
        assert!(!key.vouches("st", "ext", &code));
        assert!(!key.vouches("s", "texT", &code));
        assert!(!key.vouches("s", "text", &code[..62]));
        assert!(!Key::of(&[8; 32]).unwrap().vouches("s", "text", &code));
        assert!(Key::of(&[7; 31]).is_none());
    }

    #[test]
    fn a_key_that_others_can_read_is_refused_with_the_chmod() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.key");
        std::fs::write(&path, format!("{}\n", "k".repeat(32))).unwrap();
        let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        for open in [0o644, 0o640, 0o602] {
            mode(open);
            let error = Key::read(&path).unwrap_err().to_string();
            assert!(error.contains("chmod 600"), "{error}");
        }
        mode(0o600);
        assert!(Key::read(&path).is_ok());
        std::fs::write(&path, "short\n").unwrap();
        let error = Key::read(&path).unwrap_err().to_string();
        assert!(error.contains("32 bytes"), "{error}");
    }
}
