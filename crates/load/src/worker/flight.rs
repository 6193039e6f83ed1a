//! Accesses under way, by their slots.

use flashmark_core::queue::{IoKind, Request};

use crate::accesses::{Access, Direction};

/// An access under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    pub access: Access,
    pub start_ns: u64,
    pub issued_ns: u64,
    pub odd: Odd,
}

/// What sets an access apart from most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Odd {
    /// What it is, for its completion.
    pub role: Role,
    pub intended_ns: Option<u64>,
    /// How many bytes of it earlier, shorter transfers moved.
    pub moved: u32,
    /// How often the system asked to try again.
    pub retries: u32,
    /// How often it was read anew because it came in pieces.
    pub rereads: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Counts in its direction.
    Plain,
    /// A read that is checked against the write of this number, or against any.
    Check(Option<u64>),
    /// A sync.
    Sync(IoKind),
}

impl Odd {
    /// Nothing: an access of the job, issued once, whenever it may.
    pub(super) const NOTHING: Self = Self { role: Role::Plain, intended_ns: None, moved: 0, retries: 0, rereads: 0 };

    /// Whether it goes to the engine for the first time.
    const fn is_first(&self) -> bool {
        self.moved == 0 && self.retries == 0 && self.rereads == 0
    }
}

impl InFlight {
    /// What it does, in a word.
    pub(super) const fn action(&self) -> &'static str {
        match (self.odd.role, self.access.direction) {
            (Role::Sync(_), _) => "sync",
            (Role::Check(_), _) => "verify",
            (_, Direction::Read) => "read",
            (_, Direction::Write) => "write",
            (_, Direction::Trim) => "trim",
        }
    }
}

/// What is kept of every access, in as few cache lines as can be: the kernel, which runs between two looks at it, needs them too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plain {
    offset: u64,
    start_ns: u64,
    issued_ns: u64,
    file: u32,
    bytes: u32,
    direction: Direction,
    /// Whether what is odd about it is kept beside it.
    is_odd: bool,
}

impl Plain {
    /// Whether it is of the same kind and size as another one, and took the same time up to now.
    #[inline]
    pub(super) const fn is_like(&self, other: &Self) -> bool {
        self.issued_ns == other.issued_ns
            && self.start_ns == other.start_ns
            && self.bytes == other.bytes
            && self.direction as u8 == other.direction as u8
    }

    #[inline]
    pub(super) const fn bytes(&self) -> u32 {
        self.bytes
    }

    #[inline]
    pub(super) const fn direction(&self) -> Direction {
        self.direction
    }

    #[inline]
    pub(super) const fn start_ns(&self) -> u64 {
        self.start_ns
    }

    #[inline]
    pub(super) const fn issued_ns(&self) -> u64 {
        self.issued_ns
    }

    #[inline]
    const fn access(&self) -> Access {
        Access { direction: self.direction, file: self.file, offset: self.offset, bytes: self.bytes }
    }
}

/// All slots' accesses. One that is over is there until the next one takes its slot.
#[derive(Debug)]
pub(super) struct Flights {
    plain: Box<[Plain]>,
    odd: Box<[Odd]>,
}

impl Flights {
    pub(super) fn new(slots: u32) -> Self {
        let plain = Plain {
            offset: 0,
            start_ns: 0,
            issued_ns: 0,
            file: 0,
            bytes: 0,
            direction: Direction::Write,
            is_odd: false,
        };
        let slots = slots as usize;
        Self { plain: vec![plain; slots].into_boxed_slice(), odd: vec![Odd::NOTHING; slots].into_boxed_slice() }
    }

    /// How many slots there are.
    #[inline]
    pub(super) const fn slots(&self) -> usize {
        self.plain.len()
    }

    /// An access of the job with nothing odd about it takes this slot.
    #[inline]
    pub(super) fn begin(&mut self, slot: u32, access: Access, start_ns: u64) {
        let Access { direction, file, offset, bytes } = access;
        self.plain[slot as usize] =
            Plain { offset, start_ns, issued_ns: start_ns, file, bytes, direction, is_odd: false };
    }

    /// One that was handed to an engine as a whole does.
    #[inline]
    pub(super) fn begin_issued(&mut self, request: &Request, start_ns: u64, issued_ns: u64) {
        let Request { slot, kind, file, offset, bytes } = *request;
        let direction = match kind {
            IoKind::Read => Direction::Read,
            IoKind::Trim => Direction::Trim,
            _ => Direction::Write,
        };
        self.plain[slot as usize] = Plain { offset, start_ns, issued_ns, file, bytes, direction, is_odd: false };
    }

    /// Another one does.
    #[inline]
    pub(super) fn begin_odd(&mut self, slot: u32, access: Access, start_ns: u64, odd: Odd) {
        self.begin(slot, access, start_ns);
        if odd != Odd::NOTHING {
            *self.odd_mut(slot) = odd;
        }
    }

    /// An access with nothing odd about it; nothing if there is.
    #[inline]
    pub(super) fn plain(&self, slot: u32) -> Option<&Plain> {
        let plain = &self.plain[slot as usize];
        (!plain.is_odd).then_some(plain)
    }

    /// What it accesses.
    #[inline]
    pub(super) fn access(&self, slot: u32) -> Access {
        self.plain[slot as usize].access()
    }

    /// All about it.
    #[inline]
    pub(super) fn get(&self, slot: u32) -> InFlight {
        let plain = &self.plain[slot as usize];
        InFlight { access: plain.access(), start_ns: plain.start_ns, issued_ns: plain.issued_ns, odd: self.odd(slot) }
    }

    #[inline]
    fn odd(&self, slot: u32) -> Odd {
        if self.plain[slot as usize].is_odd { self.odd[slot as usize] } else { Odd::NOTHING }
    }

    pub(super) fn odd_mut(&mut self, slot: u32) -> &mut Odd {
        let odd = &mut self.odd[slot as usize];
        if !std::mem::replace(&mut self.plain[slot as usize].is_odd, true) {
            *odd = Odd::NOTHING;
        }
        odd
    }

    /// Whether it goes to the engine for the first time.
    #[inline]
    pub(super) fn is_first(&self, slot: u32) -> bool {
        !self.plain[slot as usize].is_odd || self.odd[slot as usize].is_first()
    }

    /// It begins only now, if it was not submitted before.
    #[inline]
    pub(super) fn set_start(&mut self, slot: u32, ns: u64) {
        if self.is_first(slot) {
            self.plain[slot as usize].start_ns = ns;
        }
    }

    /// It was submitted now, if it was not before.
    #[inline]
    pub(super) fn set_issued(&mut self, slot: u32, ns: u64) {
        if self.is_first(slot) {
            self.plain[slot as usize].issued_ns = ns;
        }
    }

    /// What the engine does for it: all of it, or what earlier transfers left.
    #[inline]
    pub(super) fn request(&self, slot: u32) -> Request {
        let Plain { offset, file, bytes, direction, .. } = self.plain[slot as usize];
        let Odd { role, moved, .. } = self.odd(slot);
        let kind = match role {
            Role::Sync(kind) => kind,
            Role::Plain | Role::Check(_) => kind_of(direction),
        };
        Request { slot, kind, file, offset: offset + u64::from(moved), bytes: bytes - moved }
    }
}

/// What an engine does in a direction.
#[inline]
pub(super) const fn kind_of(direction: Direction) -> IoKind {
    match direction {
        Direction::Read => IoKind::Read,
        Direction::Write => IoKind::Write,
        Direction::Trim => IoKind::Trim,
    }
}
