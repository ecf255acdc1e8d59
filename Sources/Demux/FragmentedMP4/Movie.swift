package import Media

/// `moov` of an init section (ISO/IEC 14496-12 §8.2.1), which fragments are read with.
package struct Movie: Equatable, Sendable {
    /// Units per second of edit list durations.
    package let timescale: UInt32
    /// Tracks in file order.
    package let tracks: [MovieTrack]
    /// `trex` by track ID (§8.8.3).
    let defaults: [UInt32: SampleDefaults]

    package init(_ moov: Box) throws(MediaError) {
        let boxes = try moov.children()
        timescale = try boxes.first("mvhd").map(Self.timescale) ?? 0
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

    private static func timescale(_ mvhd: Box) throws(MediaError) -> UInt32 {
        var fields = BoxFields(mvhd.body)
        try fields.skip(fields.versionAndFlags().version == 1 ? 16 : 8)
        return try fields.u32()
    }
}
