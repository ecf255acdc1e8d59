import Glibc
import Playlist
package import Support

extension RelayError {
    package init(_ error: RingError) {
        switch error {
        case .spoolInUse(let directory):
            self.init(
                .cannotSpool, "\(directory) is the spool of another running liverelay",
                advice: "End that process, or give another --spool")
        case .unreadableJournal, .unknownJournalFormat, .damagedJournal:
            self.init(
                .cannotSpool, "The spool was not changed: \(error.message)",
                advice: "Give an empty directory as --spool, or move the old one away")
        default: self.init(.cannotSpool, "The spool cannot be used: \(error.message)", advice: error.remedy)
        }
    }
}

extension RingError {
    package var message: String {
        switch self {
        case .system(let operation, let path, let code): "\(operation.message) \(path): \(Self.systemMessage(of: code))"
        case .spoolInUse(let directory): "\(directory) is in use"
        case .diskFull(let directory, let available, let needed):
            "the disk of \(directory) is full (\(available >> 20) MiB free, \(needed >> 20) MiB needed)"
        case .unreadableJournal(let path, let error): "\(path) is no journal (line \(error.line): \(error.message))"
        case .unknownJournalFormat(let path, nil): "\(path) is no journal of liverelay"
        case .unknownJournalFormat(let path, let found?):
            "\(path) was written by another version (its format is \(found.quoted))"
        case .damagedJournal(let path, let lost): "\(path) does not list \(lost) segments that have files"
        case .damagedJournalEntry(let uri, let attribute): "the journal's entry \(uri) has a bad \(attribute)"
        case .badDuration(let ticks, let maximum):
            "a segment lasts \(PlaylistTicks.duration(ticks: ticks).secondsText), longer than \(PlaylistTicks.duration(ticks: maximum).secondsText)"
        case .badInitializationName(let name): "\(name) is no valid name of an init section"
        case .remote(let name, let message): "\(name) cannot be had (\(message))"
        case .ended: "the channel has ended"
        }
    }

    /// An action of the operator that makes the spool usable.
    var remedy: String {
        guard case .system(_, _, let code) = self else {
            return isDiskFull ? Self.freeSpace : "Give another --spool"
        }
        return switch code {
        case EACCES, EPERM: "Give another --spool, or correct the permissions of this one"
        case ENOSPC, EDQUOT: Self.freeSpace
        case EEXIST, ENOTDIR: "Give a directory as --spool, or a path that does not exist yet"
        case EROFS: "Give another --spool, or make its file system writable"
        default: "Give another --spool"
        }
    }

    private static let freeSpace = "Give another --spool, or free space on its disk"

    private static func systemMessage(of code: Int32) -> String {
        let text = unsafe String(cString: strerror(code))
        return "\(text.prefix(1).lowercased())\(text.dropFirst()) (errno \(code))"
    }
}

extension RingError.Operation {
    fileprivate var message: String {
        switch self {
        case .createDirectory: "cannot create the directory"
        case .list: "cannot list"
        default: "cannot \(rawValue)"
        }
    }
}
