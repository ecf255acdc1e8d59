/// One `traf` with its samples, as a player would see them (ISO/IEC 14496-12 §8.8.7, §8.8.8).
struct TrackFragment: Equatable, Sendable {
    let trackID: UInt32
    /// `tfdt`; nil when it is missing.
    let decodeTime: UInt64?
    let samples: [Sample]

    struct Sample: Equatable, Sendable {
        let duration: UInt32
        let compositionOffset: Int32
        let flags: UInt32
        let payload: ArraySlice<UInt8>

        /// sample_is_non_sync_sample is not set.
        var isSync: Bool { flags & 0x1_0000 == 0 }
    }

    /// What holds for samples that do not say otherwise.
    private struct Defaults {
        var duration: UInt32 = 0
        var size: UInt32 = 0
        var flags: UInt32 = 0
    }

    /// - Parameters:
    ///   - traf: of a moof with default-base-is-moof set.
    ///   - moof: index of its first byte in `bytes`.
    ///   - bytes: the whole segment.
    init(_ traf: Box, moof: Int, in bytes: [UInt8]) throws(SpliceError) {
        let boxes = try traf.children()
        var header = BoxFields(try boxes.require("tfhd").body)
        let flags = try header.versionAndFlags().flags
        trackID = try header.u32()
        var defaults = Defaults()
        if flags & 0x01 != 0 { try header.skip(8) }
        if flags & 0x02 != 0 { try header.skip(4) }
        if flags & 0x08 != 0 { defaults.duration = try header.u32() }
        if flags & 0x10 != 0 { defaults.size = try header.u32() }
        if flags & 0x20 != 0 { defaults.flags = try header.u32() }
        decodeTime = try boxes.first("tfdt").map(Self.decodeTime)
        var samples: [Sample] = []
        var position = moof
        for run in boxes where run.type == "trun" {
            samples += try Self.samples(of: run, defaults, moof: moof, position: &position, in: bytes)
        }
        self.samples = samples
    }

    private static func decodeTime(_ tfdt: Box) throws(SpliceError) -> UInt64 {
        var fields = BoxFields(tfdt.body)
        return try fields.versionAndFlags().version == 1 ? fields.u64() : UInt64(fields.u32())
    }

    /// - Parameter position: index of the first sample's payload unless the run has a data offset; moved past the
    ///   last one's.
    private static func samples(
        of trun: Box, _ defaults: Defaults, moof: Int, position: inout Int, in bytes: [UInt8]
    ) throws(SpliceError) -> [Sample] {
        var fields = BoxFields(trun.body)
        let flags = try fields.versionAndFlags().flags
        let count = try fields.u32()
        // Samples without a byte of their own anywhere would be a count to run through and nothing else.
        guard count <= bytes.count else { throw fields.truncated }
        if flags & 0x001 != 0 { position = moof + Int(Int32(bitPattern: try fields.u32())) }
        var first: UInt32?
        if flags & 0x004 != 0 { first = try fields.u32() }
        var samples: [Sample] = []
        for _ in 0..<count {
            let duration = flags & 0x100 != 0 ? try fields.u32() : defaults.duration
            let size = Int(flags & 0x200 != 0 ? try fields.u32() : defaults.size)
            let own = flags & 0x400 != 0 ? try fields.u32() : first ?? defaults.flags
            let offset = flags & 0x800 != 0 ? Int32(bitPattern: try fields.u32()) : 0
            guard position >= 0, position + size <= bytes.count else { throw fields.truncated }
            samples.append(
                Sample(
                    duration: duration, compositionOffset: offset, flags: own,
                    payload: bytes[position..<position + size]))
            position += size
            first = nil
        }
        return samples
    }
}

/// One `moof` (ISO/IEC 14496-12 §8.8.4).
struct MovieFragment: Equatable, Sendable {
    let sequenceNumber: UInt32
    let tracks: [TrackFragment]

    /// The fragments of a segment, in order.
    static func fragments(of segment: [UInt8]) throws(SpliceError) -> [MovieFragment] {
        var fragments: [MovieFragment] = []
        for box in try BoxReader.boxes(in: segment[...]) where box.type == "moof" {
            fragments.append(try MovieFragment(box, in: segment))
        }
        return fragments
    }

    private init(_ moof: Box, in bytes: [UInt8]) throws(SpliceError) {
        let boxes = try moof.children()
        var header = BoxFields(try boxes.require("mfhd").body)
        try header.skip(4)
        sequenceNumber = try header.u32()
        var tracks: [TrackFragment] = []
        for box in boxes where box.type == "traf" {
            tracks.append(try TrackFragment(box, moof: moof.start, in: bytes))
        }
        self.tracks = tracks
    }
}
