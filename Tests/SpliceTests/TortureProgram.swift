import TestSupport

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// One program of a made-up channel: what its encoder would send, picture by picture and frame by frame.
struct TortureProgram: Sendable {
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

    /// What a group of pictures begins with.
    enum GroupStart: Sendable {
        /// An IDR picture, shown first.
        case refresh
        /// An IDR picture behind which pictures follow that are shown before it (HEVC: RADL).
        case leading
        /// An I picture with a recovery point, or a CRA picture; those that follow and are shown before it refer to the
        /// group before.
        case open
    }

    /// How the lines of a frame are coded (H.264).
    enum Scan: Sendable {
        /// A frame may code pairs of macroblocks as fields; in a stream that looks like any other.
        case frames
        /// Two pictures for each frame, in one PES packet or in two.
        case fields(apart: Bool)
        /// One frame of three is coded as a frame, the others as two fields.
        case mixed
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
    var hasCompanionAudio = false
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
    /// Of the first group, and of the others in turn.
    var firstStart = GroupStart.refresh
    var otherStarts = [GroupStart.refresh]
    /// Nil: frames, and a sequence parameter set that knows nothing else.
    var scan: Scan?
    /// From the first random access at or behind the beginning of this segment on, another picture parameter set holds.
    var changesPictureParameterSetAt: Int?
    /// Decode times are this much too late, ticks: later than presentation.
    var decodeLate: Int64 = 0
    var container = TortureContainer.transport
    var companionContainer = TortureContainer.transport
    /// Pictures of each of its segments.
    var segments: [Int] = [50, 50, 50]

    var videoFrameCount: Int { segments.reduce(0, +) }
    /// In decoding order.
    var sentVideoFrames: Range<Int> { cutAtStart..<videoFrameCount - cutAtEnd }
    /// First picture of each segment, and where the last one ends.
    var boundaries: [Int] { segments.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1) } }

    /// stream_type.
    var audioStreamType: UInt8 { isLayer3 ? 0x03 : 0x0F }
    var samplesPerFrame: Int64 { isLayer3 ? 1152 : 1024 }
    var sampleRate: Int64 { Int64(AudioSpecificConfig.samplingFrequencies[Int(frequencyIndex)]) }
    /// On the picture's clock.
    var firstPresentation: Int64 { clock + reorderDelay }
    var reorderDelay: Int64 { reordered > 0 ? rate.time(1) : 0 }
    var firstAudioTime: Int64 { audioClock ?? firstPresentation }

    func decode(_ index: Int) -> Int64 { clock + decodeLate + rate.time(index) }
    func presentation(_ index: Int) -> Int64 { firstPresentation + rate.time(presented(index)) }

    /// Where the source puts frame `index` behind the first picture's presentation.
    func audioTime(_ index: Int) -> Int64 {
        audioOffset + (Int64(index) * samplesPerFrame * 90_000 * 2 / sampleRate + 1) / 2
    }

    var audioFrameCount: Int {
        guard hasAudio else { return 0 }
        var count = 0
        while audioTime(count) < rate.time(videoFrameCount) { count += 1 }
        return count
    }
}

// MARK: - Groups of pictures

extension TortureProgram {
    func start(ofGroup number: Int) -> GroupStart {
        number == 0 ? firstStart : otherStarts[number % otherStarts.count]
    }

    func isGroupStart(_ index: Int) -> Bool { index % group == 0 }
    func isIDR(_ index: Int) -> Bool { isGroupStart(index) && start(ofGroup: index / group) != .open }
    /// A run may begin here.
    func isRandomAccess(_ index: Int) -> Bool { isGroupStart(index) && (isHEVC || isIDR(index)) }

    /// Pictures of a group that are shown before its first one.
    func leading(ofGroup number: Int) -> Int { start(ofGroup: number) == .refresh ? 0 : reordered }
    func isLeading(_ index: Int) -> Bool { (1..<leading(ofGroup: index / group) + 1).contains(index % group) }

    /// Picture number in presentation order of the one decoded at `index`.
    func presented(_ index: Int) -> Int {
        guard reordered > 0 else { return index }
        let leading = leading(ofGroup: index / group)
        let first = index - index % group + leading
        guard index >= first, leading == 0 || index > first else { return isGroupStart(index) ? first : index - 1 }
        let inGroup = index - first
        guard inGroup > 0 else { return index }
        let length = min(group - leading, videoFrameCount - first)
        let place = (inGroup - 1) % (reordered + 1)
        let last = min(inGroup - place + reordered, length - 1)
        return place == 0 ? first + last : index - 1
    }

    /// Where another picture parameter set comes into force.
    var pictureParameterSetChange: Int? {
        guard let place = changesPictureParameterSetAt else { return nil }
        return (boundaries[place]..<videoFrameCount).first(where: isRandomAccess)
    }

    /// Of those sent, what a decoder that begins there can show, and what it can go on with where its parameter sets
    /// change.
    var decodableVideoFrames: [Int] {
        guard let first = sentVideoFrames.first(where: isRandomAccess) else { return [] }
        let starts = [first, max(first, pictureParameterSetChange ?? first)].map { $0 / group }
        return sentVideoFrames.filter { $0 >= first && !(isLeading($0) && starts.contains($0 / group)) }
    }
}
