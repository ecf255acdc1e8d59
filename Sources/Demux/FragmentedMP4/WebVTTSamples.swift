package import Media

/// The WebVTT cues of a segment of fragmented MP4 (ISO/IEC 14496-30 §7).
///
/// Each sample has the cues that stand for its duration. A cue over several samples of the segment is one again.
package struct WebVTTSamples: Equatable, Sendable {
    package struct Cue: Equatable, Sendable {
        package let identifier: String?
        package let settings: String
        package let text: String
        /// On the clock of the media, not reduced to 33 bits. `start` is not after `end`.
        package let start: Ticks
        package fileprivate(set) var end: Ticks
    }

    private static let section = "ISO/IEC 14496-30 §7"

    /// The text before the cues: `WEBVTT`, with STYLE and REGION blocks. Empty if there is none.
    package let header: [UInt8]
    /// In order of their starts.
    package private(set) var cues: [Cue] = []
    /// The number of cues beyond the limit.
    package private(set) var dropped = 0

    /// - Parameters:
    ///   - segment: whole movie fragments.
    ///   - initialization: the section with the track.
    ///   - limit: of the number of cues.
    /// - Throws: `.unknownContainer` if the track is no WebVTT, and what is wrong with a box.
    package init(_ segment: [UInt8], initialization: [UInt8]?, limit: Int) throws(MediaError) {
        let fault = MediaError(.unknownContainer(firstBytes: Array(segment.prefix(16))), section: Self.section)
        guard let initialization else { throw fault }
        let movie = try Movie(BoxReader.wholeBoxes(in: initialization[...]).boxes.require("moov"))
        guard let track = movie.tracks.first(where: { $0.sampleEntries[0].type == "wvtt" }) else { throw fault }
        header = Array(track.sampleEntries[0].child("vttC") ?? [])
        let boxes = try BoxReader.boxes(in: segment[...])
        var reader = FragmentReader(segment, boxes: boxes, defaults: movie.defaults)
        for box in boxes where box.type == "moof" {
            for fragment in try reader.fragment(box).tracks where fragment.trackID == track.trackID {
                try append(fragment, timescale: track.timescale, limit: limit)
            }
        }
    }

    private mutating func append(
        _ fragment: TrackFragment, timescale: Timescale, limit: Int
    ) throws(MediaError) {
        guard var time = fragment.decodeTime else { throw MediaError(.truncated, section: Self.section) }
        for sample in fragment.samples {
            guard sample.isComplete else { throw MediaError(.truncated, section: Self.section) }
            let start = Ticks(units: time, timescale: timescale)
            time &+= UInt64(sample.duration)
            let end = max(start, Ticks(units: time, timescale: timescale))
            for box in try BoxReader.boxes(in: sample.payload) where box.type == "vttc" {
                try append(box, from: start, to: end, limit: limit)
            }
        }
    }

    private mutating func append(_ box: Box, from start: Ticks, to end: Ticks, limit: Int) throws(MediaError) {
        let fields = try box.children()
        let text = { (type: BoxType) in
            fields.first(type).map { String(decoding: $0.body.lazy.map { $0 == 0 ? 0x20 : $0 }, as: UTF8.self) }
        }
        let cue = Cue(
            identifier: text("iden"), settings: text("sttg") ?? "", text: text("payl") ?? "", start: start, end: end)
        // Those of the sample before are the newest.
        if let index = cues.lastIndex(where: { $0.end == start && $0.isSame(as: cue) }), start < end {
            cues[index].end = end
        } else if cues.count < limit {
            cues.append(cue)
        } else {
            dropped += 1
        }
    }
}

extension WebVTTSamples.Cue {
    fileprivate func isSame(as other: Self) -> Bool {
        identifier == other.identifier && settings == other.settings && text == other.text
    }
}
