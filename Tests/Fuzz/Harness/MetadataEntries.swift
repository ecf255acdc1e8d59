@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice

/// Entries for timed metadata and subtitles.
enum MetadataEntries {
    static let all = [id3, eventMessage, spliceInformation, webVTT]

    private static let id3 = FuzzEntry(
        "id3", "ID3 tags before packed audio", largest: 1024,
        dictionary: ["ID3\u{4}\0\0\0\0\0\u{3F}", "PRIV", "TXXX", "com.apple.streaming.transportStreamTimestamp\0"],
        seeds: { seeds in seeds.segments(in: .packedAudio).map { Array($0.prefix(256)) } },
        run: { bytes in
            let tags = try ID3Tags(bytes)
            try demand((0...bytes.count).contains(tags.end), "the tags end at \(tags.end) of \(bytes.count)")
            try demand(
                tags.metadataTags.reduce(0) { $0 + $1.count } <= tags.end, "the metadata is larger than the tags")
            for tag in tags.metadataTags {
                let again = try ID3Tags(tag)
                try demand(again.end == tag.count && again.metadataTags == [tag], "\(tag) does not parse to itself")
                try demand(again.timestamp == nil, "the metadata contains the timestamp tag: \(tag)")
            }
            try demand(tags.timestamp.map { (0..<Ticks.wrap).contains($0.count) } ?? true, "a time above 33 bits")
        })

    private static let eventMessage = FuzzEntry(
        "event-message", "the body of an emsg (ISO/IEC 23009-1), read and written", largest: 1024,
        dictionary: ["\u{1}\0\0\0", "urn:scte:scte35:2013:bin\0", "https://aomedia.org/emsg/ID3\0"],
        seeds: { seeds in
            seeds.segments(in: .fragmentedMP4).flatMap { segment in
                let boxes = (try? BoxReader.wholeBoxes(in: segment[...]).boxes) ?? []
                return boxes.filter { $0.type == "emsg" }.map { Array($0.body) }
            }
        },
        run: { bytes in
            let read: EventMessageBox
            let box = Box(type: "emsg", body: bytes[...], start: 0)
            do throws(MediaError) { read = try EventMessageBox(box) } catch { return }
            let time = read.time(from: .zero) ?? .zero
            try demand((0..<Ticks.wrap).contains(time.count), "a time above 33 bits")
            var writer = BoxWriter()
            PlacedMessage(message: read.message, time: time).write(to: &writer)
            let again = try EventMessageBox(Box(type: "emsg", body: writer.bytes[8...], start: 0))
            try demand(again.time(from: nil) == time, "\(time) is written as \(again.presentationTime)")
            let (one, other) = (read.message, again.message)
            try demand(
                (one.scheme, one.value, one.number) == (other.scheme, other.value, other.number)
                    && one.data == other.data, "\(one) is written as \(other)")
            try demand(
                other.duration == nil || other.duration == one.duration,
                "the duration changed from \(one.duration?.count ?? 0)")
        })

    /// The CRC_32 is corrected, because a fuzzer does not guess it.
    private static let spliceInformation = FuzzEntry(
        "splice-information", "a splice_info_section (SCTE 35)", largest: 1024, dictionary: ["CUEI", "\u{2}"],
        seeds: { _ in sections },
        run: { bytes in
            guard bytes.count > 4 else { return }
            var section = bytes
            SectionRepair.seal(0..<section.count, of: &section)
            let information: SpliceInfoSection
            do throws(MediaError) { information = try SpliceInfoSection(section) } catch { return }
            try demand(information.bytes == section, "the section is passed on with different bytes")
            let times = [information.spliceTime] + information.cues.map(\.duration)
            for time in times { try demand(time?.count ?? 0 >= 0, "a negative time") }
            try demand(
                information.segmentations.count * 6 <= bytes.count,
                "\(information.segmentations.count) of \(bytes.count)")
        })

    /// A time_signal with a placement opportunity, a splice_insert, an empty command (SCTE 35 §14).
    static let sections: [[UInt8]] = [
        [
            0xFC, 0x30, 0x34, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xF0, 5, 6, 0xFE, 0x72, 0xBD, 0, 0x50, 0, 0x1E, 2, 0x1C,
            0x43, 0x55, 0x45, 0x49, 0x48, 0, 0, 0x8E, 0x7F, 0xCF, 0, 1, 0xA5, 0x99, 0xB0, 8, 8, 0, 0, 0, 0, 0x2C, 0xA0,
            0xA1, 0x8A, 0x34, 2, 0, 0, 0, 0, 0,
        ],
        [
            0xFC, 0x30, 0x2F, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xF0, 0x14, 5, 0x48, 0, 0, 0x8F, 0x7F, 0xEF, 0xFE, 0x73,
            0x69, 0xC0, 0x2E, 0xFE, 0, 0x52, 0xCC, 0xF5, 0, 0, 0, 0, 0, 0x0A, 0, 8, 0x43, 0x55, 0x45, 0x49, 0, 0, 1,
            0x35, 0, 0, 0, 0,
        ],
        [0xFC, 0x30, 0x11, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xF0, 0, 0, 0, 0, 0, 0, 0, 0],
    ]

    private static let webVTT = FuzzEntry(
        "webvtt", "a WebVTT segment, and the subtitles published from it", largest: 4096,
        dictionary: [
            "WEBVTT\n\n", " --> ", "X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:", "STYLE\n", "REGION\n", "NOTE ",
        ],
        seeds: { seeds in Array(seeds.subtitles.prefix(60)) + [fragmentedWebVTT] },
        run: { bytes in
            try publish(bytes)
            let file: WebVTT
            do throws(MediaError) { file = try WebVTTParser.parse(bytes) } catch { return }
            let text = WebVTTWriter.write(definitions: file.definitions, cues: file.cues, from: Ticks(900_000))
            let again: WebVTT
            do throws(MediaError) { again = try WebVTTParser.parse(text) } catch {
                throw FuzzFinding(description: "a written file cannot be parsed: \(error)")
            }
            let output = String(decoding: text, as: UTF8.self)
            try demand(again.cues == file.cues, "\(file.cues) parses as \(again.cues) from\n\(output)")
            try demand(again.definitions == file.definitions, "different definitions are parsed from\n\(output)")
        })

    /// An init section and a fragment of WebVTT (ISO/IEC 14496-30 §7): a cue over two samples of 1 s, with one in the second.
    private static var fragmentedWebVTT: [UInt8] {
        func box(_ type: BoxType, _ bodies: [UInt8]...) -> [UInt8] {
            var writer = BoxWriter()
            writer.box(type) { $0.append(bodies.joined()) }
            return writer.bytes
        }
        func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
        let cue = box("vttc", box("iden", [0x31]), box("sttg", Array("line:0".utf8)), box("payl", Array("a\n\nb".utf8)))
        let samples = [cue, cue + box("vttc", box("payl", Array("-->".utf8)))]
        let entry = box("wvtt", zeros(8), box("vttC", Array("WEBVTT\n\nSTYLE\n::cue {}".utf8)))
        let media = box(
            "mdia", box("mdhd", zeros(12), [0, 0, 0x03, 0xE8], zeros(8)),
            box("hdlr", zeros(8), Array("text".utf8), zeros(13)),
            box("minf", box("stbl", box("stsd", zeros(7), [1], entry))))
        let movie = box("moov", box("trak", box("tkhd", zeros(15), [1], zeros(68)), media), box("mvex"))
        let sizes = samples.flatMap { sample -> [UInt8] in [0, 0, 0x03, 0xE8, 0, 0, 0, UInt8(sample.count)] }
        let run = box("trun", [0, 0, 0x03, 0x01], [0, 0, 0, 2], [0, 0, 0, 0], sizes)
        let fragment = box("traf", box("tfhd", [0, 2, 0, 0], [0, 0, 0, 1]), box("tfdt", zeros(8)), run)
        var moof = box("moof", box("mfhd", zeros(7), [1]), fragment)
        // data_offset of trun, from the moof to the first sample.
        let offset = moof.count - sizes.count - 4
        moof.replaceSubrange(offset..<offset + 4, with: [0, 0, 0, UInt8(moof.count + 8)])
        return movie + moof + box("mdat", samples[0], samples[1])
    }

    /// Publishes the subtitles of one minute of video in four segments.
    private static func publish(_ bytes: [UInt8]) throws {
        var timeline = SubtitleTimeline(sources: [nil], lateness: .seconds(20))
        var files: [SegmentSubtitles] = []
        for number in 0..<UInt64(4) {
            let start = Ticks.seconds(Int64(number) * 15)
            let input = SubtitleInput(
                mediaSequence: number, duration: .seconds(15), programDateTime: number == 1 ? 1_767_225_600_000 : nil,
                initialization: bytes, bytes: bytes)
            files += timeline.append(input, rendition: 0)
            let span = SourceSpan(
                period: 0, mediaSequence: number, discontinuitySequence: 0,
                programDateTime: 1_767_225_600_000 + Int64(number) * 15_000, start: start + .seconds(10),
                end: start + .seconds(25), outputStart: start)
            files += timeline.append(
                [span],
                of: SubtitleSegmenter.PublishedSegment(
                    mediaSequence: number, period: 0, start: start, end: start + .seconds(15)))
        }
        files += timeline.end(0) + timeline.endVideo()
        try demand(files.map(\.mediaSequence) == [0, 1, 2, 3], "subtitles of \(files.map(\.mediaSequence))")
        for file in files {
            do throws(MediaError) { _ = try WebVTTParser.parse(file.bytes) } catch {
                throw FuzzFinding(description: "a published file cannot be parsed: \(error)")
            }
        }
    }
}
