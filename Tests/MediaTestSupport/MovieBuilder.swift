@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// Writes init sections and movie fragments from values (ISO/IEC 14496-12 §8), both valid and faulty ones.
struct MovieBuilder {
    struct Track {
        var id: UInt32 = 1
        var timescale: UInt32 = 90_000
        var handler: BoxType = "vide"
        var isEnabled = true
        /// Sample entry types and the boxes in them.
        var entries: [(type: BoxType, boxes: [UInt8])] = [MovieBuilder.avc1()]
        /// Durations in the movie's timescale of 1000, media times in the track's timescale.
        var edits: [(duration: UInt32, mediaTime: Int32)] = []
        /// Duration, size and flags of `trex`.
        var defaults: (UInt32, UInt32, UInt32) = (0, 0, 0)
        /// Sample tables, each as its values after version and flags.
        var tables: [(type: BoxType, values: [UInt32])] = []
    }

    /// A file whose samples are in the tables of its tracks.
    /// - Parameter media: what follows `moov` in an `mdat`, to which the tables refer from the file's beginning.
    static func plainFile(_ tracks: [Track], media: [UInt8]) -> [UInt8] {
        initialization(tracks, isFragmented: false) + box("mdat", media)
    }

    /// A file of one track of video.
    /// - Parameters:
    ///   - chunks: by which the samples are divided.
    ///   - size: of each sample.
    static func plainFile(samples count: Int, chunks: Int, size: Int) -> [UInt8] {
        func track(_ start: Int) -> Track {
            let perChunk = count / chunks
            let offsets = (0..<chunks).map { UInt32(start + $0 * perChunk * size) }
            return Track(tables: [
                ("stts", [1, UInt32(count), 3600]), ("stsz", [UInt32(size), UInt32(count)]),
                ("stsc", [1, 1, UInt32(perChunk), 1]), ("stco", [UInt32(chunks)] + offsets),
            ])
        }
        let start = initialization([track(0)], isFragmented: false).count + 8
        return plainFile([track(start)], media: [UInt8](repeating: 0, count: count * size))
    }

    static func initialization(_ tracks: [Track], isFragmented: Bool = true) -> [UInt8] {
        var writer = BoxWriter()
        writer.box("ftyp") { $0.zeros(8) }
        writer.box("moov") { moov in
            moov.fullBox("mvhd") { mvhd in
                mvhd.zeros(8)
                mvhd.u32(1000)
                mvhd.zeros(80)
            }
            for track in tracks { append(track, to: &moov) }
            guard isFragmented else { return }
            moov.box("mvex") { mvex in
                for track in tracks {
                    mvex.fullBox("trex") { trex in
                        for value in [track.id, 1, track.defaults.0, track.defaults.1, track.defaults.2] {
                            trex.u32(value)
                        }
                    }
                }
            }
        }
        return writer.bytes
    }

    private static func append(_ track: Track, to moov: inout BoxWriter) {
        moov.box("trak") { trak in
            trak.fullBox("tkhd", flags: track.isEnabled ? 1 : 0) { tkhd in
                tkhd.zeros(8)
                tkhd.u32(track.id)
                tkhd.zeros(68)
            }
            if !track.edits.isEmpty {
                trak.box("edts") { edts in
                    edts.fullBox("elst") { elst in
                        elst.u32(UInt32(track.edits.count))
                        for edit in track.edits {
                            elst.u32(edit.duration)
                            elst.u32(UInt32(bitPattern: edit.mediaTime))
                            elst.u32(0x1_0000)
                        }
                    }
                }
            }
            trak.box("mdia") { mdia in
                mdia.fullBox("mdhd") { mdhd in
                    mdhd.zeros(8)
                    mdhd.u32(track.timescale)
                    mdhd.zeros(8)
                }
                mdia.fullBox("hdlr") { hdlr in
                    hdlr.zeros(4)
                    hdlr.type(track.handler)
                    hdlr.zeros(13)
                }
                mdia.box("minf") { minf in
                    minf.box("stbl") { stbl in
                        appendEntries(track, to: &stbl)
                        for table in track.tables {
                            stbl.fullBox(table.type) { box in for value in table.values { box.u32(value) } }
                        }
                    }
                }
            }
        }
    }

    private static func appendEntries(_ track: Track, to stbl: inout BoxWriter) {
        stbl.fullBox("stsd") { stsd in
            stsd.u32(UInt32(track.entries.count))
            for entry in track.entries {
                stsd.box(entry.type) { box in
                    box.zeros(8)
                    if track.handler == "soun" {
                        box.zeros(8)
                        box.u16(2)
                        box.zeros(6)
                        box.u32(48_000 << 16)
                    } else if track.handler != "text" {
                        box.zeros(70)
                    }
                    box.append(entry.boxes)
                }
            }
        }
    }
}

// MARK: - Sample entries

extension MovieBuilder {
    static let parameterSets = (sequence: h264Rows[13].nalUnit, picture: bytes("68ce3c80"))

    /// - Parameter sets: whether `avcC` has parameter sets.
    static func avc1(
        _ type: BoxType = "avc1", lengthSize: UInt8 = 4, sets: Bool = true, inside boxes: [UInt8] = []
    ) -> (type: BoxType, boxes: [UInt8]) {
        var writer = BoxWriter()
        writer.box("avcC") { avcC in
            avcC.append([1, 0x64, 0, 30, 0xFC | lengthSize - 1, sets ? 0xE1 : 0xE0])
            if sets { avcC.appendUnit(parameterSets.sequence) }
            avcC.u8(sets ? 1 : 0)
            if sets { avcC.appendUnit(parameterSets.picture) }
        }
        return (type, writer.bytes + boxes)
    }

    static func box(_ type: BoxType, _ body: [UInt8]) -> [UInt8] {
        var writer = BoxWriter()
        writer.box(type) { $0.append(body) }
        return writer.bytes
    }

    static func mp4a(objectType: UInt8 = 0x40, _ info: [UInt8]) -> (type: BoxType, boxes: [UInt8]) {
        let size = UInt8(info.count)
        let specific: [UInt8] = info.isEmpty ? [] : [5, size] + info
        let decoder: [UInt8] =
            [4, 13 + UInt8(specific.count), objectType] + [UInt8](repeating: 0, count: 12) + specific
        return ("mp4a", box("esds", [0, 0, 0, 0, 3, 3 + UInt8(decoder.count), 0, 0, 0] + decoder))
    }
}

extension BoxWriter {
    fileprivate mutating func appendUnit(_ unit: [UInt8]) {
        u16(UInt16(unit.count))
        append(unit)
    }
}

// MARK: - Fragments

extension MovieBuilder {
    struct Sample {
        var duration: UInt32 = 3600
        var offset: Int32 = 0
        var flags: UInt32 = 0
        var payload: [UInt8]
    }

    struct Traf {
        var id: UInt32 = 1
        /// `tfdt`; nil for none.
        var decodeTime: UInt64? = 0
        var decodeTimeVersion: UInt8 = 1
        var headerFlags: UInt32 = 0x2_0000
        var descriptionIndex: UInt32?
        /// Duration, size and flags of `tfhd`.
        var defaults: (UInt32?, UInt32?, UInt32?) = (nil, nil, nil)
        /// base_data_offset; nil for none.
        var baseDataOffset: UInt64?
        /// Flags and samples of each `trun`. Data offsets are computed where the flag is set.
        var runs: [(flags: UInt32, samples: [Sample])]
        var runVersion: UInt8 = 1
    }

    /// The order of `moof` and `mdat`.
    enum Layout { case mediaAfterHeader, mediaBeforeHeader }

    /// Returns a moof and its mdat, with payloads in the order of track runs.
    /// - Parameter base: a value added to every data offset.
    static func fragment(_ trafs: [Traf], layout: Layout = .mediaAfterHeader, base: Int = 0) -> [UInt8] {
        let payload = trafs.flatMap { $0.runs.flatMap { $0.samples.flatMap(\.payload) } }
        let mdat = box("mdat", payload)
        let size = moof(trafs, dataOffset: 0).count
        let dataOffset = layout == .mediaAfterHeader ? size + 8 : -payload.count
        let moof = moof(trafs, dataOffset: dataOffset + base)
        return layout == .mediaAfterHeader ? moof + mdat : mdat + moof
    }

    private static func moof(_ trafs: [Traf], dataOffset: Int) -> [UInt8] {
        var writer = BoxWriter()
        var offset = dataOffset
        writer.box("moof") { moof in
            moof.fullBox("mfhd") { $0.u32(1) }
            for traf in trafs { moof.box("traf") { append(traf, to: &$0, offset: &offset) } }
        }
        return writer.bytes
    }

    private static func append(_ traf: Traf, to box: inout BoxWriter, offset: inout Int) {
        let (duration, size, flags) = traf.defaults
        var headerFlags = traf.headerFlags | (traf.baseDataOffset == nil ? 0 : 1)
        headerFlags |= traf.descriptionIndex == nil ? 0 : 2
        headerFlags |= duration == nil ? 0 : 8
        headerFlags |= (size == nil ? 0 : 0x10) | (flags == nil ? 0 : 0x20)
        box.fullBox("tfhd", flags: headerFlags) { tfhd in
            tfhd.u32(traf.id)
            if let base = traf.baseDataOffset { tfhd.u64(base) }
            for value in [traf.descriptionIndex, duration, size, flags] { if let value { tfhd.u32(value) } }
        }
        if let time = traf.decodeTime {
            box.fullBox("tfdt", version: traf.decodeTimeVersion) { tfdt in
                if traf.decodeTimeVersion == 1 { tfdt.u64(time) } else { tfdt.u32(UInt32(time)) }
            }
        }
        for run in traf.runs {
            append(run.flags, run.samples, version: traf.runVersion, to: &box, offset: offset)
            offset += run.samples.reduce(0) { $0 + $1.payload.count }
        }
    }

    private static func append(
        _ flags: UInt32, _ samples: [Sample], version: UInt8, to traf: inout BoxWriter, offset: Int
    ) {
        traf.fullBox("trun", version: version, flags: flags) { trun in
            trun.u32(UInt32(samples.count))
            if flags & 1 != 0 { trun.u32(UInt32(bitPattern: Int32(offset))) }
            if flags & 4 != 0 { trun.u32(samples[0].flags) }
            for sample in samples {
                if flags & 0x100 != 0 { trun.u32(sample.duration) }
                if flags & 0x200 != 0 { trun.u32(UInt32(sample.payload.count)) }
                if flags & 0x400 != 0 { trun.u32(sample.flags) }
                if flags & 0x800 != 0 { trun.u32(UInt32(bitPattern: sample.offset)) }
            }
        }
    }
}
