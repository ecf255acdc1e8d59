package import Media

/// What a player reads before the first fragment of a run (RFC 8216 §3.3: the Media Initialization Section).
package struct InitSection: Equatable, Sendable {
    /// `init-<hash of the bytes>.mp4`: a run whose parameter sets come back gets its old name back.
    package let name: String
    /// ftyp and moov.
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        name = "init-\(ContentHash.hexName(of: bytes)).mp4"
        self.bytes = bytes
    }
}

/// Writes init sections (ISO/IEC 14496-12 §8.2): no samples, no edit list, no time other than 0, nothing that does not
/// follow from the two configurations. Equal configurations give equal bytes.
package enum InitWriter {
    /// - Parameters: `video`, `audio`: at least one of them; each becomes the track of its constant id.
    /// - Throws: when a parameter set does not decode, so that size or profile are not known.
    package static func write(
        video: VideoConfiguration?, audio: AudioConfiguration?
    ) throws(MediaError) -> InitSection {
        var tracks: [InitTrack] = []
        if let video { tracks.append(.video(video, try VideoDescription(video))) }
        if let audio { tracks.append(.audio(audio)) }
        var writer = BoxWriter(capacity: 1536)
        writeFileType(&writer)
        try writer.box("moov") { (moov: inout BoxWriter) throws(MediaError) in
            writeMovieHeader(&moov)
            for track in tracks { try track.write(to: &moov) }
            moov.box("mvex") { mvex in
                for track in tracks { writeTrackExtends(track.trackID, &mvex) }
            }
        }
        return InitSection(bytes: writer.bytes)
    }

    private static func writeFileType(_ writer: inout BoxWriter) {
        writer.box("ftyp") { box in
            box.type("iso6")
            box.u32(0)
            for brand in ["iso6", "cmfc", "mp41"] as [BoxType] { box.type(brand) }
        }
    }

    private static func writeMovieHeader(_ moov: inout BoxWriter) {
        moov.fullBox("mvhd") { mvhd in
            mvhd.zeros(8)
            mvhd.u32(UInt32(TrackTimescale.movie))
            mvhd.u32(0)
            mvhd.u32(0x0001_0000)  // rate 1.0
            mvhd.u16(0x0100)  // volume 1.0
            mvhd.zeros(10)
            mvhd.identityMatrix()
            mvhd.zeros(24)
            mvhd.u32(TrackID.audio + 1)
        }
    }

    /// §8.8.3. Every fragment says its own values, so all defaults but the sample description are 0.
    private static func writeTrackExtends(_ trackID: UInt32, _ mvex: inout BoxWriter) {
        mvex.fullBox("trex") { trex in
            trex.u32(trackID)
            trex.u32(1)
            trex.zeros(12)
        }
    }
}

extension BoxWriter {
    /// The matrix of `mvhd` and `tkhd` that leaves the picture as it is (§6.2.2).
    mutating func identityMatrix() {
        for value in [0x0001_0000, 0, 0, 0, 0x0001_0000, 0, 0, 0, 0x4000_0000] as [UInt32] { u32(value) }
    }
}
