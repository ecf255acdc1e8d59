/// Writes one program as a transport stream, with continuous counters over its segments.
struct TransportMultiplex {
    /// The media of one program or creative in a segment.
    struct Part {
        var content: Int
        var format: MediaFormat
        /// Frames in order of presentation; the first one begins a group.
        var frames: Range<Int>
        /// Further frames of the last group that follow in decoding order are not cut: a part ends with a whole pair.
        var audio: Range<Int>
        /// The time of frame 0, ticks.
        var clock: Int
        /// Whether its audio is in a rendition of its own.
        var isVideoOnly = false
        /// Whether it has a second language.
        var hasSecondAudio = false
        /// Sections of splice commands that precede its frames, and whether there may be some.
        var sections: [[UInt8]] = []
        var hasSections = false
        /// Whether tables precede each random access point.
        var repeatsTables = false
    }

    private var counters: [Int: UInt8] = [:]
    /// What was appended last.
    private(set) var units: [BroadcastStream.Unit] = []
    private static let tablePID = 4096
    private static let clockMask = 1 << 33 - 1
    /// Ticks by which PCR precedes the decode time.
    private static let lead = 18_000

    /// - Parameter counter: the first continuity_counter of every PID.
    init(counter: UInt8 = 0) { first = counter }

    private let first: UInt8

    /// Appends PAT, PMT and the packets of a part.
    mutating func append(_ part: Part, to bytes: inout [UInt8]) {
        units = []
        appendTables(part, to: &bytes)
        for section in part.sections {
            let start = bytes.count
            appendSection(section, pid: SpliceSignal.pid, to: &bytes)
            record(.section, from: start, to: bytes)
        }
        let format = part.format
        var audio = part.audio.lowerBound
        let delay = format.reorders ? format.frameDuration : 0
        for order in part.frames {
            let (group, position) = order.quotientAndRemainder(dividingBy: format.group)
            let number = group * format.group + CodedVideo.frame(position, format).number
            let decode = part.clock + order * format.frameDuration - delay
            let identity = FrameIdentity(content: part.content, frame: number)
            let unit = FrameTemplates.video(identity, at: position, format)
            if part.repeatsTables, position == 0, order > part.frames.lowerBound { appendTables(part, to: &bytes) }
            let start = bytes.count
            appendPacketized(
                unit, stream: 0xE0, pid: format.videoPID, presentation: part.clock + number * format.frameDuration,
                decode: format.reorders ? decode : nil, reference: decode - Self.lead, isRandomAccess: position == 0,
                to: &bytes)
            record(.video(identity, isRandomAccess: position == 0), from: start, to: bytes)
            guard !part.isVideoOnly else { continue }
            let until = order + 1 == part.frames.upperBound ? Int.max : (order + 1) * format.frameDuration
            while audio < part.audio.upperBound, format.audioTime(audio) < until {
                let last = min(audio + 5, part.audio.upperBound)
                appendAudio(part, audio..<last, part.content, format.audioPID, to: &bytes)
                if part.hasSecondAudio {
                    appendAudio(part, audio..<last, Self.secondContent(part.content), format.audioPID2, to: &bytes)
                }
                audio = last
            }
        }
    }

    /// The content that the audio of another language is.
    static func secondContent(_ content: Int) -> Int { content | 0x8000 }

    /// Appends tables and the audio of a part alone.
    mutating func appendAudio(of part: Part, isSecond: Bool, to bytes: inout [UInt8]) {
        units = []
        appendTables(part, isAudioOnly: true, to: &bytes)
        let content = isSecond ? Self.secondContent(part.content) : part.content
        var audio = part.audio.lowerBound
        while audio < part.audio.upperBound {
            let last = min(audio + 5, part.audio.upperBound)
            appendAudio(part, audio..<last, content, part.format.audioPID, to: &bytes)
            audio = last
        }
    }

    private mutating func appendAudio(
        _ part: Part, _ frames: Range<Int>, _ content: Int, _ pid: Int, to bytes: inout [UInt8]
    ) {
        var unit: [UInt8] = []
        let start = bytes.count
        for number in frames {
            FrameTemplates.appendAudio(FrameIdentity(content: content, frame: number), part.format, to: &unit)
        }
        appendPacketized(
            unit, stream: 0xC0, pid: pid, presentation: part.clock + part.format.audioTime(frames.lowerBound),
            decode: nil, reference: nil, isRandomAccess: false, to: &bytes)
        record(.audio(content: content, frames), from: start, to: bytes)
    }

    private mutating func record(_ content: BroadcastStream.Content, from start: Int, to bytes: [UInt8]) {
        units.append(BroadcastStream.Unit(content: content, bytes: start..<bytes.count))
    }

    // MARK: - Packets

    private mutating func appendPacketized(
        _ unit: [UInt8], stream: UInt8, pid: Int, presentation: Int, decode: Int?, reference: Int?,
        isRandomAccess: Bool, to bytes: inout [UInt8]
    ) {
        var data: [UInt8] = []
        data.reserveCapacity(unit.count + 24)
        let hasDecode = decode != nil
        data += [0, 0, 1, stream, 0, 0, 0x84, hasDecode ? 0xC0 : 0x80, hasDecode ? 10 : 5]
        Self.appendTime(presentation, hasDecode ? 3 : 2, to: &data)
        if let decode { Self.appendTime(decode, 1, to: &data) }
        if stream != 0xE0 {
            let length = data.count - 6 + unit.count
            (data[4], data[5]) = (UInt8(length >> 8), UInt8(length & 0xFF))
        }
        data += unit
        var offset = 0
        while offset < data.count {
            let clock = offset == 0 ? reference : nil
            let count = min(clock == nil ? 184 : 176, data.count - offset)
            appendHeader(pid, starts: offset == 0, hasAdaptation: count < 184, to: &bytes)
            if count < 184 { Self.appendAdaptation(183 - count, clock, isRandomAccess: isRandomAccess, to: &bytes) }
            bytes += data[offset..<offset + count]
            offset += count
        }
    }

    /// Appends an adaptation field of `size` bytes after its length, with a PCR if there is one.
    private static func appendAdaptation(
        _ size: Int, _ clock: Int?, isRandomAccess: Bool, to bytes: inout [UInt8]
    ) {
        bytes.append(UInt8(size))
        let end = bytes.count + size
        if let clock {
            let base = clock & clockMask
            bytes.append(isRandomAccess ? 0x50 : 0x10)
            for shift in [25, 17, 9, 1] { bytes.append(UInt8(base >> shift & 0xFF)) }
            bytes.append(UInt8(base & 1) << 7 | 0x7E)
            bytes.append(0)
        } else if size > 0 {
            bytes.append(0)
        }
        while bytes.count < end { bytes.append(0xFF) }
    }

    private mutating func appendHeader(_ pid: Int, starts: Bool, hasAdaptation: Bool, to bytes: inout [UInt8]) {
        let counter = counters[pid] ?? first
        counters[pid] = (counter + 1) & 15
        bytes.append(0x47)
        bytes.append((starts ? 0x40 : 0) | UInt8(pid >> 8))
        bytes.append(UInt8(pid & 0xFF))
        bytes.append((hasAdaptation ? 0x30 : 0x10) | counter)
    }

    /// The five bytes of a time stamp (ISO/IEC 13818-1 §2.4.3.7).
    private static func appendTime(_ ticks: Int, _ prefix: Int, to bytes: inout [UInt8]) {
        let time = ticks & clockMask
        bytes += [
            UInt8(prefix << 4 | (time >> 30) << 1 | 1), UInt8(time >> 22 & 0xFF), UInt8(time >> 14 & 0xFE | 1),
            UInt8(time >> 7 & 0xFF), UInt8(time << 1 & 0xFE | 1),
        ]
    }

    // MARK: - Tables

    private mutating func appendTables(_ part: Part, isAudioOnly: Bool = false, to bytes: inout [UInt8]) {
        let start = bytes.count
        appendSection([0, 0xB0, 13, 0, 1, 0xC1, 0, 0, 0, 1, 0xF0, 0], pid: 0, to: &bytes)
        let format = part.format
        var streams: [UInt8] = isAudioOnly ? [] : [0x1B] + Self.pid(format.videoPID) + [0xF0, 0]
        var languages = part.isVideoOnly && !isAudioOnly ? [] : [(format.audioPID, "eng")]
        if part.hasSecondAudio, !isAudioOnly { languages.append((format.audioPID2, "deu")) }
        for (pid, language) in languages {
            streams += [0x0F] + Self.pid(pid) + [0xF0, 6, 0x0A, 4] + Array(language.utf8) + [0]
        }
        let information: [UInt8] = part.hasSections ? [5, 4] + Array("CUEI".utf8) : []
        if part.hasSections { streams += [0x86] + Self.pid(SpliceSignal.pid) + [0xF0, 0] }
        let length = 13 + information.count + streams.count
        appendSection(
            [2, 0xB0, UInt8(length), 0, 1, 0xC1, 0, 0] + Self.pid(isAudioOnly ? format.audioPID : format.videoPID)
                + [0xF0, UInt8(information.count)] + information + streams,
            pid: Self.tablePID, to: &bytes)
        record(.tables(key: format.videoPID), from: start, to: bytes)
    }

    private static func pid(_ pid: Int) -> [UInt8] { [0xE0 | UInt8(pid >> 8), UInt8(pid & 0xFF)] }

    private mutating func appendSection(_ section: [UInt8], pid: Int, to bytes: inout [UInt8]) {
        appendHeader(pid, starts: true, hasAdaptation: false, to: &bytes)
        bytes.append(0)
        bytes += FrameTemplates.checked(section)
        bytes += repeatElement(0xFF, count: 184 - 1 - section.count - 4)
    }
}
