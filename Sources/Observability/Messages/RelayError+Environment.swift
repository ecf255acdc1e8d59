package import Capture
import Channel
import Fetch
package import HTTP
package import LiveRing
import Support
import Tracker

extension RelayError {
    /// The error for the operator behind an untyped error.
    package init(unexpected error: any Error) {
        self =
            switch error {
            case let error as RelayError: error
            case let error as ChannelError: RelayError(error)
            case let error as CaptureError: RelayError(error)
            case let error as FetchError: RelayError(TrackerError(error, url: error.url))
            default: RelayError(.internalError, "\(error)", advice: "Please report it")
            }
    }

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

    package init(_ error: HTTPServerError) {
        let message =
            switch error {
            case .addressInUse(let host, let port): "\(host):\(port) is in use by another program"
            case .addressNotAvailable(let host, _): "No interface of this machine has the address \(host)"
            case .permissionDenied(let host, let port):
                "Listening on \(host):\(port) needs a privilege that this process lacks"
            case .unknownHost(let host): "\(host.quoted) is no address to listen on"
            case .cannotListen(let host, let port, let code): "Cannot listen on \(host):\(port) (errno \(code))"
            }
        self.init(
            .cannotListen, message, advice: "Choose another --port (0 lets the system choose) or --listen")
    }

    package init(_ error: CaptureError) {
        let advice =
            switch error.reason {
            case .unreadable, .malformedIndex, .foreignPath:
                "Give a directory with an index.json and the body files that it names"
            case .unwritable: "Free disk space, correct the directory's permissions, or give another directory"
            case .alreadyRecorded, .notEmpty: "Give a directory that is empty or does not exist yet"
            case .emptyTimeRange: "Give a time range in which something was recorded"
            case .stream: "Republish it with: liverelay replay DIR"
            case .unloopable: "Play it once with: liverelay replay DIR --live"
            }
        let message = error.message.isEmpty ? "" : ": \(error.message)"
        self.init(.badCapture, "\(error.path) \(error.reason.message)\(message)", advice: advice)
    }
}

extension CaptureError.Reason {
    fileprivate var message: String {
        switch self {
        case .unreadable: "cannot be read"
        case .unwritable: "cannot be written"
        case .alreadyRecorded: "belongs to another recording"
        case .notEmpty: "is not empty"
        case .malformedIndex: "is no capture index"
        case .foreignPath: "is outside the capture"
        case .emptyTimeRange: "has nothing in that time range"
        case .stream: "is of an endless stream, which cannot be served again"
        case .unloopable: "is of a DASH manifest, which cannot restart at its end"
        }
    }
}
