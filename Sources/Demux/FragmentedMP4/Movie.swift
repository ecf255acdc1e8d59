package import Media

/// `moov` of an init section (ISO/IEC 14496-12 §8.2.1), which fragments are read with.
package struct Movie: Equatable, Sendable {
    /// The timescale of edit list durations; nil if it is missing or 0.
    package let timescale: Timescale?
    package let tracks: [MovieTrack]
    /// `trex` by track ID (§8.8.3).
    let defaults: [UInt32: SampleDefaults]
    /// Whether the samples are in movie fragments (§8.8.1), and not in the tables of the tracks.
    package let isFragmented: Bool

    package init(_ moov: Box) throws(MediaError) {
        let boxes = try moov.children()
        isFragmented = boxes.first("mvex") != nil
        timescale = try boxes.first("mvhd").flatMap(Self.timescale)
        var tracks: [MovieTrack] = []
        for box in boxes where box.type == "trak" { tracks.append(try MovieTrack(box)) }
        self.tracks = tracks
        var defaults: [UInt32: SampleDefaults] = [:]
        for box in try boxes.first("mvex")?.children() ?? [] where box.type == "trex" {
            var fields = BoxFields(box.body)
            _ = try fields.versionAndFlags()
            let trackID = try fields.u32()
            defaults[trackID] = SampleDefaults(
                descriptionIndex: try fields.u32(), duration: try fields.u32(), size: try fields.u32(),
                flags: try fields.u32())
        }
        self.defaults = defaults
    }

    /// Whether `section` begins with the `moov` of a file whose samples are in the tables of its tracks.
    static func isPlain(_ section: [UInt8]) -> Bool {
        guard let moov = try? BoxReader.wholeBoxes(in: section[...]).boxes.first, moov.type == "moov" else {
            return false
        }
        return (try? moov.children().first("mvex") == nil) ?? false
    }

    private static func timescale(_ mvhd: Box) throws(MediaError) -> Timescale? {
        var fields = BoxFields(mvhd.body)
        try fields.skip(fields.versionAndFlags().version == 1 ? 16 : 8)
        return Timescale(try fields.u32())
    }
}

/// One track of an init section (ISO/IEC 14496-12 §8.3).
package struct MovieTrack: Equatable, Sendable {
    package let trackID: UInt32
    /// Track_enabled of `tkhd`: whether the track plays by default.
    package let isEnabled: Bool
    package let timescale: Timescale
    let language: LanguageTag
    package let handler: BoxType
    /// Sample entries, never empty; fragments refer to them by one-based index.
    package let sampleEntries: [SampleEntry]
    package let edits: EditList

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
        let mediaVersion = try media.versionAndFlags().version
        try media.skip(mediaVersion == 1 ? 16 : 8)
        guard let timescale = Timescale(try media.u32()) else {
            throw MediaError(.badParameterSet(field: "timescale"), section: "ISO/IEC 14496-12 §8.4.2")
        }
        self.timescale = timescale
        language = try Self.language(&media, version: mediaVersion)
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

    /// Reads the three letters that follow the duration: five bits each, less 0x60. A header that ends before has none.
    private static func language(_ media: inout BoxFields, version: UInt8) throws(MediaError) -> LanguageTag {
        let size = version == 1 ? 8 : 4
        guard media.rest.count >= size + 2 else { return .unknown }
        try media.skip(size)
        let code = try media.u16()
        let letters = [code >> 10, code >> 5, code].map { UInt8($0 & 0x1F) + 0x60 }
        return LanguageTag(String(decoding: letters, as: UTF8.self)) ?? .unknown
    }
}
