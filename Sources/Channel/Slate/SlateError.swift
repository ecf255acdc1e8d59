package import Splice

/// The reason why a file cannot be published as a slate.
package struct SlateError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// errno of the system call that failed.
        case system(Int32)
        /// The path names a directory, a pipe or a device.
        case notAFile
        /// The file was overwritten or truncated while it was read.
        case changed
        case media(MediaError)
    }

    package let reason: Reason
    package let path: String

    package init(_ reason: Reason, path: String) {
        self.reason = reason
        self.path = path
    }
}
