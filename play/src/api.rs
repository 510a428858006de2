//! What the page can ask: one row each, JSON in and JSON out.
//!
//! What is wrong with a program is an answer (`diagnostics`, `trap`); what is wrong with a request is an `error`.

use crate::check::{Program, check};
use crate::http::Response;
use crate::runs::{Call, Runs};
use crate::server::Settings;
use crate::stepping::{Question, Steppers, Wanted};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

/// What is asked, and what answers.
const TABLE: &[(&str, Handler)] = &[
    ("/api/check", |api, body| check(&parse::<Program>(body)?, &api.settings)),
    ("/api/run", |api, body| {
        let Named { id, what } = parse::<Named<Call>>(body)?;
        api.runs.run(&id, &what, &api.settings)
    }),
    ("/api/stop", |api, body| {
        let name = parse::<Name>(body)?.id;
        Ok(json!({ "stopped": api.runs.stop(&name) | api.steppers.stop(&name) }))
    }),
    ("/api/step/open", |api, body| {
        let Named { id, what } = parse::<Named<Call>>(body)?;
        api.steppers.open(&id, what, &api.settings)
    }),
    ("/api/step/show", |api, body| api.steppers.show(&parse::<Wanted>(body)?, &api.settings)),
    ("/api/step/why", |api, body| api.steppers.why(&parse::<Question>(body)?, &api.settings)),
    ("/api/step/close", |api, body| {
        api.steppers.close(parse::<Closed>(body)?.session);
        Ok(json!({}))
    }),
];

type Handler = fn(&Api, &[u8]) -> Result<Json, String>;

/// Answers what the page asks.
pub struct Api {
    settings: Settings,
    runs: Runs,
    steppers: Steppers,
}

/// Something with the page's name for it.
#[derive(Deserialize)]
struct Named<T> {
    id: String,
    #[serde(flatten)]
    what: T,
}

#[derive(Deserialize)]
struct Name {
    id: String,
}

#[derive(Deserialize)]
struct Closed {
    session: u64,
}

impl Api {
    /// With nothing running.
    pub fn new(settings: Settings) -> Api {
        Api { settings, runs: Runs::default(), steppers: Steppers::default() }
    }

    /// What programs run with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Answers a request.
    pub fn answer(&self, path: &str, body: &[u8]) -> Response {
        let Some((_, handler)) = TABLE.iter().find(|(known, _)| *known == path) else {
            return Response::json(404, &json!({ "error": format!("there is no `{path}`") }));
        };
        match handler(self, body) {
            Ok(answer) => Response::json(200, &answer),
            Err(error) => Response::json(400, &json!({ "error": error })),
        }
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| format!("the request is wrong: {error}"))
}
