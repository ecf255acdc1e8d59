package import Media
import Metering

/// Media Initialization Section of a period (RFC 8216 §3.3).
package struct InitSection: Equatable, Sendable {
    /// `init-<hash of the bytes>.mp4`. A period with the parameter sets of an earlier one has the same name.
    package let name: String
    /// `ftyp` and `moov`.
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        name = "init-\(ContentHash.hexName(of: bytes)).mp4"
        self.bytes = bytes
    }
}

/// Writes init sections without samples and edit lists, with all times 0 (ISO/IEC 14496-12 §8.2).
///
/// The bytes depend only on the two configurations: equal configurations give equal bytes.
package enum InitWriter {
    /// Writes an init section with a track for each configuration. Track IDs are constant per media kind.
    /// - Throws: if a parameter set cannot be parsed, so that frame size or profile are unknown.
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
        StepCounter.add(writer.position)
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

    /// Writes `trex` (§8.8.3). Every fragment has explicit values, so all defaults but the sample description are 0.
    private static func writeTrackExtends(_ trackID: UInt32, _ mvex: inout BoxWriter) {
        mvex.fullBox("trex") { trex in
            trex.u32(trackID)
            trex.u32(1)
            trex.zeros(12)
        }
    }
}

extension BoxWriter {
    /// Writes the identity matrix of `mvhd` and `tkhd` (§6.2.2).
    mutating func identityMatrix() {
        for value in [0x0001_0000, 0, 0, 0, 0x0001_0000, 0, 0, 0, 0x4000_0000] as [UInt32] { u32(value) }
    }
}
