//! Simulated boards in virtual time.
