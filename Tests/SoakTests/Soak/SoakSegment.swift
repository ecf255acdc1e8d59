/// One segment of the channel as it is listed. All times are milliseconds since the channel began.
struct SoakSegment {
    /// Index of its programme in `SoakMaterial.all`, and which parts of that it is.
    let material: Int
    let parts: Range<Int>
    /// 90 kHz ticks, added to the clock of the material.
    let clock: Int64
    let start: Int
    let duration: Int
    /// EXT-X-DISCONTINUITY stands before it.
    let isTagged: Bool
    /// Another programme begins with it, whether that is said or not.
    let isSplice: Bool
    /// Number of the key that it is encrypted with.
    let key: Int?
    /// Lines before it: cue tags and date ranges.
    let marks: String
    /// Tagged segments up to it, itself included.
    let tagged: Int
    /// Pictures that bear a name.
    let named: Int
    /// What is wrong with it.
    var fault: SoakFault?

    /// When it is listed.
    var end: Int { start + duration }
}
