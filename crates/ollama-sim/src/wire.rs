//! A response on its way out: headers with the first event, chunks by the chunker, and every way to lose it.

use crate::chunker::{Chunker, Cutting, Dressing};
use crate::http::{Connection, Request, reason};
use crate::script::{CutAt, Loss};

/// Why a connection is to be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    /// It was lost by script.
    Script,
    /// The client has gone.
    Client,
}

/// What a response was, for the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) status: Option<u16>,
    pub(crate) body_bytes: usize,
}

/// One response being written.
pub(crate) struct Wire<'c> {
    connection: &'c Connection,
    cutting: Cutting,
    dressing: Dressing,
    head_only: bool,
    /// Whether the connection is closed after this answer, and said to be.
    closes: bool,
    /// The method a wrong one should have been, for the `Allow` header.
    pub(crate) allow: Option<&'static str>,
    pub(crate) cut: Option<(CutAt, Loss)>,
    lines: usize,
    /// The last line's newline, held back in case it is the last one.
    held_newline: bool,
    pub(crate) written: Written,
}

impl<'c> Wire<'c> {
    pub(crate) fn new(
        connection: &'c Connection,
        request: &Request,
        chunker: Chunker,
        dressing: Dressing,
    ) -> Self {
        Self {
            connection,
            cutting: Cutting::new(chunker),
            dressing,
            head_only: request.method == "HEAD",
            closes: request.closes(),
            allow: None,
            cut: None,
            lines: 0,
            held_newline: false,
            written: Written::default(),
        }
    }

    /// Whether the status line has left.
    pub(crate) fn started(&self) -> bool {
        self.written.status.is_some()
    }

    /// A whole response of known length.
    pub(crate) async fn whole(
        &mut self,
        status: u16,
        content_type: Option<&str>,
        body: &[u8],
    ) -> Result<(), Closed> {
        let length = format!("Content-Length: {}\r\n", body.len());
        self.head(status, content_type, &length).await?;
        if self.head_only {
            return Ok(());
        }
        self.body(body, false).await
    }

    /// The head of a chunked response.
    pub(crate) async fn start(&mut self, status: u16, content_type: &str) -> Result<(), Closed> {
        self.head(status, Some(content_type), "Transfer-Encoding: chunked\r\n")
            .await
    }

    async fn head(&mut self, status: u16, content_type: Option<&str>, framing: &str) -> Result<(), Closed> {
        if let Some((CutAt::BeforeHeaders, how)) = self.cut {
            return Err(self.lose(how).await);
        }
        let kind = content_type
            .map(|t| format!("Content-Type: {t}\r\n"))
            .unwrap_or_default();
        let allow = self
            .allow
            .map(|method| format!("Allow: {method}\r\n"))
            .unwrap_or_default();
        let close = if self.closes { "Connection: close\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 {status} {}\r\n{allow}{kind}{framing}{close}\r\n",
            reason(status)
        );
        self.send(head.as_bytes()).await?;
        self.written.status = Some(status);
        if let Some((CutAt::AfterHeaders, how)) = self.cut {
            return Err(self.lose(how).await);
        }
        Ok(())
    }

    /// One line of a stream, without its newline.
    pub(crate) async fn line(&mut self, line: &str) -> Result<(), Closed> {
        let mut bytes = Vec::with_capacity(line.len() + 3);
        if std::mem::take(&mut self.held_newline) {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(line.as_bytes());
        match self.dressing {
            Dressing::Plain => bytes.push(b'\n'),
            Dressing::CrlfAndBlanks => bytes.extend_from_slice(b"\r\n\r\n"),
            Dressing::NoLastNewline => self.held_newline = true,
        }
        if let Some((CutAt::MidLine(n), how)) = self.cut
            && n == self.lines
        {
            let half = bytes.len() / 2;
            self.raw(&bytes[..half]).await?;
            self.flush().await?;
            return Err(self.lose(how).await);
        }
        self.raw(&bytes).await?;
        self.lines += 1;
        match self.cut {
            Some((CutAt::Line(n), how)) if n == self.lines => {
                self.flush().await?;
                Err(self.lose(how).await)
            }
            _ => Ok(()),
        }
    }

    /// Bytes of a stream, as they are.
    pub(crate) async fn raw(&mut self, bytes: &[u8]) -> Result<(), Closed> {
        for chunk in self.cutting.push(bytes) {
            self.body(&chunk, true).await?;
        }
        Ok(())
    }

    /// Sends what the chunker holds.
    pub(crate) async fn flush(&mut self) -> Result<(), Closed> {
        for chunk in self.cutting.flush() {
            self.body(&chunk, true).await?;
        }
        Ok(())
    }

    /// The clean end of a stream.
    pub(crate) async fn end(&mut self) -> Result<(), Closed> {
        self.flush().await?;
        self.send(b"0\r\n\r\n").await
    }

    /// Body bytes, up to the byte at which the connection is to be lost.
    async fn body(&mut self, bytes: &[u8], chunked: bool) -> Result<(), Closed> {
        let (bytes, lost) = match self.cut {
            Some((CutAt::Byte(n), how)) if self.written.body_bytes + bytes.len() >= n => {
                (&bytes[..n - self.written.body_bytes], Some(how))
            }
            _ => (bytes, None),
        };
        if !bytes.is_empty() {
            let mut framed = Vec::with_capacity(bytes.len() + 16);
            if chunked {
                framed.extend_from_slice(format!("{:x}\r\n", bytes.len()).as_bytes());
            }
            framed.extend_from_slice(bytes);
            if chunked {
                framed.extend_from_slice(b"\r\n");
            }
            self.send(&framed).await?;
            self.written.body_bytes += bytes.len();
        }
        match lost {
            Some(how) => Err(self.lose(how).await),
            None => Ok(()),
        }
    }

    async fn send(&self, bytes: &[u8]) -> Result<(), Closed> {
        self.connection.write(bytes).await.map_err(|_| Closed::Client)
    }

    /// Loses the connection.
    pub(crate) async fn lose(&self, how: Loss) -> Closed {
        match how {
            Loss::Fin => {}
            Loss::Reset => self.connection.reset_on_close(),
            // Ends only when the client gives up, which drops this future.
            Loss::Stall => std::future::pending::<()>().await,
        }
        Closed::Script
    }
}
