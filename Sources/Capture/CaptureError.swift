/// A capture that cannot be read or written.
package struct CaptureError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        case unreadable
        case unwritable
        /// The directory already holds an index; a recording never replaces another one.
        case alreadyRecorded
        /// The directory holds other files.
        case notEmpty
        case malformedIndex
        /// The index names a body file outside the capture's directory.
        case foreignPath
        /// No exchange was recorded in the requested time range.
        case emptyTimeRange
    }

    package let reason: Reason
    package let path: String
    /// Details, such as the system's error; empty if `reason` is sufficient.
    package let message: String

    package init(_ reason: Reason, path: String, message: String = "") {
        self.reason = reason
        self.path = path
        self.message = message
    }
}
