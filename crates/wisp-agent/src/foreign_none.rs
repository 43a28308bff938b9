//! What stands in the place of MCP servers where wisp is built without them (feature `mcp`).

use crate::conversation::Conversation;
use crate::protocol::NoteLevel;
use crate::turn::Turn;

/// No servers.
#[derive(Default)]
pub struct Foreign {}

impl Foreign {
    /// Says so when some are configured.
    pub(crate) fn start(conversation: &Conversation) -> Self {
        if conversation
            .config
            .mcp_servers()
            .iter()
            .any(|server| server.enabled)
        {
            let text = "this wisp was built without MCP, so the servers of mcp.servers are not started";
            conversation.events.note(NoteLevel::Warning, text);
        }
        Self {}
    }

    #[expect(clippy::unused_async, reason = "the other form of this waits")]
    pub(crate) async fn end(&mut self) {}
}

impl Conversation {
    #[expect(clippy::unused_async, reason = "the other form of this waits")]
    pub(crate) async fn see_servers(&mut self, _: &Turn<'_>) {}
}
