import Media
import Synchronization

/// One stretch of sound that is decoded and encoded again as AAC-LC: one source configuration on one unbroken clock.
///
/// The libraries keep what is between packets in objects of their own, so this is no value: it has one owner, which feeds
/// it packets in order.
final class AudioTranscoder: Sendable {
    /// One AAC frame.
    struct Frame: Equatable, Sendable {
        let configuration: AudioConfiguration
        /// On the source's clock, of the first sample that a decoder gives for it.
        let time: Ticks
        let payload: [UInt8]
    }

    /// What the output is coded as.
    enum Target: Equatable, Sendable {
        /// AAC-LC with the rate and the channels of what is decoded, as near as AAC-LC has them.
        case likeSource
        case fixed(AudioConfiguration)
    }

    private let pipeline: Mutex<TranscodePipeline>

    init(from source: AudioConfiguration, to target: Target) throws(MediaError) {
        pipeline = Mutex(try TranscodePipeline(from: source, to: target))
    }

    /// Packets that the decoder refused.
    var undecodable: Int { pipeline.withLock { $0.undecodable } }

    func transcode(_ payload: ArraySlice<UInt8>, at time: Ticks) throws(MediaError) -> [Frame] {
        try pipeline.withLock { (line) throws(MediaError) in try line.take(payload, at: time) }
    }

    /// The stretch is over: gives what is still inside, the last frame filled up with silence. To be called once.
    func finish() throws(MediaError) -> [Frame] {
        try pipeline.withLock { (line) throws(MediaError) in try line.finish() }
    }
}

extension AudioTranscoder.Target {
    fileprivate func configuration(of format: AudioResampler.Format) -> AudioConfiguration {
        switch self {
        case .fixed(let fixed): fixed
        case .likeSource: .aacLC(sampleRate: format.sampleRate, channelCount: format.channelCount)
        }
    }
}

/// The way through decoder, converter and encoder.
private struct TranscodePipeline: ~Copyable {
    private let target: AudioTranscoder.Target
    private let decoder: AudioDecoder
    private var output: TranscodeOutput?
    private(set) var undecodable = 0

    init(from source: AudioConfiguration, to target: AudioTranscoder.Target) throws(MediaError) {
        self.target = target
        decoder = try AudioDecoder(source)
    }

    mutating func take(_ payload: ArraySlice<UInt8>, at time: Ticks) throws(MediaError) -> [AudioTranscoder.Frame] {
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

    /// Everything the decoder has to give, through the rest.
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

    /// A packet that turns out to be damaged only here is passed over like one that was refused.
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

/// From decoded sound of one format to AAC frames.
private struct TranscodeOutput: ~Copyable {
    let format: AudioResampler.Format
    private let configuration: AudioConfiguration
    private let converter: AudioResampler
    private var encoder: AACEncoder
    private var samples: PlanarSamples
    private var times: ResampledTimestamps
    /// Samples of the source that were taken.
    private var samplesAppended: Int64 = 0
    private var framesEncoded: Int64 = 0

    init(_ format: AudioResampler.Format, _ target: AudioTranscoder.Target) throws(MediaError) {
        let configuration = target.configuration(of: format)
        let layout = AACLayout(nearestTo: configuration.channelCount)
        let converter = try AudioResampler(sampleRate: configuration.sampleRate, layout: layout)
        let encoder = try AACEncoder(sampleRate: configuration.sampleRate, layout: layout)
        self.format = format
        self.configuration = configuration
        self.converter = converter
        self.encoder = encoder
        samples = PlanarSamples(channelCount: layout.channelCount)
        times = ResampledTimestamps(source: format.sampleRate, output: configuration.sampleRate)
    }

    mutating func append(_ frame: borrowing LibAVFrame) throws(MediaError) -> [AudioTranscoder.Frame] {
        if let time = frame.time { times.addSourceTime(samplesAppended, at: Ticks(time)) }
        samplesAppended += Int64(frame.sampleCount)
        try converter.convert(frame, into: &samples)
        return try makeFrames(encoder.encode(&samples))
    }

    mutating func finish() throws(MediaError) -> [AudioTranscoder.Frame] {
        try converter.drain(into: &samples)
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
