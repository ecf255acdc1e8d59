/// Defaults of samples without values of their own.
struct SampleDefaults: Equatable, Sendable {
    /// The one-based sample entry of the track.
    var descriptionIndex: UInt32 = 1
    var duration: UInt32 = 0
    var size: UInt32 = 0
    var flags: UInt32 = 0
}
