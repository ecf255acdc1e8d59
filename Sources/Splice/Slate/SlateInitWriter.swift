import Media

/// Writes the init section of a slate: its own `moov`, reduced to the used tracks without their samples (ISO/IEC 14496-12
/// §8.2, §8.8.3).
///
/// Sample entries and edit lists are copied unchanged.
struct SlateInitWriter {
    private let moov: [UInt8]

    /// Writes the init section.
    /// - Parameter traks: `trak` boxes of `moov` to keep, with their track IDs.
    static func write(_ moov: [UInt8], _ boxes: [Box], traks: [(trackID: UInt32, box: Box)]) throws(MediaError)
        -> [UInt8]
    {
        let source = SlateInitWriter(moov: moov)
        var writer = BoxWriter(capacity: 2048)
        writer.box("ftyp") { ftyp in
            ftyp.type("iso6")
            ftyp.u32(0)
            ftyp.type("iso6")
        }
        try writer.box("moov") { (writer: inout BoxWriter) throws(MediaError) in
            if let header = boxes.first("mvhd") { source.copy(header, to: &writer) }
            for trak in traks { try source.write(trak.box, replacing: ["mdia", "minf", "stbl"], to: &writer) }
            writer.box("mvex") { mvex in
                for trak in traks {
                    mvex.fullBox("trex") { trex in
                        trex.u32(trak.trackID)
                        trex.u32(1)
                        trex.zeros(12)
                    }
                }
            }
        }
        return writer.bytes
    }

    private func copy(_ box: Box, to writer: inout BoxWriter) {
        writer.append(moov[box.start..<box.body.endIndex])
    }

    /// Copies a box without the samples in its sample table.
    /// - Parameter path: box types of the nested containers down to the sample table.
    private func write(
        _ box: Box, replacing path: ArraySlice<BoxType>, to writer: inout BoxWriter
    ) throws(MediaError) {
        let children = try box.children()
        try writer.box(box.type) { (writer: inout BoxWriter) throws(MediaError) in
            guard let next = path.first else { return writeSampleTable(children, to: &writer) }
            for child in children {
                if child.type == next {
                    try write(child, replacing: path.dropFirst(), to: &writer)
                } else if Self.copiedBoxes.contains(child.type) {
                    copy(child, to: &writer)
                }
            }
        }
    }

    private static let copiedBoxes: Set<BoxType> = ["tkhd", "edts", "mdhd", "hdlr", "vmhd", "smhd", "dinf"]

    private func writeSampleTable(_ boxes: [Box], to stbl: inout BoxWriter) {
        if let description = boxes.first("stsd") { copy(description, to: &stbl) }
        stbl.fullBox("stts") { $0.u32(0) }
        stbl.fullBox("stsc") { $0.u32(0) }
        stbl.fullBox("stsz") { $0.zeros(8) }
        stbl.fullBox("stco") { $0.u32(0) }
    }
}
