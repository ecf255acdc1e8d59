@testable import Media
@testable import Mux

/// Init sections and segments of fragmented MP4 with every sample entry that we write, and every form of the boxes that
/// state times and sizes.
enum MovieSeeds {
    /// - Parameter video: a configuration of the captures.
    static func movies(_ video: VideoConfiguration?) -> [[UInt8]] {
        let sections = audio.compactMap { try? InitWriter.write(video: video, audio: $0).bytes }
        let media = segments
        return media.enumerated().map { (sections.isEmpty ? [] : sections[$0 % sections.count]) + $1 }
            + sections.map { $0 + media[0] } + [edited() + media[0], plainFile]
    }

    /// Beginnings of boxes, and versions and flags after a type.
    static let words: [FuzzWord] =
        ["tfhd", "trun"].flatMap { type in
            [0, 0x01, 0x02, 0x04, 0x05, 0x10, 0x20, 0x38].map { FuzzWord(Array(type.utf8) + [0, 0, 0, $0]) }
        } + [
            FuzzWord(Array("trun".utf8) + [0, 0, 0x0F, 0x01]), FuzzWord(Array("trun".utf8) + [1, 0, 0x0F, 0x05]),
            FuzzWord(Array("trun".utf8) + [0, 0, 0x0A, 0x01]), FuzzWord(Array("tfhd".utf8) + [0, 2, 0, 0x38]),
            FuzzWord(Array("tfdt".utf8) + [1, 0, 0, 0]), FuzzWord(Array("sidx".utf8) + [0, 0, 0, 0, 0, 0, 0, 1]),
            FuzzWord(Array("sidx".utf8) + [1, 0, 0, 0, 0, 0, 0, 2]), FuzzWord(Array("elst".utf8) + [1, 0, 0, 0]),
            FuzzWord(Array("emsg".utf8) + [1, 0, 0, 0]), [0, 0, 0, 1], [0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF],
            [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0], [0, 1, 0x5F, 0x90], [0, 0, 0xBB, 0x80],
        ]

    // MARK: - Init sections

    private static let audio: [AudioConfiguration] = [
        configuration(.aac, [0x11, 0x90]), configuration(.aac, [0x2B, 0x11, 0x88, 0]),
        configuration(.mpegAudio(layer: 3), []), configuration(.ac3, [0x10, 0x3D, 0x60], samples: 1536),
        configuration(.eac3, [0x06, 0, 0x20, 0x0F, 0], samples: 1536),
    ]

    private static func configuration(
        _ codec: AudioConfiguration.Codec, _ specific: [UInt8], samples: Int = 1024
    ) -> AudioConfiguration {
        AudioConfiguration(
            codec: codec, sampleRate: 48_000, channelCount: 2, samplesPerFrame: samples, decoderSpecificInfo: specific)
    }

    /// A section of one audio track with an edit list of both kinds of edits, and defaults in `trex`.
    ///
    /// - Parameter chunk: where four samples of the file are; nil: they are in fragments.
    private static func edited(chunk: Int? = nil) -> [UInt8] {
        var writer = BoxWriter()
        writer.box("moov") { moov in
            moov.fullBox("mvhd") { mvhd in
                mvhd.zeros(8)
                mvhd.u32(1000)
                mvhd.zeros(84)
            }
            moov.box("trak") { trak in
                trak.fullBox("tkhd", version: 1, flags: 1) { tkhd in
                    tkhd.zeros(16)
                    tkhd.u32(TrackID.audio)
                    tkhd.zeros(72)
                }
                trak.box("edts") { edts in
                    edts.fullBox("elst", version: 1) { elst in
                        elst.u32(2)
                        for edit in [(duration: 500, mediaTime: -1), (duration: 0, mediaTime: 1024)]
                            as [(UInt64, Int64)]
                        {
                            elst.u64(edit.0)
                            elst.u64(UInt64(bitPattern: edit.1))
                            elst.u32(0x1_0000)
                        }
                    }
                }
                trak.box("mdia") { mdia in
                    mdia.fullBox("mdhd", version: 1) { mdhd in
                        mdhd.zeros(16)
                        mdhd.u32(48_000)
                        mdhd.zeros(12)
                    }
                    mdia.fullBox("hdlr") { hdlr in
                        hdlr.zeros(4)
                        hdlr.type("soun")
                        hdlr.zeros(13)
                    }
                    mdia.box("minf") { minf in
                        minf.box("stbl") { stbl in
                            stbl.fullBox("stsd") { stsd in
                                stsd.u32(1)
                                try? AudioSampleEntry(audio[0]).write(to: &stsd)
                            }
                            guard let chunk else { return }
                            for (type, values) in [
                                ("stts", [1, 4, 1024]), ("stsc", [1, 1, 4, 1]), ("stsz", [0, 4, 24, 24, 24, 24]),
                                ("stss", [2, 1, 3]), ("ctts", [1, 4, 0]), ("stco", [1, UInt32(chunk)]),
                            ] as [(BoxType, [UInt32])] {
                                stbl.fullBox(type) { box in for value in values { box.u32(value) } }
                            }
                        }
                    }
                }
            }
            guard chunk == nil else { return }
            moov.box("mvex") { mvex in
                mvex.fullBox("trex") { trex in for value in [TrackID.audio, 1, 1024, 24, 0] { trex.u32(value) } }
            }
        }
        return writer.bytes
    }
}

// MARK: - Segments

extension MovieSeeds {
    /// A file without fragments.
    private static var plainFile: [UInt8] {
        var writer = BoxWriter()
        writer.box("mdat") { $0.append(Array(repeating: 0x21, count: 96)) }
        return edited(chunk: edited(chunk: 0).count + 8) + writer.bytes
    }

    /// The fields of one `traf` that its flags add.
    private struct Run {
        var base: UInt32 = 0x2_0000
        var flags: UInt32 = 0x301
        var version: UInt8 = 0
        var dataOffset: Int32?
        var offset: Int32 = 3600
        var duration: UInt32 = 3600
        var decodeTime: UInt64? = 90_000
    }

    private static let runs: [Run] = [
        Run(), Run(flags: 0xF01), Run(flags: 0xA05), Run(flags: 0xB01, version: 1, offset: -3600),
        // Nothing but a count: sizes and durations are those of `tfhd` and `trex`.
        Run(base: 0x2_0038, flags: 0x001), Run(base: 0x2_0000, flags: 0x004), Run(base: 0x0_0001),
        Run(base: 0), Run(dataOffset: -40), Run(flags: 0x301, duration: 0), Run(duration: .max),
        // 26 hours, 84 days and 50 years at 90 kHz, the largest time, and none.
        Run(decodeTime: 8_424_000_000), Run(decodeTime: 653_583_619_391), Run(decodeTime: 142_006_500_000_000),
        Run(decodeTime: .max), Run(decodeTime: nil),
    ]

    static let segments: [[UInt8]] = runs.enumerated().map { number, run in
        var writer = BoxWriter()
        writer.box("styp") { $0.zeros(8) }
        if number.isMultiple(of: 2) { writeIndex(to: &writer, version: number.isMultiple(of: 4) ? 0 : 1) }
        if number.isMultiple(of: 3) { writeMessage(to: &writer, version: number.isMultiple(of: 2) ? 0 : 1) }
        writeFragment(run, to: &writer)
        writer.box("mdat") { $0.append(Array(repeating: 0x21, count: 96)) }
        return writer.bytes
    }

    /// `sidx` of one reference (§8.16.3).
    private static func writeIndex(to writer: inout BoxWriter, version: UInt8) {
        writer.fullBox("sidx", version: version) { sidx in
            sidx.u32(version == 0 ? TrackID.video : TrackID.audio)
            sidx.u32(90_000)
            if version == 0 { sidx.zeros(8) } else { sidx.zeros(16) }
            sidx.u32(1)
            for value in [200, 14_400, 0x9000_0000] as [UInt32] { sidx.u32(value) }
        }
    }

    private static func writeMessage(to writer: inout BoxWriter, version: UInt8) {
        writer.fullBox("emsg", version: version) { emsg in
            let names = Array("urn:scte:scte35:2013:bin\0\0".utf8)
            if version == 0 { emsg.append(names) }
            emsg.u32(90_000)
            if version == 0 { emsg.u32(3600) } else { emsg.u64(93_600) }
            emsg.u32(.max)
            emsg.u32(7)
            if version == 1 { emsg.append(names) }
            emsg.append(MetadataEntries.sections[1])
        }
    }

    /// A `moof` with both tracks, of two samples each.
    private static func writeFragment(_ run: Run, to writer: inout BoxWriter) {
        let start = writer.position
        var offsets: [Int] = []
        writer.box("moof") { moof in
            moof.fullBox("mfhd") { $0.u32(1) }
            for track in [TrackID.video, TrackID.audio] {
                moof.box("traf") { traf in
                    writeHeader(run, track: track, to: &traf)
                    if let time = run.decodeTime { traf.fullBox("tfdt", version: 1) { $0.u64(time) } }
                    if run.flags & 1 != 0 { offsets.append(traf.position + 16) }
                    writeRun(run, to: &traf)
                }
            }
        }
        for (number, position) in offsets.enumerated() {
            let offset = run.dataOffset ?? Int32(writer.position - start + 8 + 48 * number)
            writer.patch(UInt32(bitPattern: offset), at: position)
        }
    }

    private static func writeHeader(_ run: Run, track: UInt32, to traf: inout BoxWriter) {
        traf.fullBox("tfhd", flags: run.base) { tfhd in
            tfhd.u32(track)
            if run.base & 0x01 != 0 { tfhd.u64(0) }
            if run.base & 0x08 != 0 { tfhd.u32(1024) }
            if run.base & 0x10 != 0 { tfhd.u32(24) }
            if run.base & 0x20 != 0 { tfhd.u32(0x0101_0000) }
        }
    }

    private static func writeRun(_ run: Run, to traf: inout BoxWriter) {
        traf.fullBox("trun", version: run.version, flags: run.flags) { trun in
            trun.u32(2)
            if run.flags & 0x001 != 0 { trun.u32(0) }
            if run.flags & 0x004 != 0 { trun.u32(0x0200_0000) }
            for _ in 0..<2 {
                if run.flags & 0x100 != 0 { trun.u32(run.duration) }
                if run.flags & 0x200 != 0 { trun.u32(24) }
                if run.flags & 0x400 != 0 { trun.u32(0x0101_0000) }
                if run.flags & 0x800 != 0 { trun.u32(UInt32(bitPattern: run.offset)) }
            }
        }
    }
}
