/// The reason why a session is over.
package enum SessionEnd: Equatable, Sendable {
    /// ENDLIST was reached, and everything before it delivered.
    case drained
    /// The upstream was silent for longer than the policy allows.
    case gaveUp(TrackerError)
    /// The upstream could not be opened, or needs keys that are not supported.
    case failed(TrackerError)
}
