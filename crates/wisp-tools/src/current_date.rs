//! `current_date`: the date and time, so that a model does not guess them.

use jiff::tz::TimeZone;
use serde_json::Value;

use crate::arguments;
use crate::arguments::Arguments;
use crate::call::Call;
use crate::tool::{Descriptor, Returned, Running, Tool};

arguments! {
    /// What `current_date` is called with.
    pub struct CurrentDateArguments {
        time_zone: Option<String> = "timeZone", "Such as Europe/Paris (default: local)";
    }
}

/// The tool.
#[derive(Debug, Default, Clone, Copy)]
pub struct CurrentDate;

impl Tool for CurrentDate {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "current_date".into(),
            description: "The current date and time.".into(),
            parameters: CurrentDateArguments::PARAMETERS.into(),
            limits: "none".to_owned(),
            example: "What day is it in Tokyo?".into(),
            reads_only: true,
        }
    }

    fn run<'a>(&'a self, arguments: &'a Value, call: &'a mut Call<'_>) -> Running<'a> {
        Box::pin(async move {
            let arguments = match CurrentDateArguments::from_value(arguments) {
                Ok(arguments) => arguments,
                Err(e) => return Returned::error(e),
            };
            let named = arguments
                .time_zone
                .as_deref()
                .map(str::trim)
                .filter(|z| !z.is_empty());
            let zone = named
                .and_then(|z| TimeZone::get(z).ok())
                .unwrap_or_else(TimeZone::system);
            let now = call.services.clock.now().to_zoned_datetime(zone);
            let name = now.time_zone().iana_name().unwrap_or("local time").to_owned();
            Returned::text(format!("{} ({name})", now.strftime("%Y-%m-%dT%H:%M:%S%:z")))
        })
    }
}
