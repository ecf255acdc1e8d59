package import Playlist

/// Why the ring could not open its spool, or could not take a segment.
package enum RingError: Error, Equatable, Sendable {
    package enum Operation: String, Equatable, Sendable {
        case createDirectory, open, read, write, rename, remove, lock, list
    }

    /// A system call failed; `code` is errno.
    case system(Operation, path: String, code: Int32)
    /// Another process publishes into this directory.
    case spoolInUse(directory: String)
    /// `available`: bytes free on the file system. `needed`: bytes that had to be free: the file's own and the
    /// reserve that is never touched.
    case diskFull(directory: String, available: UInt64, needed: UInt64)
    /// `ring.m3u8` is not a playlist that can be read.
    case unreadableJournal(path: String, PlaylistError)
    /// `ring.m3u8` is a playlist, but not one that this version wrote; `found` is its format line, nil without one.
    case unknownJournalFormat(path: String, found: String?)
    /// Files in the spool bear numbers far behind the last that its journal tells of: so many segments are `lost`.
    case damagedJournal(path: String, lost: UInt64)
    /// A journal entry lacks an attribute of ours, or it has a value that cannot be read.
    case damagedJournalEntry(uri: String, attribute: String)
    /// EXTINF would be 0, or round to more than EXT-X-TARGETDURATION (RFC 8216 §4.3.3.1); 90 kHz ticks.
    case badDuration(Int64, maximum: Int64)
    /// Not a name that an init section may have in the spool.
    case badInitializationName(String)
    /// EXT-X-ENDLIST has been published; nothing may follow (RFC 8216 §6.2.1).
    case ended

    package var isDiskFull: Bool {
        if case .diskFull = self { true } else { false }
    }

    /// Trouble of the disk, whatever shall be written; not of what was to be written.
    package var isDiskError: Bool {
        if case .system = self { true } else { isDiskFull }
    }
}
