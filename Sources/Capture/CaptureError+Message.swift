package import Support

extension RelayError {
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
