/// One track as an init section describes it (ISO/IEC 14496-12 §8.3).
struct MovieTrack: Equatable, Sendable {
    let trackID: UInt32
    /// Units a second.
    let timescale: UInt32
    /// vide, soun ...
    let handler: BoxType
    /// avc1, mp4a ...
    let sampleEntry: BoxType
    /// Pixels, or channels and Hz.
    let format: Format
    /// The boxes in the sample entry: avcC, colr, esds ... in the order in which they stand.
    let configuration: [Record]

    enum Format: Equatable, Sendable {
        case video(width: UInt16, height: UInt16)
        case audio(channels: UInt16, sampleRate: UInt32)
        case other
    }

    struct Record: Equatable, Sendable {
        let type: BoxType
        let payload: ArraySlice<UInt8>
    }

    /// The tracks of `moov`, in order.
    static func tracks(of initSection: [UInt8]) throws(SpliceError) -> [MovieTrack] {
        var tracks: [MovieTrack] = []
        let moov = try BoxReader.boxes(in: initSection[...]).require("moov")
        for box in try moov.children() where box.type == "trak" { tracks.append(try MovieTrack(box)) }
        return tracks
    }

    init(_ trak: Box) throws(SpliceError) {
        var header = BoxFields(try trak.descendant("tkhd").body)
        try header.skip(header.versionAndFlags().version == 1 ? 16 : 8)
        trackID = try header.u32()
        var media = BoxFields(try trak.descendant("mdia", "mdhd").body)
        try media.skip(media.versionAndFlags().version == 1 ? 16 : 8)
        timescale = try media.u32()
        var reference = BoxFields(try trak.descendant("mdia", "hdlr").body)
        try reference.skip(8)
        handler = BoxType(code: try reference.u32())
        let entry = try trak.descendant("mdia", "minf", "stbl", "stsd").children(after: 8).firstOrThrow()
        sampleEntry = entry.type
        (format, configuration) = try Self.read(entry, handler: handler)
    }

    private static func read(_ entry: Box, handler: BoxType) throws(SpliceError) -> (Format, [Record]) {
        var fields = BoxFields(entry.body)
        let format: Format
        switch handler {
        case "vide":
            try fields.skip(24)
            format = .video(width: try fields.u16(), height: try fields.u16())
            try fields.skip(50)
        case "soun":
            try fields.skip(16)
            let channels = try fields.u16()
            try fields.skip(6)
            format = .audio(channels: channels, sampleRate: try fields.u32() >> 16)
        default: return (.other, [])
        }
        let boxes = try entry.children(after: fields.index - entry.body.startIndex)
        return (format, boxes.map { Record(type: $0.type, payload: $0.body) })
    }
}

extension [Box] {
    fileprivate func firstOrThrow() throws(SpliceError) -> Box {
        guard let first else { throw SpliceError(.truncated, section: BoxReader.section) }
        return first
    }
}
