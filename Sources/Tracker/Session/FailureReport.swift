/// The last failure of a repeated request, with which the next failure is compared.
struct FailureReport: Equatable, Sendable {
    /// nil after a success.
    private(set) var last: TrackerError?

    /// Whether the last attempt did not fail in the same way.
    func isNew(_ error: TrackerError) -> Bool { !(last?.isEquivalent(to: error) ?? false) }

    /// Records a failure. Returns whether it is new.
    @discardableResult mutating func record(_ error: TrackerError) -> Bool {
        defer { last = error }
        return isNew(error)
    }

    mutating func clear() { last = nil }
}
