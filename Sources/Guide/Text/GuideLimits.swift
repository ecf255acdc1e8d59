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
    /// Bytes of a name. The rest of a longer name is not read.
    var valueBytes = 1024
    /// Names of a channel. Further ones are not read.
    var names = 16
    /// Pairs of a guide's channel and a matching channel of ours.
    var matches = 1_000_000
    /// Nested elements in a program. Deeper elements are dropped.
    var depth = 16
    var channels = 200_000
    /// Programs of the guide that is written.
    var programs = 2_000_000
    /// Bytes of the guide that is written.
    var writtenBytes = 1 << 30
}
