/// A text that no log, error, status or debugger output shows: its descriptions are "…".
package struct Secret: Hashable, Sendable {
    /// The text itself, for the request that needs it.
    package let value: String

    package init(_ value: String) { self.value = value }
}

extension Secret: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) { self.init(value) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "…" }
    package var debugDescription: String { "…" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
