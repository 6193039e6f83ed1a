//! Telling apart what wear levelling does for itself.

/// Is told when wear levelling works on its own account, so that the time of that work can be booked apart.
pub trait Observer {
    /// Own work begins (`true`) or ends (`false`): mounting, moving a sector, writing states, saving and restoring the
    /// neighbours of a small sector. The calls alternate and come in pairs, also when the flash fails in between.
    fn housekeeping(&mut self, begins: bool) {
        let _ = begins;
    }
}

impl Observer for () {}

impl<O: Observer> Observer for &mut O {
    fn housekeeping(&mut self, begins: bool) {
        O::housekeeping(self, begins);
    }
}
