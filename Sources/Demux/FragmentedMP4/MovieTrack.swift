package import Media

/// One track of an init section (ISO/IEC 14496-12 §8.3).
package struct MovieTrack: Equatable, Sendable {
    package let trackID: UInt32
    /// Track_enabled of `tkhd`: whether the track plays by default.
    package let isEnabled: Bool
    package let timescale: Timescale
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
        guard let timescale = Timescale(try media.u32()) else {
            throw MediaError(.badParameterSet(field: "timescale"), section: "ISO/IEC 14496-12 §8.4.2")
        }
        self.timescale = timescale
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
