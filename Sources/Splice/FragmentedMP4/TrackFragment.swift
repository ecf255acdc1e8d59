/// One `traf` with its samples, as a player would see them (ISO/IEC 14496-12 §8.8.6).
struct TrackFragment: Equatable, Sendable {
    let header: TrackFragmentHeader
    let samples: [Sample]

    var trackID: UInt32 { header.trackID }
    /// `tfdt`; nil when it is missing.
    var decodeTime: UInt64? { header.decodeTime }

    struct Sample: Equatable, Sendable {
        let duration: UInt32
        let compositionOffset: Int32
        let flags: UInt32
        /// Indices are those of the segment; shorter than `size` where the segment ends first, then perhaps empty.
        let payload: ArraySlice<UInt8>
        let size: UInt32

        /// sample_is_non_sync_sample is not set.
        var isSync: Bool { flags & 0x1_0000 == 0 }
        var isWhole: Bool { payload.count == size }
    }
}

/// One `moof` (ISO/IEC 14496-12 §8.8.4).
struct MovieFragment: Equatable, Sendable {
    let sequenceNumber: UInt32
    let tracks: [TrackFragment]

    /// The fragments of a segment, in order.
    static func fragments(of segment: [UInt8]) throws(MediaError) -> [MovieFragment] {
        let boxes = try BoxReader.boxes(in: segment[...])
        var reader = FragmentReader(segment, boxes: boxes, defaults: [:])
        var fragments: [MovieFragment] = []
        for box in boxes where box.type == "moof" {
            let fragment = try reader.fragment(box)
            guard fragment.tracks.flatMap(\.samples).allSatisfy(\.isWhole) else {
                throw MediaError(.truncated, offset: segment.endIndex, section: BoxReader.section)
            }
            fragments.append(fragment)
        }
        return fragments
    }
}
