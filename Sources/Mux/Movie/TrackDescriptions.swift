package import Media

/// The sample entries of an init section, one for each track, as their bytes.
package struct TrackDescriptions: Equatable, Sendable {
    struct Track: Equatable, Sendable {
        /// A whole box: `avc1`, `hvc1`, `mp4a`, `ac-3` or `ec-3`.
        let sampleEntry: [UInt8]
        /// Width in `tkhd`, 16.16 fixed point.
        let width: UInt32
        let height: UInt32
    }

    let tracks: [UInt32: Track]

    /// Reads what `InitWriter` writes.
    package init(_ initSection: [UInt8]) throws(MediaError) {
        var tracks: [UInt32: Track] = [:]
        let moov = try BoxReader.boxes(in: initSection[...]).require("moov")
        for trak in try moov.children() where trak.type == "trak" {
            var header = BoxFields(try trak.descendant("tkhd").body)
            try header.skip(12)
            let id = try header.u32()
            try header.skip(60)
            let size = (width: try header.u32(), height: try header.u32())
            let stsd = try trak.descendant("mdia", "minf", "stbl", "stsd")
            guard let entry = try stsd.children(after: 8).first else {
                throw MediaError(
                    .badParameterSet(field: "stsd"), offset: stsd.start, section: "ISO/IEC 14496-12 §8.5.2")
            }
            tracks[id] = Track(
                sampleEntry: Array(initSection[entry.start..<entry.body.endIndex]), width: size.width,
                height: size.height)
        }
        self.tracks = tracks
    }

    /// The codec of the video, and its decoder configuration record, which is empty for MPEG-2; nil without video.
    package func video() throws(MediaError) -> (codec: VideoConfiguration.Codec, record: [UInt8])? {
        guard let bytes = tracks[TrackID.video]?.sampleEntry, let entry = try BoxReader.boxes(in: bytes[...]).first
        else { return nil }
        let fields = 78
        switch entry.type {
        case "avc1": return (.h264, Array(try entry.children(after: fields).require("avcC").body))
        case "hvc1": return (.hevc, Array(try entry.children(after: fields).require("hvcC").body))
        case "mp4v": return (.mpeg2, [])
        default: return nil
        }
    }
}
