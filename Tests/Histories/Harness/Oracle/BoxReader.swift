/// Reads the boxes of ISO/IEC 14496-12 in published bytes.
struct BoxReader {
    struct Box {
        let type: String
        /// Offsets of the content.
        let content: Range<Int>
        let start: Int
    }

    struct Malformed: Error { let text: String }

    let bytes: [UInt8]

    /// The boxes in a range, one after the other.
    func boxes(in range: Range<Int>) throws -> [Box] {
        var boxes: [Box] = []
        var offset = range.lowerBound
        while offset < range.upperBound {
            guard offset + 8 <= range.upperBound else {
                throw Malformed(text: "\(range.upperBound - offset) bytes after the last box")
            }
            let size = integer(offset, 4)
            guard size >= 8, offset + size <= range.upperBound else {
                throw Malformed(text: "a box of \(size) bytes at \(offset) in \(range)")
            }
            let type = String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self)
            boxes.append(Box(type: type, content: offset + 8..<offset + size, start: offset))
            offset += size
        }
        return boxes
    }

    func box(_ path: String..., in range: Range<Int>) throws -> Range<Int> {
        var found = range
        for type in path {
            guard let next = try boxes(in: found).first(where: { $0.type == type }) else {
                throw Malformed(text: "no \(type)")
            }
            found = next.content
        }
        return found
    }

    func integer(_ offset: Int, _ count: Int) -> Int {
        var value = 0
        for index in offset..<offset + count { value = value << 8 | Int(bytes[index]) }
        return value
    }

    /// A signed number of 32 bits.
    func signed(_ offset: Int) -> Int { Int(Int32(truncatingIfNeeded: integer(offset, 4))) }
}

/// A published init section.
struct PublishedInit {
    struct Track {
        let number: Int
        let isVideo: Bool
        let timescale: Int
        /// Media time at which the presentation begins, by the edit list.
        var mediaStart = 0
        /// Size in pixels of video.
        var width = 0
        var height = 0
        /// Parameter sets of video, AudioSpecificConfig of audio.
        var configuration: [[UInt8]] = []
    }

    var tracks: [Track] = []

    init(_ bytes: [UInt8]) throws {
        let reader = BoxReader(bytes: bytes)
        let top = try reader.boxes(in: 0..<bytes.count)
        guard top.first?.type == "ftyp", let movie = top.first(where: { $0.type == "moov" }) else {
            throw BoxReader.Malformed(text: "an init section of \(top.map(\.type))")
        }
        _ = try reader.box("mvex", in: movie.content)
        for box in try reader.boxes(in: movie.content) where box.type == "trak" {
            tracks.append(try Self.track(reader, box.content))
        }
    }

    private static func track(_ reader: BoxReader, _ range: Range<Int>) throws -> Track {
        let header = try reader.box("tkhd", in: range)
        let number = reader.integer(header.lowerBound + (reader.bytes[header.lowerBound] == 1 ? 20 : 12), 4)
        let mediaHeader = try reader.box("mdia", "mdhd", in: range)
        let scale = reader.integer(mediaHeader.lowerBound + (reader.bytes[mediaHeader.lowerBound] == 1 ? 20 : 12), 4)
        let handler = try reader.box("mdia", "hdlr", in: range)
        let kind = reader.bytes[handler.lowerBound + 8..<handler.lowerBound + 12]
        var track = Track(number: number, isVideo: kind.elementsEqual("vide".utf8), timescale: scale)
        if let edits = try? reader.box("edts", "elst", in: range) {
            let isLong = reader.bytes[edits.lowerBound] == 1
            let entry = edits.lowerBound + 8
            track.mediaStart = isLong ? reader.integer(entry + 8, 8) : reader.signed(entry + 4)
        }
        let description = try reader.box("mdia", "minf", "stbl", "stsd", in: range)
        guard let sample = try reader.boxes(in: description.lowerBound + 8..<description.upperBound).first else {
            throw BoxReader.Malformed(text: "no sample entry")
        }
        let start = sample.content.lowerBound
        if track.isVideo {
            (track.width, track.height) = (reader.integer(start + 24, 2), reader.integer(start + 26, 2))
            let configuration = try reader.box("avcC", in: start + 78..<sample.content.upperBound)
            track.configuration = parameterSets(reader, configuration)
        } else {
            let descriptor = try reader.box("esds", in: start + 28..<sample.content.upperBound)
            track.configuration = [audioConfiguration(Array(reader.bytes[descriptor.dropFirst(4)]))]
        }
        return track
    }

    private static func parameterSets(_ reader: BoxReader, _ range: Range<Int>) -> [[UInt8]] {
        var offset = range.lowerBound + 5
        var sets: [[UInt8]] = []
        for mask in [0x1F, 0xFF] where offset < range.upperBound {
            let count = Int(reader.bytes[offset]) & mask
            offset += 1
            for _ in 0..<count {
                let size = reader.integer(offset, 2)
                sets.append(Array(reader.bytes[offset + 2..<offset + 2 + size]))
                offset += 2 + size
            }
        }
        return sets
    }

    /// DecoderSpecificInfo: the descriptor with tag 5 (ISO/IEC 14496-1 §7.2.6.7).
    private static func audioConfiguration(_ bytes: [UInt8]) -> [UInt8] {
        var offset = 0
        while offset + 1 < bytes.count {
            let tag = bytes[offset]
            var size = 0
            repeat {
                offset += 1
                size = size << 7 | Int(bytes[offset] & 0x7F)
            } while bytes[offset] & 0x80 != 0 && offset + 1 < bytes.count
            offset += 1
            switch tag {
            case 3: offset += 3
            case 4: offset += 13
            case 5: return Array(bytes[offset..<min(bytes.count, offset + size)])
            default: offset += size
            }
        }
        return []
    }
}

/// A published media segment.
struct PublishedMedia {
    struct Sample {
        var identity: FrameIdentity?
        /// Decode and presentation time in the track's timescale.
        let decode: Int
        let presentation: Int
        let duration: Int
        var size = 0
        let isSync: Bool
        /// H.264: SPS and PPS in the sample.
        var parameterSets: [[UInt8]] = []
    }

    struct Track {
        let number: Int
        var decodeTime: Int
        var samples: [Sample] = []
        var duration: Int { samples.reduce(0) { $0 + $1.duration } }
    }

    /// One for each traf, in order.
    var tracks: [Track] = []

    func samples(of track: Int) -> [Sample] {
        let parts = tracks.filter { $0.number == track }
        return parts.count == 1 ? parts[0].samples : parts.flatMap(\.samples)
    }

    init(_ bytes: [UInt8], _ initialization: PublishedInit) throws {
        let reader = BoxReader(bytes: bytes)
        for box in try reader.boxes(in: 0..<bytes.count) where box.type == "moof" {
            for child in try reader.boxes(in: box.content) where child.type == "traf" {
                try append(reader, child.content, box.start, initialization)
            }
        }
    }

    private mutating func append(
        _ reader: BoxReader, _ range: Range<Int>, _ base: Int, _ initialization: PublishedInit
    ) throws {
        let header = try reader.box("tfhd", in: range).lowerBound
        let flags = reader.integer(header + 1, 3)
        let number = reader.integer(header + 4, 4)
        guard let known = initialization.tracks.first(where: { $0.number == number }) else {
            throw BoxReader.Malformed(text: "track \(number) is not in the init section")
        }
        guard flags & 0x2_0000 != 0 else { throw BoxReader.Malformed(text: "no default-base-is-moof") }
        var offset = header + 8
        var defaults = [0, 0, 0]
        for (index, flag) in [0x8, 0x10, 0x20].enumerated() where flags & flag != 0 {
            defaults[index] = reader.integer(offset, 4)
            offset += 4
        }
        let time = try reader.box("tfdt", in: range).lowerBound
        let decodeTime = reader.integer(time + 4, reader.bytes[time] == 1 ? 8 : 4)
        var track = Track(number: number, decodeTime: decodeTime)
        var decode = decodeTime
        for run in try reader.boxes(in: range) where run.type == "trun" {
            try append(reader, run.content, base, defaults, known, &decode, &track)
        }
        tracks.append(track)
    }

    private func append(
        _ reader: BoxReader, _ range: Range<Int>, _ base: Int, _ defaults: [Int], _ known: PublishedInit.Track,
        _ decode: inout Int, _ track: inout Track
    ) throws {
        let flags = reader.integer(range.lowerBound + 1, 3)
        let count = reader.integer(range.lowerBound + 4, 4)
        guard flags & 1 != 0 else { throw BoxReader.Malformed(text: "no data offset") }
        var data = base + reader.signed(range.lowerBound + 8)
        var offset = range.lowerBound + 12
        var firstFlags: Int?
        if flags & 4 != 0 {
            firstFlags = reader.integer(offset, 4)
            offset += 4
        }
        for index in 0..<count {
            var (duration, size, sampleFlags, shift) = (defaults[0], defaults[1], defaults[2], 0)
            if index == 0, let firstFlags { sampleFlags = firstFlags }
            if flags & 0x100 != 0 { (duration, offset) = (reader.integer(offset, 4), offset + 4) }
            if flags & 0x200 != 0 { (size, offset) = (reader.integer(offset, 4), offset + 4) }
            if flags & 0x400 != 0 { (sampleFlags, offset) = (reader.integer(offset, 4), offset + 4) }
            if flags & 0x800 != 0 { (shift, offset) = (reader.signed(offset), offset + 4) }
            guard data + size <= reader.bytes.count else { throw BoxReader.Malformed(text: "a sample past the end") }
            let payload = data..<data + size
            var sample = Sample(
                decode: decode, presentation: decode + shift - known.mediaStart, duration: duration, size: size,
                isSync: sampleFlags & 0x1_0000 == 0)
            if known.isVideo {
                Self.readVideo(reader, payload, &sample)
            } else {
                Self.readAudio(reader, payload, &sample)
            }
            track.samples.append(sample)
            decode += duration
            data += size
        }
    }

    /// Finds the identity of a video frame, and its parameter sets if it is a sync sample.
    private static func readVideo(_ reader: BoxReader, _ payload: Range<Int>, _ sample: inout Sample) {
        var offset = payload.lowerBound
        while offset + 4 < payload.upperBound {
            let unit = offset + 4..<offset + 4 + reader.integer(offset, 4)
            guard unit.upperBound <= payload.upperBound else { return }
            let header = reader.bytes[unit.lowerBound]
            let identity = unit.lowerBound + 3
            if header == 6, unit.count >= 31, sample.identity == nil,
                reader.bytes[identity..<identity + 16].elementsEqual(CodedVideo.identifier)
            {
                sample.identity = FrameIdentity(digits: reader.bytes[identity + 16..<identity + 28])
            }
            if sample.isSync, [7, 8].contains(header & 31) { sample.parameterSets.append(Array(reader.bytes[unit])) }
            offset = unit.upperBound
        }
    }

    private static func readAudio(_ reader: BoxReader, _ payload: Range<Int>, _ sample: inout Sample) {
        let start = payload.lowerBound
        guard payload.count >= 15, reader.integer(start, 3) == 0x810D41 else { return }
        sample.identity = FrameIdentity(digits: reader.bytes[start + 3..<start + 15])
    }
}
