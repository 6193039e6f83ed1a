//! Why a call failed.

/// Why a call failed. The texts are for people; [`Error::code`] is the C implementation's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error<E> {
    /// The flash failed.
    #[error("the flash failed: {0:?}")]
    Flash(E),
    /// The configuration makes no volume, or the memory given does not fit it.
    #[error("{0}")]
    Config(crate::ConfigError),
    /// The memory given is smaller than the configuration needs.
    #[error("the buffers are smaller than the configuration needs (Config::buffer_bytes), or have no file descriptor")]
    Memory,
    /// There is no room, even after garbage collection.
    #[error("the volume is full")]
    Full,
    /// There is no such file.
    #[error("there is no such file")]
    NotFound,
    /// The position or size lies behind the end of the file.
    #[error("the position lies behind the end of the file")]
    EndOfFile,
    /// A page that the file's index points to is deleted.
    #[error("a page of the file is deleted; check the volume")]
    Deleted,
    /// A page that the file's index points to was not written completely.
    #[error("a page of the file was not written completely; check the volume")]
    NotFinal,
    /// A page that should be a part of an index is not.
    #[error("a page of the file's index is none; check the volume")]
    NotIndex,
    /// All file descriptors are in use.
    #[error("as many files are open as there are descriptors")]
    TooManyOpenFiles,
    /// The file was closed, or removed while it was open.
    #[error("the file is not open")]
    FileClosed,
    /// The handle is of another volume.
    #[error("the handle is of no file of this volume")]
    BadHandle,
    /// A page that should hold data is a part of an index.
    #[error("a page of the file's data is a part of an index; check the volume")]
    IsIndex,
    /// A page that the file's index points to is free.
    #[error("a page of the file is free; check the volume")]
    IsFree,
    /// A part of the index is another one than its place says.
    #[error("a page of the file's index is of another place; check the volume")]
    IndexSpanMismatch,
    /// A page of data is another one than its place in the index says.
    #[error("a page of the file's data is of another place; check the volume")]
    DataSpanMismatch,
    /// The index has no page where there should be one.
    #[error("the file's index has no page here; check the volume")]
    IndexRefFree,
    /// The index points to a lookup page.
    #[error("the file's index points to a lookup page; check the volume")]
    IndexRefLookup,
    /// The index points outside the volume.
    #[error("the file's index points outside the volume; check the volume")]
    IndexRefInvalid,
    /// The place of a part of the index is none.
    #[error("a part of the file's index is nowhere; check the volume")]
    IndexFree,
    /// The place of a part of the index is a lookup page.
    #[error("a part of the file's index would be in a lookup page; check the volume")]
    IndexLookup,
    /// The place of a part of the index is outside the volume.
    #[error("a part of the file's index would be outside the volume; check the volume")]
    IndexInvalid,
    /// The file was not opened for writing.
    #[error("the file is not open for writing")]
    NotWritable,
    /// The file was not opened for reading.
    #[error("the file is not open for reading")]
    NotReadable,
    /// A file of this name exists.
    #[error("a file of this name exists")]
    NameTaken,
    /// The flash holds no volume of this configuration: more than one block lacks the magic.
    #[error("the flash holds no SPIFFS volume of this configuration")]
    NotAVolume,
    /// No block holds deleted pages alone.
    #[error("no block holds deleted pages alone")]
    NoDeletedBlocks,
    /// A file of this name exists, and was to be created.
    #[error("the file exists")]
    FileExists,
    /// The page is not the start of a file.
    #[error("the page is not the start of a file")]
    NotAFile,
    /// The name does not fit.
    #[error("the name is longer than the volume's names can be")]
    NameTooLong,
    /// A name with a zero byte in it, which would be stored as another one.
    #[error("a name cannot contain a zero byte")]
    NameHasZero,
    /// Metadata of another length than the volume's.
    #[error("metadata has to have the length that the volume was configured with")]
    MetaLength,
    /// The position would lie before the start of the file.
    #[error("the position lies before the start of the file")]
    SeekBounds,
    /// Fewer than three blocks tell of a volume.
    #[error("a volume has at least three blocks")]
    TooFewBlocks,
    /// What was written earlier, and waited in the cache, could not be stored. The C implementation does not tell.
    #[error("data written earlier could not be stored, and are lost")]
    DataLost,
    /// What is on the flash contradicts itself in a way that the call cannot deal with.
    #[error("the volume contradicts itself; check it, or format it")]
    Corrupt,
}

impl<E> Error<E> {
    /// The number that the C implementation returns (`SPIFFS_ERR_...`), if it knows the error.
    #[must_use]
    pub const fn code(&self) -> Option<i32> {
        Some(match self {
            Self::Flash(_) | Self::Config(_) | Self::Memory | Self::NameHasZero | Self::MetaLength | Self::DataLost => {
                return None;
            }
            Self::Full => -10001,
            Self::NotFound => -10002,
            Self::EndOfFile => -10003,
            Self::Deleted => -10004,
            Self::NotFinal => -10005,
            Self::NotIndex => -10006,
            Self::TooManyOpenFiles => -10007,
            Self::FileClosed => -10008,
            Self::BadHandle => -10010,
            Self::IsIndex => -10011,
            Self::IsFree => -10012,
            Self::IndexSpanMismatch => -10013,
            Self::DataSpanMismatch => -10014,
            Self::IndexRefFree => -10015,
            Self::IndexRefLookup => -10016,
            Self::IndexRefInvalid => -10017,
            Self::IndexFree => -10018,
            Self::IndexLookup => -10019,
            Self::IndexInvalid => -10020,
            Self::NotWritable => -10021,
            Self::NotReadable => -10022,
            Self::NameTaken => -10023,
            Self::NotAVolume => -10025,
            Self::NoDeletedBlocks => -10029,
            Self::FileExists => -10030,
            Self::NotAFile => -10031,
            Self::TooFewBlocks => -10034,
            Self::NameTooLong => -10036,
            Self::SeekBounds => -10040,
            Self::Corrupt => -10050,
        })
    }
}
