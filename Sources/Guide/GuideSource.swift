import Fetch
import Glibc
import Support

/// A guide to be fetched, with the state of its fetches.
struct GuideSource: Equatable, Sendable {
    /// An http URL, or a file.
    let location: String
    /// The file with the newest body; its content was read once and is a guide.
    let path: String
    /// The ETag of the answer with that body, for conditional requests.
    var entityTag: String?
    var lastModified: String?
    /// When the body was last confirmed to be current; nil: no body was fetched.
    var fetched: ContinuousClock.Instant?
    /// When the guide is requested next.
    var due: ContinuousClock.Instant
    /// Failures since the body was last confirmed.
    var failures = 0
    var fault: GuideFault?
    var counts = GuideScanner.Counts()

    var isURL: Bool { location.contains("://") }
    var redactedLocation: String { isURL ? URIReference.redacted(location) : location }

    private static let (firstPause, longestPause) = (Duration.seconds(60), Duration.seconds(3600))

    /// - Parameter refresh: time until the next request; nil: no further request.
    mutating func recordSuccess(at now: ContinuousClock.Instant, refresh: Duration?) {
        (fetched, failures, fault) = (now, 0, nil)
        due = now + (refresh ?? .seconds(1 << 32))
    }

    /// Records a failure. The guide fetched before stays in use.
    mutating func recordFailure(_ fault: GuideFault, at now: ContinuousClock.Instant, refresh: Duration?) {
        self.fault = fault
        let pause = min(Self.firstPause * (1 << min(failures, 6)), Self.longestPause, refresh ?? Self.longestPause)
        failures += 1
        due = now + max(pause, Self.firstPause)
    }
}

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

    /// The fault as a sentence without its full stop.
    var message: String {
        switch self {
        case .unreadable(let code): "it cannot be stored or read: \(unsafe String(cString: strerror(code)))"
        case .notRegular: "it is no regular file"
        case .unreachable(let reason): "it cannot be fetched: \(reason.message)"
        case .refused(let status): "its server answers with status \(status)"
        case .damaged: "its compressed content is damaged or incomplete"
        case .notAGuide: "it is no XMLTV guide: it has no channel and no programme"
        case .tooLarge: "it is too large"
        case .unknownEncoding(let name): "its encoding \(name.quoted) is unknown"
        case .canceled: "liverelay ends"
        }
    }
}
