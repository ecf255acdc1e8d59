/// Sizes beyond which a guide, or a part of it, is not read.
package struct GuideLimits: Equatable, Sendable {
    /// Bytes of a guide as it is fetched.
    package var fetchedBytes = 256 << 20
    /// Bytes of a guide as text.
    package var textBytes = 2 << 30
    /// Bytes of one channel or program. A longer one is dropped.
    package var elementBytes = 1 << 20
    /// Elements inside of each other in a program; those beyond are dropped.
    package var depth = 16
    /// Channels of a guide.
    package var channels = 200_000
    /// Programs of the guide that is written.
    package var programs = 2_000_000
    /// Bytes of the guide that is written.
    package var writtenBytes = 1 << 30

    package init() {}
}
