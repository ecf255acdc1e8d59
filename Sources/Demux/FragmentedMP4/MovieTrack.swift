package import Media

/// One track of an init section (ISO/IEC 14496-12 §8.3).
package struct MovieTrack: Equatable, Sendable {
    package let trackID: UInt32
    /// Track_enabled of `tkhd`: whether the track plays by default.
    package let isEnabled: Bool
    /// Units per second.
    package let timescale: UInt32
    /// The handler type: vide, soun and so on.
    package let handler: BoxType
    /// Sample entries, never empty; fragments refer to them by one-based index.
    package let sampleEntries: [SampleEntry]
    package let edits: EditList

    /// Returns the tracks of `moov`, in order.
    package static func tracks(of initSection: [UInt8]) throws(MediaError) -> [MovieTrack] {
        try Movie(BoxReader.boxes(in: initSection[...]).require("moov")).tracks
    }

    init(_ trak: Box) throws(MediaError) {
        var header = BoxFields(try trak.descendant("tkhd").body)
        let (version, flags) = try header.versionAndFlags()
        try header.skip(version == 1 ? 16 : 8)
        trackID = try header.u32()
        isEnabled = flags & 1 != 0
        var media = BoxFields(try trak.descendant("mdia", "mdhd").body)
        try media.skip(media.versionAndFlags().version == 1 ? 16 : 8)
        timescale = try media.u32()
        guard timescale > 0 else {
            throw MediaError(.badParameterSet(field: "timescale"), section: "ISO/IEC 14496-12 §8.4.2")
        }
        var reference = BoxFields(try trak.descendant("mdia", "hdlr").body)
        try reference.skip(8)
        handler = BoxType(code: try reference.u32())
        var entries: [SampleEntry] = []
        for box in try trak.descendant("mdia", "minf", "stbl", "stsd").children(after: 8) {
            entries.append(try SampleEntry(box, handler: handler))
        }
        guard !entries.isEmpty else { throw MediaError(.truncated, section: BoxReader.section) }
        sampleEntries = entries
        edits = try EditList(trak.children().first("edts")?.children().first("elst"))
    }
}

/// The effect of an edit list on a track that plays from a start time to its end (ISO/IEC 14496-12 §8.6.6), which is
/// the only use in a live stream.
package struct EditList: Equatable, Sendable {
    /// The total duration of the leading empty edits, in the movie's timescale.
    package let emptyDuration: UInt64
    /// The media time at which presentation begins, in the track's timescale.
    package let mediaTime: Int64

    static let none = EditList(emptyDuration: 0, mediaTime: 0)

    private init(emptyDuration: UInt64, mediaTime: Int64) {
        self.emptyDuration = emptyDuration
        self.mediaTime = mediaTime
    }

    /// - Parameter elst: nil if the track has no edit list.
    init(_ elst: Box?) throws(MediaError) {
        self = .none
        guard let elst else { return }
        var fields = BoxFields(elst.body)
        let isLong = try fields.versionAndFlags().version == 1
        let count = try fields.u32()
        var empty: UInt64 = 0
        for _ in 0..<count {
            let duration = isLong ? try fields.u64() : UInt64(try fields.u32())
            let time = isLong ? Int64(bitPattern: try fields.u64()) : Int64(Int32(bitPattern: try fields.u32()))
            try fields.skip(4)  // media_rate
            guard time < 0 else {
                self.init(emptyDuration: empty, mediaTime: time)
                return
            }
            empty &+= duration
        }
        self.init(emptyDuration: empty, mediaTime: 0)
    }
}
