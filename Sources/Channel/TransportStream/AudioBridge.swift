import Media
import Mux
import Transcode

/// Encodes the audio of one segment into another configuration, so that it continues that of the segment before.
///
/// Every segment is encoded by itself. Its first frames need samples of the segment before, and its last ones would need
/// samples of the next. The encoded audio is therefore that of the segment's time, moved to earlier by `overlap`.
struct AudioBridge: Sendable {
    /// Samples after the beginning of an AAC frame on which it depends, and 32 more: the frames of most codecs begin at
    /// multiples of 64, so that rounding to ticks never decides to which segment a frame belongs.
    private static let overlap: Int64 = 2048 + 32
    /// Samples of the segment before that decoder and encoder need at least.
    private static let leadIn = 4096

    private let target: AudioConfiguration

    /// - Parameter target: AAC LC.
    init(to target: AudioConfiguration) { self.target = target }

    /// The encoded frames; nil if the audio cannot be decoded or encoded.
    /// - Parameter previous: the audio of the segment before; nil if there is none.
    func frames(
        of audio: TransportMedia.Audio, after previous: TransportMedia.Audio?
    ) -> [TransportMedia.AudioFrame]? {
        guard let start = audio.frames.first?.time, let last = audio.frames.last?.time else { return nil }
        let configuration = audio.configuration
        let end =
            last
            + Ticks(
                samples: Int64(configuration.samplesPerFrame), sampleRate: Int64(max(1, configuration.sampleRate)))
        var stage = AudioTranscodeStage(.uniform, uniform: target)
        let leadIn = leadIn(of: previous, before: audio)
        let packets = (leadIn + audio.frames).map { frame in
            AudioPacket(
                pid: 0, configuration: audio.configuration, pts: frame.time.wire, isDamaged: false,
                payload: frame.payload)
        }
        let encoded = stage.finish(packets)
        guard !encoded.isEmpty, encoded.allSatisfy({ $0.configuration == target }) else { return nil }
        let overlap = Ticks(samples: Self.overlap, sampleRate: Int64(target.sampleRate))
        // Without a lead-in other audio may reach up to the beginning.
        let times = (leadIn.isEmpty ? start : start - overlap)..<max(start, end - overlap)
        return encoded.compactMap { packet in
            guard let time = packet.pts.map({ Ticks(wire: $0, near: start) }), times.contains(time) else { return nil }
            return TransportMedia.AudioFrame(time: time, payload: packet.payload)
        }
    }

    /// The last frames of the segment before.
    ///
    /// AAC frames are counted from the first sample that is encoded. So that those of all segments are on one grid, the
    /// first sample's number is the least that a frame of the source may have, modulo 1024.
    private func leadIn(
        of previous: TransportMedia.Audio?, before audio: TransportMedia.Audio
    ) -> ArraySlice<TransportMedia.AudioFrame> {
        let configuration = audio.configuration
        let (samples, rate) = (max(1, configuration.samplesPerFrame), Int64(max(1, configuration.sampleRate)))
        guard let previous, previous.configuration == configuration, let last = previous.frames.last,
            let first = audio.frames.first,
            abs((first.time - last.time - Ticks(samples: Int64(samples), sampleRate: rate)).count) <= 2
        else { return [] }
        let step = Self.greatestCommonDivisor(samples, target.samplesPerFrame)
        let frames = previous.frames
        let aligned = frames.indices.last { index in
            let number = (frames[index].time.count * rate + Ticks.perSecond / 2) / Ticks.perSecond
            return (frames.count - index) * samples >= Self.leadIn && Int(number) % target.samplesPerFrame < step
        }
        return frames[(aligned ?? 0)...]
    }

    private static func greatestCommonDivisor(_ first: Int, _ second: Int) -> Int {
        var (divisor, rest) = (first, second)
        while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
        return divisor
    }
}
