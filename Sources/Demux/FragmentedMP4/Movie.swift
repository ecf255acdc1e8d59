package import Media

/// `moov` of an init section (ISO/IEC 14496-12 §8.2.1), which fragments are read with.
package struct Movie: Equatable, Sendable {
    /// The timescale of edit list durations; nil if it is missing or 0.
    package let timescale: Timescale?
    /// Tracks in file order.
    package let tracks: [MovieTrack]
    /// `trex` by track ID (§8.8.3).
    let defaults: [UInt32: SampleDefaults]

    package init(_ moov: Box) throws(MediaError) {
        let boxes = try moov.children()
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

    private static func timescale(_ mvhd: Box) throws(MediaError) -> Timescale? {
        var fields = BoxFields(mvhd.body)
        try fields.skip(fields.versionAndFlags().version == 1 ? 16 : 8)
        return Timescale(try fields.u32())
    }
}
