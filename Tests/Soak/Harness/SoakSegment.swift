/// An upstream segment. All times are milliseconds since the channel began.
struct SoakSegment {
    /// Index in `SoakMaterial.all`, and the parts of that material.
    let material: Int
    let parts: Range<Int>
    /// 90 kHz ticks, added to the clock of the material.
    let clock: Int64
    let start: Int
    let duration: Int
    /// Whether EXT-X-DISCONTINUITY precedes it.
    let isTagged: Bool
    /// Whether another program begins with it, tagged or not.
    let isSplice: Bool
    /// Number of its key; nil if it is not encrypted.
    let key: Int?
    /// Cue tags and date ranges before it.
    let tags: String
    /// Number of tagged segments up to and including this one.
    let tagCount: Int
    /// Number of frames with a `FrameID`.
    let identifiedFrames: Int
    /// Fault of the segment.
    var fault: SoakFault?

    /// Time at which it is listed.
    var end: Int { start + duration }
}
