import Media

/// `tfhd` and `tfdt` of a `traf` (ISO/IEC 14496-12 §8.8.7, §8.8.12).
struct TrackFragmentHeader: Equatable, Sendable {
    /// The base of data offsets.
    enum Base: Equatable, Sendable {
        /// An offset in the file, of which a segment may be a part.
        case file(offset: UInt64)
        case moof
        /// The moof for the first traf, the end of the preceding data for any other.
        case previousData
    }

    let trackID: UInt32
    let base: Base
    /// Defaults of `tfhd`, else of `trex`.
    let defaults: SampleDefaults
    /// The decode time of the first sample; nil without `tfdt`.
    let decodeTime: UInt64?

    /// - Parameters:
    ///   - boxes: the boxes in the `traf`.
    ///   - defaults: the defaults of `trex` by track ID.
    init(_ boxes: [Box], _ defaults: [UInt32: SampleDefaults]) throws(MediaError) {
        var header = BoxFields(try boxes.require("tfhd").body)
        let flags = try header.versionAndFlags().flags
        trackID = try header.u32()
        if flags & 0x01 != 0 {
            base = .file(offset: try header.u64())
        } else {
            base = flags & 0x2_0000 != 0 ? .moof : .previousData
        }
        var values = defaults[trackID] ?? SampleDefaults()
        if flags & 0x02 != 0 { values.descriptionIndex = try header.u32() }
        if flags & 0x08 != 0 { values.duration = try header.u32() }
        if flags & 0x10 != 0 { values.size = try header.u32() }
        if flags & 0x20 != 0 { values.flags = try header.u32() }
        self.defaults = values
        decodeTime = try boxes.first("tfdt").map(Self.decodeTime)
    }

    private static func decodeTime(_ tfdt: Box) throws(MediaError) -> UInt64 {
        var fields = BoxFields(tfdt.body)
        return try fields.versionAndFlags().version == 1 ? fields.u64() : UInt64(fields.u32())
    }
}
