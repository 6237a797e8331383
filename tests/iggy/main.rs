//! Iggy: the vectors, and the verdicts of Iggy's own code on mutated ones.

mod build;
mod detect;
mod hostile;
mod log;
mod mutations;
mod request;
mod support;
mod user_headers;
mod validator;
mod vectors;
