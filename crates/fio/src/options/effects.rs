//! Options that set what another one is the field of.

use super::Options;
use crate::value::quantity::percent;
use crate::value::{Misfit, Part, Scope, boolean, cpus};

/// `buffered=1` is `direct=0`.
pub(super) fn buffered(options: &mut Options, part: Option<Part<'_>>, scope: &mut Scope) -> Result<(), Misfit> {
    options.engine.direct = !boolean(part.unwrap_or(Part::whole("1")), scope)?;
    Ok(())
}

/// `rwmixwrite=30` is `rwmixread=70`.
pub(super) fn rwmixwrite(options: &mut Options, part: Option<Part<'_>>, scope: &mut Scope) -> Result<(), Misfit> {
    options.access.rwmixread = 100 - percent(part.unwrap_or(Part::whole("")), scope)?;
    Ok(())
}

/// `cpumask=6` is `cpus_allowed=1-2`.
pub(super) fn cpumask(options: &mut Options, part: Option<Part<'_>>, scope: &mut Scope) -> Result<(), Misfit> {
    options.run.cpus_allowed = cpus::mask(part.unwrap_or(Part::whole("")), scope)?;
    Ok(())
}
