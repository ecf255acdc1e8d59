package import Playlist

/// The reason why the ring could not open its spool or publish a segment.
package enum RingError: Error, Equatable, Sendable {
    package enum Operation: String, Equatable, Sendable {
        case createDirectory, open, read, write, rename, remove, lock, list
    }

    /// A system call failed; `code` is errno.
    case system(Operation, path: String, code: Int32)
    /// Another process publishes into this directory.
    case spoolInUse(directory: String)
    /// The file system has `available` free bytes, less than the `needed` bytes of the file and the free reserve.
    case diskFull(directory: String, available: UInt64, needed: UInt64)
    /// `ring.m3u8` cannot be parsed as a playlist.
    case unreadableJournal(path: String, PlaylistError)
    /// `ring.m3u8` is a playlist that this version did not write; `found` is its format line, nil without one.
    case unknownJournalFormat(path: String, found: String?)
    /// The spool has files with numbers far above the last number in its journal; `lost` segments are not recorded.
    case damagedJournal(path: String, lost: UInt64)
    /// A journal entry has no attribute of this name, or its value cannot be read.
    case damagedJournalEntry(uri: String, attribute: String)
    /// EXTINF would be 0 or round to more than EXT-X-TARGETDURATION (RFC 8216 §4.3.3.1); in 90 kHz ticks.
    case badDuration(Int64, maximum: Int64)
    /// The spool does not accept this name for an init section.
    case badInitializationName(String)
    /// A file that is in no spool could not be fetched.
    case remote(name: String, message: String)
    /// EXT-X-ENDLIST was published, so nothing may follow (RFC 8216 §6.2.1).
    case ended

    package var isDiskFull: Bool {
        if case .diskFull = self { true } else { false }
    }

    /// Whether the journal is not a playlist, or contains impossible values. The journal of another version is intact,
    /// and so is its spool.
    var isDamagedJournal: Bool {
        switch self {
        case .unreadableJournal, .unknownJournalFormat(_, found: nil), .damagedJournal, .damagedJournalEntry: true
        default: false
        }
    }

    /// Whether the disk caused the error, not the data to be written.
    package var isDiskError: Bool {
        if case .system = self { true } else { isDiskFull }
    }
}
