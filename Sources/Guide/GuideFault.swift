import Fetch

/// Why a guide cannot be used.
enum GuideFault: Error, Equatable {
    /// The file cannot be read or written; `errno`.
    case unreadable(errno: Int32)
    /// It is a directory, a device or a pipe.
    case notRegular
    case unreachable(FetchError.Reason)
    case refused(status: Int)
    /// The compressed content is damaged or ends too early.
    case damaged
    /// It has no channel and no program.
    case notAGuide
    case tooLarge
    case unknownEncoding(String)
    case canceled
}
