/// Why a capture cannot be read or written.
package struct CaptureError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        case unreadable
        case unwritable
        /// The directory already holds an index; a recording never replaces another.
        case alreadyRecorded
        /// The directory holds something else.
        case notEmpty
        case malformedIndex
        /// A body is named outside of the capture's directory.
        case foreignPath
        /// Nothing was recorded in the stretch that was asked for.
        case emptyTimeRange
    }

    package let reason: Reason
    package let path: String
    /// In words, empty when the reason says it all.
    package let message: String

    package init(_ reason: Reason, path: String, message: String = "") {
        self.reason = reason
        self.path = path
        self.message = message
    }
}
