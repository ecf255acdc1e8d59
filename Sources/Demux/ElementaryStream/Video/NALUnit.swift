import Media

/// One NAL unit in a byte stream, as offsets, without its start code and trailing zeros.
struct NALUnit: Equatable, Sendable {
    /// The offset of the first zero before the unit; its start code is in between.
    let prefix: Int
    /// The offset of the NAL unit header.
    let start: Int
    let end: Int
}
