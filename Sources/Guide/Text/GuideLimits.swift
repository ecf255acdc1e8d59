/// Sizes beyond which a guide, or a part of it, is not read.
package struct GuideLimits: Equatable, Sendable {
    /// Bytes of a guide as it is fetched.
    var fetchedBytes = 256 << 20
    /// Bytes of a guide as text.
    var textBytes = 2 << 30
    /// Bytes of one channel or program. A longer one is dropped.
    var elementBytes = 1 << 20
    /// Bytes of the id of a channel. An element with a longer one is dropped.
    var idBytes = 256
    /// Bytes of a name, whose rest is not read.
    var valueBytes = 1024
    /// Names of a channel. Further ones are not read.
    var names = 16
    /// Pairs of a channel of a guide and one of ours that it may be.
    var matches = 1_000_000
    /// Elements inside of each other in a program; those beyond are dropped.
    var depth = 16
    var channels = 200_000
    /// Programs of the guide that is written.
    var programs = 2_000_000
    /// Bytes of the guide that is written.
    var writtenBytes = 1 << 30
}
