import Media

/// A `trak` of an init section (ISO/IEC 14496-12 §8.3).
enum InitTrack {
    case video(VideoConfiguration, VideoDescription)
    case audio(AudioConfiguration)

    var trackID: UInt32 {
        switch self {
        case .video: TrackID.video
        case .audio: TrackID.audio
        }
    }

    func write(to moov: inout BoxWriter) throws(MediaError) {
        try moov.box("trak") { (trak: inout BoxWriter) throws(MediaError) in
            writeHeader(&trak)
            try trak.box("mdia") { (mdia: inout BoxWriter) throws(MediaError) in
                writeMediaHeader(&mdia)
                writeHandler(&mdia)
                try mdia.box("minf") { (minf: inout BoxWriter) throws(MediaError) in
                    writeMediaInformation(&minf)
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

    private func writeHandler(_ mdia: inout BoxWriter) {
        mdia.fullBox("hdlr") { hdlr in
            hdlr.u32(0)
            if case .audio = self { hdlr.type("soun") } else { hdlr.type("vide") }
            hdlr.zeros(12)
            hdlr.u8(0)  // empty name
        }
    }

    private func writeMediaInformation(_ minf: inout BoxWriter) {
        switch self {
        case .video: minf.fullBox("vmhd", flags: 1) { $0.zeros(8) }
        case .audio: minf.fullBox("smhd") { $0.zeros(4) }
        }
        minf.box("dinf") { dinf in
            dinf.fullBox("dref") { dref in
                dref.u32(1)
                dref.fullBox("url ", flags: 1) { _ in }  // media data is in this file
            }
        }
    }

    private func writeSampleTable(_ minf: inout BoxWriter) throws(MediaError) {
        try minf.box("stbl") { (stbl: inout BoxWriter) throws(MediaError) in
            try stbl.fullBox("stsd") { (stsd: inout BoxWriter) throws(MediaError) in
                stsd.u32(1)
                switch self {
                case .video(let configuration, let description):
                    try VideoSampleEntry(configuration, description).write(to: &stsd)
                case .audio(let configuration): AudioSampleEntry(configuration).write(to: &stsd)
                }
            }
            stbl.fullBox("stts") { $0.u32(0) }
            stbl.fullBox("stsc") { $0.u32(0) }
            stbl.fullBox("stsz") { $0.zeros(8) }
            stbl.fullBox("stco") { $0.u32(0) }
        }
    }
}
