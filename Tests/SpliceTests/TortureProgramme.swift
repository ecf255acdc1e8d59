import TestSupport

@testable import Splice

/// One programme of a made-up channel: what its encoder would send, picture by picture and frame by frame.
struct TortureProgramme: Sendable {
    /// A picture lasts `numerator` / `denominator` ticks.
    struct Rate: Sendable {
        var numerator: Int64
        var denominator: Int64

        static let film = Rate(numerator: 15_015, denominator: 4)
        static let pal = Rate(numerator: 3600, denominator: 1)
        static let ntsc = Rate(numerator: 3003, denominator: 1)
        static let pal50 = Rate(numerator: 1800, denominator: 1)

        func time(_ picture: Int) -> Int64 {
            (Int64(picture) * numerator * 2 + denominator) / (2 * denominator)
        }
    }

    var serial: Int
    var rate = Rate.pal
    /// Its parameter sets are of `hevcRows`.
    var isHEVC = false
    /// Of `h264Rows`.
    var parameterSets = 5
    /// B-pictures between two reference pictures.
    var reordered = 0
    var group = 25
    var videoPID: UInt16 = 256
    var audioPID: UInt16 = 257
    /// Decode time of the first picture; the wire has its low 33 bits.
    var clock: Int64 = 900_000
    var hasAudio = true
    var soundsInCompanion = false
    /// sampling_frequency_index: 3 is 48 kHz, 4 44.1 kHz.
    var frequencyIndex: UInt8 = 3
    var channels: UInt8 = 2
    /// Of the first audio frame behind the first picture's presentation, ticks.
    var audioOffset: Int64 = 0
    /// The sound counts from here instead of from the picture's clock.
    var audioClock: Int64?
    /// How much later than its picture sound is multiplexed, ticks.
    var audioLag: Int64 = 0
    var framesPerPacket = 2
    /// MPEG-1 layer III instead of AAC.
    var isLayer3 = false
    /// Pictures of its first group and of its end that are not sent: it was cut out of something longer.
    var cutAtStart = 0
    var cutAtEnd = 0
    /// The first picture is followed by as many that are shown before it as `reordered` says.
    var hasLeadingPictures = false
    /// Pictures of each of its segments.
    var segments: [Int] = [50, 50, 50]

    var pictureCount: Int { segments.reduce(0, +) }
    /// In decoding order.
    var sentPictures: Range<Int> { cutAtStart..<pictureCount - cutAtEnd }
    /// Of those sent, what a decoder that begins there can show.
    var decodablePictures: [Int] {
        let first = cutAtStart > 0 ? group : 0
        return sentPictures.filter { $0 >= first && !(hasLeadingPictures && (1...reordered).contains($0)) }
    }
    /// stream_type.
    var soundType: UInt8 { isLayer3 ? 0x03 : 0x0F }
    var samplesPerFrame: Int64 { isLayer3 ? 1152 : 1024 }
    var sampleRate: Int64 { Int64(AudioSpecificConfig.samplingFrequencies[Int(frequencyIndex)]) }
    /// On the picture's clock.
    var firstPresentation: Int64 { clock + reorderDelay }
    var reorderDelay: Int64 { reordered > 0 ? rate.time(1) : 0 }

    /// Where the source puts frame `index` behind the first picture's presentation.
    func audioTime(_ index: Int) -> Int64 {
        audioOffset + (Int64(index) * samplesPerFrame * 90_000 * 2 / sampleRate + 1) / 2
    }

    var frameCount: Int {
        guard hasAudio else { return 0 }
        var count = 0
        while audioTime(count) < rate.time(pictureCount) { count += 1 }
        return count
    }

    /// Picture number in presentation order of the one decoded at `index`.
    func presented(_ index: Int) -> Int {
        guard reordered > 0 else { return index }
        let leading = hasLeadingPictures && index < group ? reordered : 0
        let inGroup = index % group - leading
        let first = index - inGroup
        let length = min(group - leading, pictureCount - first)
        if leading > 0, index % group <= leading { return index == 0 ? leading : index - 1 }
        guard inGroup > 0 else { return index }
        let mini = (inGroup - 1) / (reordered + 1)
        let place = (inGroup - 1) % (reordered + 1)
        let last = min((mini + 1) * (reordered + 1), length - 1)
        return place == 0 ? first + last : index - 1
    }

    var sequenceSet: [UInt8] { (isHEVC ? hevcRows : h264Rows)[parameterSets].nalUnit }
    static let pictureSet: [UInt8] = [0x68, 0xEE, 0x3C, 0x80]

    func accessUnit(_ index: Int) -> [UInt8] {
        let isIDR = index % group == 0
        if isHEVC { return hevcAccessUnit(index, isIDR: isIDR) }
        let slice =
            [isIDR ? 0x65 : 0x41, 0x88] + [UInt8](repeating: 0x33, count: 24)
            + TortureLabel.bytes(serial, index)
        let sets = isIDR ? [sequenceSet, Self.pictureSet] : []
        return ElementarySamples.stream([ElementarySamples.delimiter] + sets + [slice])
    }

    private func hevcAccessUnit(_ index: Int, isIDR: Bool) -> [UInt8] {
        // IDR_W_RADL or TRAIL_R, first_slice_segment_in_pic_flag set.
        let slice =
            [isIDR ? 0x26 : 0x02, 0x01, 0x88] + [UInt8](repeating: 0x33, count: 24)
            + TortureLabel.bytes(serial, index)
        let sets = [
            ParameterSyntaxWriter.hevcVideoParameterSet(id: 0), sequenceSet,
            ParameterSyntaxWriter.hevcPictureParameterSet(tiles: false, wavefronts: false),
        ]
        return ElementarySamples.stream([[0x46, 0x01, 0x50]] + (isIDR ? sets : []) + [slice])
    }

    func audioFrame(_ index: Int) -> [UInt8] {
        guard !isLayer3 else {
            // 128 kbit/s at 48 kHz, stereo: 384 bytes.
            return [0xFF, 0xFB, 0x94, 0x00] + [UInt8](repeating: 0, count: 372) + TortureLabel.bytes(serial, index)
        }
        let body = [UInt8](repeating: 0x21, count: 12) + TortureLabel.bytes(serial, index)
        let whole = 7 + body.count
        let head: [UInt8] = [
            0xFF, 0xF1, 0x40 | frequencyIndex << 2 | channels >> 2,
            (channels & 3) << 6 | UInt8(whole >> 11),
            UInt8(whole >> 3 & 0xFF), UInt8(whole & 7) << 5 | 0x1F, 0xFC,
        ]
        return head + body
    }
}

/// Which programme's which picture or frame a payload is: its last eight bytes, none of which looks like a start code.
struct TortureLabel: Hashable, Comparable, Sendable {
    var serial: Int
    var index: Int

    static func bytes(_ serial: Int, _ index: Int) -> [UInt8] {
        let value = serial << 16 | index
        return (0..<8).map { 0x40 | UInt8(value >> (28 - 4 * $0) & 15) }
    }

    init?(_ payload: ArraySlice<UInt8>) {
        guard payload.count >= 8, payload.suffix(8).allSatisfy({ $0 & 0xF0 == 0x40 }) else {
            return nil
        }
        let value = payload.suffix(8).reduce(0) { $0 << 4 | Int($1 & 15) }
        (serial, index) = (value >> 16, value & 0xFFFF)
    }

    static func < (left: Self, right: Self) -> Bool {
        (left.serial, left.index) < (right.serial, right.index)
    }
}

/// Multiplexes programmes into transport stream segments.
struct TortureMultiplexer {
    private var builder = TransportStreamBuilder()
    /// Audio of the current programme from this frame on was not written.
    private var nextFrame = 0

    private func wire(_ time: Int64) -> Int64 { time & (Ticks.wrap - 1) }

    /// The bytes of all of a programme's segments.
    mutating func segments(of programme: TortureProgramme) -> [[UInt8]] {
        nextFrame = 0
        var first = 0
        return programme.segments.indices.map { place in
            let pictures = first..<first + programme.segments[place]
            first = pictures.upperBound
            write(pictures, of: programme, isLast: place == programme.segments.indices.last)
            return builder.cut()
        }
    }

    /// A segment in which pictures of several programmes follow each other.
    mutating func segment(of programmes: [TortureProgramme]) -> [UInt8] {
        for programme in programmes {
            nextFrame = 0
            write(0..<programme.pictureCount, of: programme, isLast: true)
        }
        return builder.cut()
    }

    private mutating func write(_ pictures: Range<Int>, of programme: TortureProgramme, isLast: Bool) {
        var streams = [TransportStreamBuilder.Stream(pid: programme.videoPID, type: programme.isHEVC ? 0x24 : 0x1B)]
        let isMuxed = programme.hasAudio && !programme.soundsInCompanion
        if isMuxed { streams.append(.init(pid: programme.audioPID, type: programme.soundType)) }
        builder.tables(streams)
        for index in pictures {
            let decode = programme.clock + programme.rate.time(index)
            let presentation =
                programme.firstPresentation + programme.rate.time(programme.presented(index))
            if programme.sentPictures.contains(index) {
                builder.pes(
                    pid: programme.videoPID, pts: wire(presentation),
                    dts: presentation == decode ? nil : wire(decode), programme.accessUnit(index))
            }
            let limit = programme.rate.time(index + 1) - programme.audioLag
            if isMuxed { writeSound(before: limit, of: programme) }
        }
        if isMuxed, isLast { writeSound(before: .max, of: programme) }
    }

    private mutating func writeSound(before limit: Int64, of programme: TortureProgramme) {
        let count = programme.frameCount
        while nextFrame < count, programme.audioTime(nextFrame) < limit {
            let frames = nextFrame..<min(count, nextFrame + programme.framesPerPacket)
            let base = programme.audioClock ?? programme.firstPresentation
            builder.pes(
                pid: programme.audioPID, streamID: 0xC0, pts: wire(base + programme.audioTime(nextFrame)),
                isBounded: true, frames.flatMap(programme.audioFrame))
            nextFrame = frames.upperBound
        }
    }

    /// The programme's sound alone, in segments that end where `borders` (ticks behind its first picture) say.
    mutating func companion(of programme: TortureProgramme, borders: [Int64]) -> [[UInt8]] {
        nextFrame = 0
        return borders.map { border in
            builder.tables([.init(pid: programme.audioPID, type: programme.soundType)])
            writeSound(before: border, of: programme)
            return builder.cut()
        }
    }
}
