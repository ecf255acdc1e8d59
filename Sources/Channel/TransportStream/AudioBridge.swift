import Media
import Mux
import Transcode

/// Encodes the audio of one segment into another configuration, so that it continues that of the segment before.
///
/// Every segment is encoded by itself. Its first frames need samples of the segment before: its lead-in. Its last ones
/// would need samples of the next. The encoded audio is therefore that of the segment's time, moved to earlier by
/// `overlap`. What is missing at the end of a period is encoded with the segment after it.
struct AudioBridge: Sendable {
    /// Samples after the beginning of an AAC frame on which it depends, and 32 more: the frames of most codecs begin at
    /// multiples of 64, so that rounding to ticks never decides to which segment a frame belongs.
    private static let overlap: Int64 = 2048 + 32
    /// Samples of the segment before that decoder and encoder need at least.
    private static let shortestLeadIn = 4096
    /// Samples of a frame of AAC LC.
    private static let frameLength = 1024

    private let target: AudioConfiguration

    /// - Parameter target: AAC LC.
    init(to target: AudioConfiguration) { self.target = target }

    private var overlap: Ticks { Ticks(samples: Self.overlap, sampleRate: target.sampleRate) }

    /// Whether `leadIn` ends where `audio` begins, in the same configuration.
    static func isContinuous(_ leadIn: TransportMedia.Audio, _ audio: TransportMedia.Audio) -> Bool {
        guard leadIn.configuration == audio.configuration, let first = audio.frames.first else { return false }
        return abs((first.time - leadIn.end).count) <= 2
    }

    /// The encoded frames; nil if the audio cannot be decoded or encoded.
    /// - Parameter leadIn: the end of the audio of the segment before; nil if other audio, or none, is before `audio`.
    func frames(
        of audio: TransportMedia.Audio, after leadIn: TransportMedia.Audio?
    ) -> [TransportMedia.AudioFrame]? {
        guard let start = audio.frames.first?.time else { return nil }
        let leadIn = leadIn.flatMap { Self.isContinuous($0, audio) ? $0.frames : nil } ?? []
        // Without a lead-in other audio may reach up to the beginning.
        let times = (leadIn.isEmpty ? start : start - overlap)..<max(start, audio.end - overlap)
        return encoded(leadIn + audio.frames, audio.configuration, at: times)
    }

    /// The frames that the segment of `leadIn` could not have, as far as other audio leaves room for them.
    /// - Parameter limit: the beginning of the other audio; nil if there is none.
    func ending(of leadIn: TransportMedia.Audio, before limit: Ticks?) -> [TransportMedia.AudioFrame] {
        let halfFrame = Ticks(samples: Int64(Self.frameLength / 2), sampleRate: target.sampleRate)
        let start = leadIn.end - overlap
        let end = min(leadIn.end, limit.map { $0 - halfFrame } ?? leadIn.end)
        return encoded(leadIn.frames, leadIn.configuration, at: start..<max(start, end)) ?? []
    }

    private func encoded(
        _ frames: [TransportMedia.AudioFrame], _ configuration: AudioConfiguration, at times: Range<Ticks>
    ) -> [TransportMedia.AudioFrame]? {
        var stage = AudioTranscodeStage(.uniform, uniform: target)
        let packets = try? stage.finish(
            frames.map { frame in
                AudioPacket(
                    pid: 0, configuration: configuration, pts: frame.time.wire, isDamaged: false,
                    payload: frame.payload)
            })
        guard let packets, !packets.isEmpty, packets.allSatisfy({ $0.configuration == target }) else { return nil }
        return packets.compactMap { packet in
            guard let time = packet.pts.map({ Ticks(wire: $0, near: times.lowerBound) }), times.contains(time) else {
                return nil
            }
            return TransportMedia.AudioFrame(time: time, payload: packet.payload)
        }
    }
}

// MARK: - The lead-in

extension AudioBridge {
    /// The index of the frame with which the lead-in of the next segment begins.
    ///
    /// AAC frames are counted from the first sample that is encoded. So that those of all segments are on one grid, the
    /// first sample's number is the least that a frame of the source may have, modulo 1024.
    static func leadInStart(of audio: TransportMedia.Audio) -> Int {
        let (configuration, frames) = (audio.configuration, audio.frames)
        let (samples, rate) = (max(1, configuration.samplesPerFrame), Int64(configuration.sampleRate.hertz))
        let step = greatestCommonDivisor(samples, frameLength)
        let aligned = frames.indices.last { index in
            let number = frames[index].time.count.rescaled(rate, over: Ticks.perSecond)
            return (frames.count - index) * samples >= shortestLeadIn && Int(number) % frameLength < step
        }
        return aligned ?? 0
    }

    private static func greatestCommonDivisor(_ first: Int, _ second: Int) -> Int {
        var (divisor, rest) = (first, second)
        while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
        return divisor
    }
}

extension TransportMedia.Audio {
    /// The end of its last frame; zero if there is none.
    fileprivate var end: Ticks {
        let frame = Ticks(samples: Int64(configuration.samplesPerFrame), sampleRate: configuration.sampleRate)
        return frames.last.map { $0.time + frame } ?? .zero
    }
}
