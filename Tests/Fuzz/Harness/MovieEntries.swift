@testable import Demux
@testable import Media

/// Entries for fragmented MP4 (ISO/IEC 14496-12).
enum MovieEntries {
    static let all = [boxes, movie]

    static let words: [FuzzWord] =
        MovieSeeds.words + [
            "moov", "mvhd", "trak", "tkhd", "edts", "elst", "mdia", "mdhd", "hdlr", "vide", "soun", "minf", "stbl",
            "stsd",
            "avc1", "avc3", "avcC", "hvc1", "hev1", "hvcC", "mp4a", "esds", "ac-3", "dac3", "ec-3", "dec3", "fLaC",
            "dfLa",
            "Opus", "dOps", "encv", "sinf", "mvex", "trex", "moof", "mfhd", "traf", "tfhd", "tfdt", "trun",
            "mdat",
            "styp", "sidx", "emsg", "senc",
        ]

    static func movies(_ seeds: CaptureSeeds) -> [[UInt8]] {
        MovieSeeds.movies(ElementaryEntries.videoPackets(seeds).first?.configuration)
            + seeds.movies.map { Array($0.prefix(24 << 10)) }
    }

    private static let boxes = FuzzEntry(
        "boxes", "nested boxes", largest: 4096, dictionary: words,
        seeds: { seeds in movies(seeds).map { Array($0.prefix(2048)) } },
        run: { bytes in
            let (boxes, rest) = try BoxReader.wholeBoxes(in: bytes[...])
            let end = boxes.last?.body.endIndex ?? 0
            try demand(end + rest.count == bytes.count, "\(bytes.count - end - rest.count) bytes are not in a box")
            for box in boxes { try walk(box, depth: 0) }
        })

    private static func walk(_ box: Box, depth: Int) throws {
        guard depth < 16 else { return }
        for fields in [0, 4, 8] {
            let children: [Box]
            do throws(MediaError) { children = try box.children(after: fields) } catch { continue }
            try demand(
                children.allSatisfy { $0.start >= box.body.startIndex && $0.body.endIndex <= box.body.endIndex },
                "a child box exceeds its parent")
            // Follow one interpretation only, because the number of others doubles at each level.
            for child in children { try walk(child, depth: depth + 1) }
            return
        }
    }

    /// The init section ends at the first `moof` or `styp`.
    private static let movie = FuzzEntry(
        "movie", "an init section and a segment of fragmented MP4, and an MP4 file", largest: 32 << 10,
        dictionary: words,
        seeds: { seeds in movies(seeds) },
        run: { bytes in
            let initEnd = initializationEnd(of: bytes)
            for tracks in [TrackSelection.both, .audio] {
                var demuxer = FragmentedMP4Demuxer(tracks: tracks)
                var outputs: [DemuxedSegment] = []
                do throws(MediaError) {
                    try demuxer.initialize(with: Array(bytes[..<initEnd]))
                    for _ in 0..<2 { outputs.append(try demuxer.feed(Array(bytes[initEnd...]))) }
                } catch { outputs.append(demuxer.reset()) }
                outputs.append(demuxer.finish())
                try DemuxInvariants(bytes: 2 * bytes.count).check(outputs)
            }
            // A file that cannot be used is refused with a typed error.
            do { try readFile(bytes) } catch is MediaError {}
        })

    /// Reads the bytes as a file, whose segments are parts of it.
    private static func readFile(_ bytes: [UInt8]) throws {
        var index = try MediaFileIndex(
            beginning: Array(bytes.prefix(512)), byteCount: UInt64(bytes.count), FileCutting(maxBytes: 8 << 10))
        var reads = 0
        while let range = index.neededRange {
            reads += 1
            try demand(reads <= bytes.count, "\(reads) parts of \(bytes.count) bytes were read")
            try index.append(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
        }
        var demuxer = FragmentedMP4Demuxer()
        var outputs: [DemuxedSegment] = []
        for segment in index.segments {
            try demand(segment.range.upperBound <= UInt64(bytes.count), "a segment ends after the file")
            guard let initialization = index.initialization else { return }
            let part = Array(bytes[Int(segment.range.lowerBound)..<Int(segment.range.upperBound)])
            do throws(MediaError) {
                try demuxer.initialize(with: initialization.bytes)
                outputs.append(try demuxer.feed(part, of: [segment.range]))
            } catch { outputs.append(demuxer.reset()) }
        }
        try DemuxInvariants(bytes: bytes.count).check(outputs)
    }

    static func initializationEnd(of bytes: [UInt8]) -> Int {
        let names = ["moof", "styp"].compactMap { bytes.firstRange(of: Array($0.utf8))?.lowerBound }
        return max(0, (names.min() ?? bytes.count + 4) - 4)
    }
}
