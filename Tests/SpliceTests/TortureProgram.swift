import TestSupport

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// One program of a synthetic channel: the frames that its encoder would send.
struct TortureProgram: Sendable {
    /// Frame rate: a frame lasts `numerator` / `denominator` ticks.
    struct Rate: Sendable {
        var numerator: Int64
        var denominator: Int64

        static let film = Rate(numerator: 15_015, denominator: 4)
        static let pal = Rate(numerator: 3600, denominator: 1)
        static let ntsc = Rate(numerator: 3003, denominator: 1)
        static let pal50 = Rate(numerator: 1800, denominator: 1)

        func time(_ index: Int) -> Int64 {
            (Int64(index) * numerator * 2 + denominator) / (2 * denominator)
        }
    }

    /// First picture of a GOP.
    enum GroupStart: Sendable {
        /// An IDR picture, presented first.
        case refresh
        /// An IDR picture with leading pictures (HEVC: RADL).
        case leading
        /// An I picture with a recovery point, or a CRA picture; its leading pictures refer to the GOP before.
        case open
    }

    /// Coding of the lines of a frame (H.264).
    enum Scan: Sendable {
        /// Frames that may code pairs of macroblocks as fields.
        case frames
        /// Two field pictures for each frame, in one PES packet or in two.
        case fields(apart: Bool)
        /// One frame of three coded as a frame, the others as two fields.
        case mixed
    }

    var serial: Int
    var rate = Rate.pal
    /// Whether its parameter sets are from `hevcRows`.
    var isHEVC = false
    /// Index in `h264Rows` or `hevcRows`.
    var parameterSets = 5
    /// B-pictures between two reference pictures.
    var reordered = 0
    var group = 25
    var videoPID: UInt16 = 256
    var audioPID: UInt16 = 257
    /// Decode time of the first frame; the stream has its low 33 bits.
    var clock: Int64 = 900_000
    var hasAudio = true
    var hasCompanionAudio = false
    /// sampling_frequency_index: 3 is 48 kHz, 4 44.1 kHz.
    var frequencyIndex: UInt8 = 3
    var channels: UInt8 = 2
    /// Time from the first video frame's presentation to the first audio frame, in ticks.
    var audioOffset: Int64 = 0
    /// Time of the first audio frame if audio is on its own clock.
    var audioClock: Int64?
    /// Time by which audio is multiplexed after its video, in ticks.
    var audioLag: Int64 = 0
    var framesPerPacket = 2
    /// MPEG-1 layer III instead of AAC.
    var isLayer3 = false
    /// Number of frames cut off the first GOP and the end.
    var cutAtStart = 0
    var cutAtEnd = 0
    /// Start of the first GOP, and of the others in turn.
    var firstStart = GroupStart.refresh
    var otherStarts = [GroupStart.refresh]
    /// Field coding; nil for frames only.
    var scan: Scan?
    /// Segment from whose first random access point on another picture parameter set is in force.
    var changesPictureParameterSetAt: Int?
    /// Ticks by which decode times are later than presentation times.
    var decodeLate: Int64 = 0
    var container = TortureContainer.transport
    var companionContainer = TortureContainer.transport
    /// Number of frames of each segment.
    var segments: [Int] = [50, 50, 50]

    var videoFrameCount: Int { segments.reduce(0, +) }
    /// Frames sent, in decoding order.
    var sentVideoFrames: Range<Int> { cutAtStart..<videoFrameCount - cutAtEnd }
    /// First frame of each segment, and the end of the last.
    var boundaries: [Int] { segments.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1) } }

    /// stream_type.
    var audioStreamType: UInt8 { isLayer3 ? 0x03 : 0x0F }
    var samplesPerFrame: Int64 { isLayer3 ? 1152 : 1024 }
    var sampleRate: Int64 { Int64(AudioSpecificConfig.samplingFrequencies[Int(frequencyIndex)].hertz) }
    /// Presentation time of the first frame.
    var firstPresentation: Int64 { clock + reorderDelay }
    var reorderDelay: Int64 { reordered > 0 ? rate.time(1) : 0 }
    var firstAudioTime: Int64 { audioClock ?? firstPresentation }

    func decode(_ index: Int) -> Int64 { clock + decodeLate + rate.time(index) }
    func presentation(_ index: Int) -> Int64 { firstPresentation + rate.time(presented(index)) }

    /// Returns the time of audio frame `index` after the first video frame's presentation.
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

// MARK: - GOPs

extension TortureProgram {
    func start(ofGroup number: Int) -> GroupStart {
        number == 0 ? firstStart : otherStarts[number % otherStarts.count]
    }

    func isGroupStart(_ index: Int) -> Bool { index % group == 0 }
    func isIDR(_ index: Int) -> Bool { isGroupStart(index) && start(ofGroup: index / group) != .open }
    /// Whether a period begins here if none began before: also at a recovery point, unless an IDR picture with the same
    /// parameter sets follows within a second.
    private func beginsPeriod(_ index: Int) -> Bool {
        let next = sentVideoFrames.first { $0 > index && isRandomAccess($0) }
        let isFollowed =
            next.map {
                presentation($0) - presentation(index) <= 90_000 && $0 != pictureParameterSetChange
            } ?? false
        return isRandomAccess(index) || (isGroupStart(index) && !isFollowed)
    }
    /// Whether a period may begin here at once.
    func isRandomAccess(_ index: Int) -> Bool { isGroupStart(index) && (isHEVC || isIDR(index)) }

    /// Returns the number of leading pictures of a GOP.
    func leading(ofGroup number: Int) -> Int { start(ofGroup: number) == .refresh ? 0 : reordered }
    func isLeading(_ index: Int) -> Bool { (1..<leading(ofGroup: index / group) + 1).contains(index % group) }

    /// Returns the index in presentation order of the frame decoded at `index`.
    func presented(_ index: Int) -> Int {
        guard reordered > 0 else { return index }
        let leading = leading(ofGroup: index / group)
        let first = index - index % group + leading
        guard index >= first, leading == 0 || index > first else { return isGroupStart(index) ? first : index - 1 }
        let inGroup = index - first
        guard inGroup > 0 else { return index }
        let length = min(group - leading, videoFrameCount - first)
        let offset = (inGroup - 1) % (reordered + 1)
        let last = min(inGroup - offset + reordered, length - 1)
        return offset == 0 ? first + last : index - 1
    }

    /// Frame at which another picture parameter set comes into force.
    var pictureParameterSetChange: Int? {
        guard let offset = changesPictureParameterSetAt else { return nil }
        return (boundaries[offset]..<videoFrameCount).first(where: isRandomAccess)
    }

    /// Frames sent that a decoder can present, if it begins with the first of them and restarts where parameter sets change.
    var decodableVideoFrames: [Int] {
        guard let first = sentVideoFrames.first(where: beginsPeriod) else { return [] }
        let starts = [first, max(first, pictureParameterSetChange ?? first)].map { $0 / group }
        return sentVideoFrames.filter { $0 >= first && !(isLeading($0) && starts.contains($0 / group)) }
    }
}
