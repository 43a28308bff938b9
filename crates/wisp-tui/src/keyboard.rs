//! The keyboard as the loop sees it: blocks of bytes that a thread reads while the terminal is wisp's, taken apart into
//! keys and pastes. What is read and not yet taken survives that another program gets the terminal.

use std::io;
use std::os::fd::AsFd as _;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use wisp_term::keys::{Decoder, Typed};
use wisp_term::tty::Listener;

/// The keyboard.
#[derive(Debug)]
pub struct Keyboard {
    decoder: Decoder,
    to: UnboundedSender<Vec<u8>>,
    blocks: UnboundedReceiver<Vec<u8>>,
    listener: Option<Listener>,
}

impl Keyboard {
    /// Starts to read standard input. Errors: it cannot be read beside the loop.
    pub fn listen() -> io::Result<Self> {
        let (to, blocks) = unbounded_channel();
        let mut keyboard = Self {
            decoder: Decoder::with_escape(),
            to,
            blocks,
            listener: None,
        };
        keyboard.resume()?;
        Ok(keyboard)
    }

    /// Leaves the terminal's bytes to another program.
    pub fn pause(&mut self) {
        self.listener = None;
    }

    /// Reads again. Errors as [`Keyboard::listen`].
    pub fn resume(&mut self) -> io::Result<()> {
        if self.listener.is_none() {
            let to = self.to.clone();
            let terminal = io::stdin().as_fd().try_clone_to_owned()?;
            let take = move |block: &[u8]| to.send(block.to_vec()).is_ok();
            self.listener = Some(Listener::start(terminal, take)?);
        }
        Ok(())
    }

    /// The next block; an empty one says that the terminal is gone.
    pub async fn next(&mut self) -> Vec<u8> {
        self.blocks.recv().await.unwrap_or_default()
    }

    /// A block that has come already.
    pub fn waiting(&mut self) -> Option<Vec<u8>> {
        self.blocks.try_recv().ok()
    }

    /// Takes a block apart.
    pub fn take(&mut self, block: &[u8], now: Duration) -> Vec<Typed> {
        self.decoder.feed(block, now)
    }

    /// When [`Keyboard::silence`] has something to say.
    pub fn due(&self) -> Option<Duration> {
        self.decoder.due()
    }

    /// What it means that nothing came until now.
    pub fn silence(&mut self, now: Duration) -> Vec<Typed> {
        self.decoder.tick(now)
    }
}
