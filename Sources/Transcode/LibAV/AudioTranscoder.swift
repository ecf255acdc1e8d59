import Media
import Synchronization

/// Transcodes one span of audio to AAC-LC: one source configuration on one continuous clock.
///
/// libav keeps its state in objects of its own, so the transcoder is a reference type. One owner feeds it packets in
/// order.
final class AudioTranscoder: Sendable {
    struct Frame: Equatable, Sendable {
        let configuration: AudioConfiguration
        /// Time on the source's clock of the first sample that the frame decodes to.
        let time: Ticks
        let payload: [UInt8]
    }

    enum Target: Equatable, Sendable {
        /// AAC-LC with the sample rate and channels nearest to those of the decoded audio.
        case likeSource
        case fixed(AudioConfiguration)
    }

    private let pipeline: Mutex<TranscodePipeline>

    init(from source: AudioConfiguration, to target: Target) throws(MediaError) {
        pipeline = Mutex(try TranscodePipeline(from: source, to: target))
    }

    var undecodable: Int { pipeline.withLock { $0.undecodable } }

    func transcode(_ payload: ArraySlice<UInt8>, at time: Ticks) throws(MediaError) -> [Frame] {
        try pipeline.withLock { (pipeline) throws(MediaError) in try pipeline.transcode(payload, at: time) }
    }

    /// Ends the span and returns the remaining frames. The last frame is padded with silence. Call this once.
    func finish() throws(MediaError) -> [Frame] {
        try pipeline.withLock { (pipeline) throws(MediaError) in try pipeline.finish() }
    }
}

extension AudioTranscoder.Target {
    fileprivate func configuration(of format: AudioResampler.Format, at rate: SampleRate) -> AudioConfiguration {
        switch self {
        case .fixed(let fixed): fixed
        case .likeSource: .aacLC(sampleRate: rate, channelCount: format.channelCount)
        }
    }
}

private struct TranscodePipeline: ~Copyable {
    private let target: AudioTranscoder.Target
    private let decoder: AudioDecoder
    private var output: TranscodeOutput?
    private(set) var undecodable = 0

    init(from source: AudioConfiguration, to target: AudioTranscoder.Target) throws(MediaError) {
        self.target = target
        decoder = try AudioDecoder(source)
    }

    mutating func transcode(_ payload: ArraySlice<UInt8>, at time: Ticks) throws(MediaError) -> [AudioTranscoder.Frame]
    {
        do throws(MediaError) {
            try decoder.send(payload, time: time.count)
        } catch {
            undecodable += 1
            return []
        }
        return try drainDecoder()
    }

    mutating func finish() throws(MediaError) -> [AudioTranscoder.Frame] {
        try decoder.sendEndOfStream()
        return try drainDecoder() + finishOutput()
    }

    private mutating func drainDecoder() throws(MediaError) -> [AudioTranscoder.Frame] {
        var frames: [AudioTranscoder.Frame] = []
        while try receive() {
            let format = AudioResampler.Format(decoder.frame)
            if output?.format != format {
                frames += try finishOutput()
                output = try TranscodeOutput(format, target)
            }
            frames += try output?.append(decoder.frame) ?? []
        }
        return frames
    }

    /// Decodes the next frame. A packet whose damage is detected only here counts as undecodable.
    private mutating func receive() throws(MediaError) -> Bool {
        do throws(MediaError) {
            return try decoder.receive()
        } catch {
            undecodable += 1
            return false
        }
    }

    private mutating func finishOutput() throws(MediaError) -> [AudioTranscoder.Frame] {
        let frames = try output?.finish() ?? []
        output = nil
        return frames
    }
}

/// Resampler and encoder for decoded audio of one format.
private struct TranscodeOutput: ~Copyable {
    let format: AudioResampler.Format
    private let configuration: AudioConfiguration
    private let resampler: AudioResampler
    private var encoder: AACEncoder
    private var samples: PlanarSamples
    private var times: ResampledTimestamps
    private var samplesAppended: Int64 = 0
    private var framesEncoded: Int64 = 0

    private static let invalidArgument: Int32 = -22

    init(_ format: AudioResampler.Format, _ target: AudioTranscoder.Target) throws(MediaError) {
        // A source at 1 Hz would become 48,000 times as many samples.
        guard let rate = SampleRate(format.sampleRate) else { throw LibAV.error(Self.invalidArgument, "swr_init") }
        let configuration = target.configuration(of: format, at: rate)
        let layout = AACLayout(nearestTo: configuration.channelCount)
        let resampler = try AudioResampler(sampleRate: configuration.sampleRate.hertz, layout: layout)
        let encoder = try AACEncoder(sampleRate: configuration.sampleRate.hertz, layout: layout)
        self.format = format
        self.configuration = configuration
        self.resampler = resampler
        self.encoder = encoder
        samples = PlanarSamples(channelCount: layout.channelCount)
        times = ResampledTimestamps(sourceRate: rate, outputRate: configuration.sampleRate)
    }

    mutating func append(_ frame: borrowing LibAVFrame) throws(MediaError) -> [AudioTranscoder.Frame] {
        if let time = frame.time { times.addSourceTime(Ticks(time), at: samplesAppended) }
        samplesAppended += Int64(frame.sampleCount)
        try resampler.convert(frame, into: &samples)
        return try makeFrames(encoder.encode(&samples))
    }

    mutating func finish() throws(MediaError) -> [AudioTranscoder.Frame] {
        try resampler.drain(into: &samples)
        return try makeFrames(encoder.finish(&samples))
    }

    private mutating func makeFrames(_ payloads: [[UInt8]]) -> [AudioTranscoder.Frame] {
        payloads.compactMap { payload in
            let position = (framesEncoded - 1) * Int64(AACEncoder.samplesPerFrame)
            framesEncoded += 1
            return times.time(of: position).map {
                AudioTranscoder.Frame(configuration: configuration, time: $0, payload: payload)
            }
        }
    }
}

/// Maps output sample positions of transcoded audio to times on the source's clock.
///
/// The source's times are neither smoothed nor checked: an output frame has the time that the source gave its first
/// sample. Timestamp gaps and wrong timestamps are handled after transcoding, by the rules for copied audio. Rounding
/// errors do not accumulate.
private struct ResampledTimestamps: Sendable {
    private let sourceRate: Int64
    private let outputRate: Int64
    private var sourceTimes: [(position: Int64, time: Ticks)] = []

    init(sourceRate: SampleRate, outputRate: SampleRate) {
        self.sourceRate = Int64(sourceRate.hertz)
        self.outputRate = Int64(outputRate.hertz)
    }

    /// Records the time of the source sample at `position`. Positions must increase.
    mutating func addSourceTime(_ time: Ticks, at position: Int64) {
        sourceTimes.append((position, time))
    }

    /// Time of the output sample at `position`, to the nearest tick.
    ///
    /// Positions must increase; a negative position is before the first sample.
    /// - Returns: nil before any source time was added.
    mutating func time(of position: Int64) -> Ticks? {
        // In units of 1 / (sourceRate * outputRate) seconds both sides are integers.
        while sourceTimes.count > 1, sourceTimes[1].position * outputRate <= position * sourceRate {
            sourceTimes.removeFirst()
        }
        guard let reference = sourceTimes.first else { return nil }
        let distance = position * sourceRate - reference.position * outputRate
        return reference.time + Ticks(distance.rescaled(Ticks.perSecond, over: sourceRate * outputRate))
    }
}
