package import Media

/// One `moof` (ISO/IEC 14496-12 §8.8.4).
package struct MovieFragment: Equatable, Sendable {
    package let sequenceNumber: UInt32
    package let tracks: [TrackFragment]

    package static func fragments(of segment: [UInt8]) throws(MediaError) -> [MovieFragment] {
        let boxes = try BoxReader.boxes(in: segment[...])
        var reader = FragmentReader(segment, boxes: boxes, defaults: [:])
        var fragments: [MovieFragment] = []
        for box in boxes where box.type == "moof" {
            let fragment = try reader.fragment(box)
            guard fragment.tracks.flatMap(\.samples).allSatisfy(\.isComplete) else {
                throw MediaError(.truncated, offset: segment.endIndex, section: BoxReader.section)
            }
            fragments.append(fragment)
        }
        return fragments
    }

    /// The tracks that the fragments of a segment have samples of.
    package static func trackIDs(in segment: [UInt8]) throws(MediaError) -> Set<UInt32> {
        var identifiers: Set<UInt32> = []
        for box in try BoxReader.boxes(in: segment[...]) where box.type == "moof" {
            for fragment in try BoxReader.boxes(in: box.body) where fragment.type == "traf" {
                identifiers.insert(try TrackFragmentHeader(BoxReader.boxes(in: fragment.body), [:]).trackID)
            }
        }
        return identifiers
    }
}

/// The decode times of one track in a segment, in its timescale.
package struct DecodeSpan: Equatable, Sendable {
    package let start: UInt64
    package internal(set) var end: UInt64
    package let timescale: Timescale
    package let handler: BoxType
    /// Whether the first sample is a sync sample.
    package let beginsWithSync: Bool

    /// The spans of the tracks of a segment by track ID; without tracks that have no decode time.
    /// - Parameter initialization: the init section, whose defaults apply.
    package static func spans(
        of segment: [UInt8], initialization: [UInt8]
    ) throws(MediaError) -> [UInt32: DecodeSpan] {
        let movie = try Movie(BoxReader.boxes(in: initialization[...]).require("moov"))
        let boxes = try BoxReader.boxes(in: segment[...])
        var reader = FragmentReader(segment, boxes: boxes, defaults: movie.defaults)
        var spans: [UInt32: DecodeSpan] = [:]
        for box in boxes where box.type == "moof" {
            for fragment in try reader.fragment(box).tracks {
                guard let track = movie.tracks.first(where: { $0.trackID == fragment.trackID }) else { continue }
                guard let start = fragment.decodeTime ?? spans[fragment.trackID]?.end else { continue }
                let end = fragment.samples.reduce(start) { $0 &+ UInt64($1.duration) }
                var span =
                    spans[fragment.trackID]
                    ?? DecodeSpan(
                        start: start, end: end, timescale: track.timescale, handler: track.handler,
                        beginsWithSync: fragment.samples.first?.isSync ?? true)
                span.end = end
                spans[fragment.trackID] = span
            }
        }
        return spans
    }

    /// The first decode time, and the time up to the end.
    package var startTime: Ticks { ticks(Int64(bitPattern: start)) }
    package var duration: Ticks { ticks(Int64(bitPattern: end &- start)) }

    private func ticks(_ units: Int64) -> Ticks {
        Ticks(units.rescaled(Ticks.perSecond, over: Int64(timescale.unitsPerSecond)))
    }

    /// From the end of an earlier span to the start of this one, to the tick; nil if the timescales differ.
    package func distance(from earlier: DecodeSpan) -> Ticks? {
        guard timescale == earlier.timescale else { return nil }
        return ticks(Int64(bitPattern: start &- earlier.end))
    }
}

/// One `traf` with its samples, as a player would read them (ISO/IEC 14496-12 §8.8.6).
package struct TrackFragment: Equatable, Sendable {
    let header: TrackFragmentHeader
    package let samples: [Sample]
    package var trackID: UInt32 { header.trackID }
    package var decodeTime: UInt64? { header.decodeTime }

    package struct Sample: Equatable, Sendable {
        /// The bits of sample_flags that say that a sample is no sync sample.
        static let nonSyncFlag: UInt32 = 0x1_0000

        package let duration: UInt32
        package let compositionOffset: Int32
        let flags: UInt32
        /// The sample data, with indices of the segment. It is shorter than `size` if the segment ends first, and then
        /// may be empty.
        package let payload: ArraySlice<UInt8>
        let size: UInt32

        /// Whether sample_is_non_sync_sample is not set.
        package var isSync: Bool { flags & Self.nonSyncFlag == 0 }
        var isComplete: Bool { payload.count == size }
    }
}

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
    let defaults: SampleDefaults
    let decodeTime: UInt64?

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

    init(trackID: UInt32, decodeTime: UInt64) {
        (self.trackID, self.decodeTime) = (trackID, decodeTime)
        (base, defaults) = (.moof, SampleDefaults())
    }

    private static func decodeTime(_ tfdt: Box) throws(MediaError) -> UInt64 {
        var fields = BoxFields(tfdt.body)
        return try fields.versionAndFlags().version == 1 ? fields.u64() : UInt64(fields.u32())
    }
}

/// Defaults of samples without values of their own.
struct SampleDefaults: Equatable, Sendable {
    var descriptionIndex: UInt32 = 1
    var duration: UInt32 = 0
    var size: UInt32 = 0
    var flags: UInt32 = 0
}
