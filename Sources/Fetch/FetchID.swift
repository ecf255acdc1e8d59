/// Identifies one fetch of a channel.
///
/// Numbers rise in the order in which a session asks, and each session of a channel has a range of its own.
package struct FetchID: Hashable, Comparable, Sendable {
    package let number: UInt64

    /// The size of a session's range: session `n` of a channel counts from `n * perSession`.
    package static let perSession: UInt64 = 1 << 40

    package init(number: UInt64) { self.number = number }

    package static func < (left: FetchID, right: FetchID) -> Bool { left.number < right.number }
}
