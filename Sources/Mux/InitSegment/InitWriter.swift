package import Media
import Support

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
            mvhd.playbackFields()
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
    /// Writes the fields of `mvhd` after its duration (§8.2.2).
    mutating func playbackFields(nextTrack: UInt32 = TrackID.audio + 1) {
        u32(0x0001_0000)  // rate 1.0
        u16(0x0100)  // volume 1.0
        zeros(10)
        identityMatrix()
        zeros(24)
        u32(nextTrack)
    }

    /// Writes the identity matrix of `mvhd` and `tkhd` (§6.2.2).
    mutating func identityMatrix() {
        for value in [0x0001_0000, 0, 0, 0, 0x0001_0000, 0, 0, 0, 0x4000_0000] as [UInt32] { u32(value) }
    }

    /// Writes `hdlr` of a track (§8.4.3).
    mutating func handler(_ type: BoxType) {
        fullBox("hdlr") { hdlr in
            hdlr.u32(0)
            hdlr.type(type)
            hdlr.zeros(12)
            hdlr.u8(0)  // empty name
        }
    }

    /// Writes `vmhd` or `smhd`, and `dinf` (§8.4.5, §8.7.1).
    mutating func mediaInformation(isAudio: Bool) {
        if isAudio { fullBox("smhd") { $0.zeros(4) } } else { fullBox("vmhd", flags: 1) { $0.zeros(8) } }
        box("dinf") { dinf in
            dinf.fullBox("dref") { dref in
                dref.u32(1)
                dref.fullBox("url ", flags: 1) { _ in }  // media data is in this file
            }
        }
    }
}

/// A `trak` of an init section (ISO/IEC 14496-12 §8.3).
private enum InitTrack {
    case video(VideoConfiguration, VideoDescription)
    case audio(AudioConfiguration)

    var trackID: UInt32 {
        switch self {
        case .video: TrackID.video
        case .audio: TrackID.audio
        }
    }

    private var isAudio: Bool { if case .audio = self { true } else { false } }

    func write(to moov: inout BoxWriter) throws(MediaError) {
        try moov.box("trak") { (trak: inout BoxWriter) throws(MediaError) in
            writeHeader(&trak)
            try trak.box("mdia") { (mdia: inout BoxWriter) throws(MediaError) in
                writeMediaHeader(&mdia)
                mdia.handler(isAudio ? "soun" : "vide")
                try mdia.box("minf") { (minf: inout BoxWriter) throws(MediaError) in
                    minf.mediaInformation(isAudio: isAudio)
                    try writeSampleTable(&minf)
                }
            }
        }
    }

    private func writeHeader(_ trak: inout BoxWriter) {
        trak.fullBox("tkhd", flags: 0x3) { tkhd in  // track_enabled, track_in_movie
            tkhd.zeros(8)
            tkhd.u32(trackID)
            tkhd.zeros(4 + 4 + 8 + 2 + 2)
            if case .audio = self { tkhd.u16(0x0100) } else { tkhd.u16(0) }  // volume
            tkhd.zeros(2)
            tkhd.identityMatrix()
            guard case .video(_, let description) = self else { return tkhd.zeros(8) }
            tkhd.u32(description.displayWidth)
            tkhd.u32(UInt32(description.height) << 16)
        }
    }

    private func writeMediaHeader(_ mdia: inout BoxWriter) {
        mdia.fullBox("mdhd") { mdhd in
            mdhd.zeros(8)
            if case .audio = self {
                mdhd.u32(UInt32(TrackTimescale.audio))
            } else {
                mdhd.u32(UInt32(TrackTimescale.video))
            }
            mdhd.u32(0)
            mdhd.u16(0x55C4)  // "und"
            mdhd.u16(0)
        }
    }

    private func writeSampleTable(_ minf: inout BoxWriter) throws(MediaError) {
        try minf.box("stbl") { (stbl: inout BoxWriter) throws(MediaError) in
            try stbl.fullBox("stsd") { (stsd: inout BoxWriter) throws(MediaError) in
                stsd.u32(1)
                switch self {
                case .video(let configuration, let description):
                    try VideoSampleEntry(configuration, description).write(to: &stsd)
                case .audio(let configuration): try AudioSampleEntry(configuration).write(to: &stsd)
                }
            }
            stbl.fullBox("stts") { $0.u32(0) }
            stbl.fullBox("stsc") { $0.u32(0) }
            stbl.fullBox("stsz") { $0.zeros(8) }
            stbl.fullBox("stco") { $0.u32(0) }
        }
    }
}
