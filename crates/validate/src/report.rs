//! Rows beside their predictions.

use crate::metric::Kind;
use crate::predict::Prediction;
use crate::quantity::Quantity;
use crate::summary::{Limits, Summary};
use crate::table::Row;

/// What a validation found.
#[derive(Clone, Debug)]
pub struct Report {
    /// All rows of all tables, in order.
    pub rows: Vec<RowReport>,
    /// What they come to.
    pub summary: Summary,
    /// What the user has to know: columns passed over, rows that run as they describe themselves.
    pub messages: Vec<String>,
}

/// A row beside its prediction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowReport {
    /// The published row.
    pub row: Row,
    /// Whether parameters of the board were fitted on it.
    pub fitted: bool,
    /// What the board predicts.
    pub predicted: Option<Quantity>,
    /// How far that is from what was published, in millionths of it.
    pub error_ppm: Option<i64>,
    /// Whether it is so short, and predicted so nearly, that it counts in no percentage.
    pub small: bool,
    /// Whether it was compared.
    pub verdict: Verdict,
    /// Why not.
    pub reason: Option<String>,
}

/// Whether a row was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was.
    Compared,
    /// Nothing could run.
    NotRun,
    /// It is not understood.
    NotCompared,
    /// What should have run failed.
    Failed,
}

impl Verdict {
    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compared => "compared",
            Self::NotRun => "not run",
            Self::NotCompared => "not compared",
            Self::Failed => "failed",
        }
    }
}

impl RowReport {
    fn new(row: &Row, fitted: bool, prediction: &Prediction, limits: &Limits) -> Self {
        let without = |verdict, why: &str| Self {
            row: row.clone(),
            fitted,
            predicted: None,
            error_ppm: None,
            small: false,
            verdict,
            reason: Some(why.to_owned()),
        };
        let predicted = match prediction {
            Prediction::NotRun(why) => return without(Verdict::NotRun, why),
            Prediction::NotCompared(why) => return without(Verdict::NotCompared, why),
            Prediction::Failed(why) => return without(Verdict::Failed, why),
            Prediction::Value(predicted) => *predicted,
        };
        let Some((published, error_ppm)) =
            row.published.and_then(|published| Some((published, published.error_ppm(predicted)?)))
        else {
            return without(Verdict::NotCompared, "its unit is not that of the prediction");
        };
        Self {
            row: row.clone(),
            fitted,
            predicted: Some(predicted),
            error_ppm: Some(error_ppm),
            small: row.kind() == Kind::Row && limits.is_small(published, predicted),
            verdict: Verdict::Compared,
            reason: None,
        }
    }

    /// Whether its error counts among those of measurements, or among those of phases.
    pub(crate) fn counts(&self, kind: Kind) -> Option<u64> {
        self.error_ppm.filter(|_| !self.small && self.row.kind() == kind).map(i64::unsigned_abs)
    }
}

/// Compares rows with predictions; the three lists are of one length, or the longer ones' ends are passed over.
#[must_use]
pub fn report(
    rows: &[Row],
    fitted: &[bool],
    predictions: &[Prediction],
    limits: Limits,
    messages: Vec<String>,
) -> Report {
    let all = rows.iter().zip(fitted).zip(predictions);
    let rows: Vec<RowReport> =
        all.map(|((row, fitted), prediction)| RowReport::new(row, *fitted, prediction, &limits)).collect();
    Report { summary: Summary::of(&rows, limits), rows, messages }
}
