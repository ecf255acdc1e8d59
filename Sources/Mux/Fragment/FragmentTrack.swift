package import Media

/// One `traf` of a stored segment: the times, the flags and the places of its samples.
/// Reads only what `FragmentWriter` writes: one `trun` in each `traf`, and data offsets from the `moof`. Numbers that
/// no channel publishes are errors, because a damaged disk may have changed the file.
/// channel publishes are errors: a disk may change a file.
package struct FragmentTrack: Equatable, Sendable {
    package struct Sample: Equatable, Sendable {
        /// In the track's timescale, like `compositionOffset`.
        package let duration: UInt32
        package let compositionOffset: Int32
        let flags: UInt32
        /// The position of the sample's bytes in the file.
        package let bytes: Range<Int>

        init(duration: UInt32, compositionOffset: Int32, flags: UInt32, bytes: Range<Int>) {
            (self.duration, self.compositionOffset) = (duration, compositionOffset)
            (self.flags, self.bytes) = (flags, bytes)
        }

        /// Creates a sample that is in no fragment.
        package init(duration: UInt32, compositionOffset: Int32, isRandomAccessPoint: Bool, byteCount: Int) {
            self.init(
                duration: duration, compositionOffset: compositionOffset,
                flags: isRandomAccessPoint ? FragmentWriter.syncFlags : FragmentWriter.nonSyncFlags,
                bytes: 0..<byteCount)
        }

        /// Whether decoding may begin with the sample.
        package var isRandomAccessPoint: Bool { FragmentWriter.isRandomAccessPoint(flags) }
    }

    /// The latest decode time, in either timescale: sums of times do not overflow.
    private static let latest: Int64 = 1 << 60

    package let id: UInt32
    /// Decode time of the first sample in the track's timescale, like every time in this type.
    package let decodeTime: Int64
    package private(set) var samples: [Sample] = []
    /// Whether the first sample is in a sample group `roll` (ISO/IEC 14496-12 §10.1).
    let beginsGradualRefresh: Bool

    /// - Parameter moof: `moof.start` is the index of the box in the file.
    /// - Returns: the tracks by track ID.
    package static func tracks(of moof: Box) throws(MediaError) -> [UInt32: FragmentTrack] {
        var tracks: [UInt32: FragmentTrack] = [:]
        for box in try moof.children() where box.type == "traf" {
            let track = try FragmentTrack(box.children(), from: moof.start)
            tracks[track.id] = track
        }
        return tracks
    }

    /// - Parameter base: the index of the `moof` in the file.
    private init(_ boxes: [Box], from base: Int) throws(MediaError) {
        var header = BoxFields(try boxes.require("tfhd").body)
        let headerFlags = try header.versionAndFlags().flags
        id = try header.u32()
        let duration = headerFlags & TrackHeaderFlag.defaultSampleDuration == 0 ? 0 : try header.u32()
        let flags = try header.u32()
        var times = BoxFields(try boxes.require("tfdt").body)
        try times.skip(4)
        guard let decodeTime = Int64(exactly: try times.u64()), decodeTime <= Self.latest else {
            throw Self.fault("baseMediaDecodeTime")
        }
        self.decodeTime = decodeTime
        beginsGradualRefresh = boxes.contains { $0.type == "sbgp" && Self.beginsRoll($0) }
        try readSamples(boxes.require("trun"), duration, flags, from: base)
        guard samples.reduce(Int64(0), { $0 + Int64($1.duration) }) <= longest else {
            throw Self.fault("sample_duration")
        }
    }

    private mutating func readSamples(
        _ trun: Box, _ duration: UInt32, _ flags: UInt32, from base: Int
    ) throws(MediaError) {
        var fields = BoxFields(trun.body)
        let present = try fields.versionAndFlags().flags
        let has = { (flag: UInt32) in present & flag != 0 }
        let count = Int(try fields.u32())
        guard has(TrackRunFlag.dataOffset), has(TrackRunFlag.sampleSize), count <= trun.body.count / 4 else {
            throw Self.fault("tr_flags")
        }
        var position = base + Int(try fields.u32())
        var firstFlags = has(TrackRunFlag.firstSampleFlags) ? try fields.u32() : nil
        samples.reserveCapacity(count)
        for _ in 0..<count {
            let duration = has(TrackRunFlag.sampleDuration) ? try fields.u32() : duration
            let end = position + Int(try fields.u32())
            let ownFlags = has(TrackRunFlag.sampleFlags) ? try fields.u32() : firstFlags ?? flags
            let offset = has(TrackRunFlag.sampleCompositionTimeOffsets) ? try fields.u32() : 0
            samples.append(
                Sample(
                    duration: duration, compositionOffset: Int32(bitPattern: offset), flags: ownFlags,
                    bytes: position..<end))
            (position, firstFlags) = (end, nil)
        }
    }

    /// The longest segment: EXT-X-TARGETDURATION is at most ten hours.
    private var longest: Int64 { 36_001 * (id == TrackID.audio ? TrackTimescale.audio : TrackTimescale.video) }

    static func fault(_ field: String) -> MediaError {
        MediaError(.badParameterSet(field: field), section: "ISO/IEC 14496-12 §8.8")
    }

    private static func beginsRoll(_ group: Box) -> Bool {
        // version and flags, grouping_type, entry_count, the first sample_count and its group
        group.body.dropFirst(4).starts(with: "roll".utf8) && group.body.dropFirst(16).prefix(4).contains { $0 > 0 }
    }
}
