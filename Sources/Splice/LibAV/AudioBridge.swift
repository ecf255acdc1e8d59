import Synchronization

/// One stretch of sound that is decoded and encoded again as AAC-LC: one source configuration on one unbroken clock.
///
/// The libraries keep what is between packets in objects of their own, so this is no value: it has one owner, which feeds
/// it packets in order.
final class AudioBridge: Sendable {
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

    private let line: Mutex<BridgeLine>

    init(from source: AudioConfiguration, to target: Target) throws(SpliceError) {
        line = Mutex(try BridgeLine(from: source, to: target))
    }

    /// Packets that the decoder refused.
    var undecodable: Int { line.withLock { $0.undecodable } }

    func take(_ payload: ArraySlice<UInt8>, at time: Ticks) throws(SpliceError) -> [Frame] {
        try line.withLock { (line) throws(SpliceError) in try line.take(payload, at: time) }
    }

    /// The stretch is over: gives what is still inside, the last frame filled up with silence. To be called once.
    func finish() throws(SpliceError) -> [Frame] {
        try line.withLock { (line) throws(SpliceError) in try line.finish() }
    }
}

extension AudioBridge.Target {
    fileprivate func configuration(of format: SoundConverter.Format) -> AudioConfiguration {
        switch self {
        case .fixed(let fixed): fixed
        case .likeSource: .lowComplexity(sampleRate: format.sampleRate, channelCount: format.channelCount)
        }
    }
}

/// The way through decoder, converter and encoder.
private struct BridgeLine: ~Copyable {
    private let target: AudioBridge.Target
    private let decoder: AudioDecoder
    private var output: BridgeOutput?
    private(set) var undecodable = 0

    init(from source: AudioConfiguration, to target: AudioBridge.Target) throws(SpliceError) {
        self.target = target
        decoder = try AudioDecoder(source)
    }

    mutating func take(_ payload: ArraySlice<UInt8>, at time: Ticks) throws(SpliceError) -> [AudioBridge.Frame] {
        do throws(SpliceError) {
            try decoder.send(payload, time: time.count)
        } catch {
            undecodable += 1
            return []
        }
        return try passOn()
    }

    mutating func finish() throws(SpliceError) -> [AudioBridge.Frame] {
        try decoder.close()
        return try passOn() + finishOutput()
    }

    /// Everything the decoder has to give, through the rest.
    private mutating func passOn() throws(SpliceError) -> [AudioBridge.Frame] {
        var frames: [AudioBridge.Frame] = []
        while try receive() {
            let format = SoundConverter.Format(decoder.frame)
            if output?.format != format {
                frames += try finishOutput()
                output = try BridgeOutput(format, target)
            }
            frames += try output?.take(decoder.frame) ?? []
        }
        return frames
    }

    /// A packet that turns out to be damaged only here is passed over like one that was refused.
    private mutating func receive() throws(SpliceError) -> Bool {
        do throws(SpliceError) {
            return try decoder.receive()
        } catch {
            undecodable += 1
            return false
        }
    }

    private mutating func finishOutput() throws(SpliceError) -> [AudioBridge.Frame] {
        let frames = try output?.finish() ?? []
        output = nil
        return frames
    }
}

/// From decoded sound of one format to AAC frames.
private struct BridgeOutput: ~Copyable {
    let format: SoundConverter.Format
    private let configuration: AudioConfiguration
    private let converter: SoundConverter
    private var encoder: AACEncoder
    private var samples: PlanarSamples
    private var times: SampleTimes
    /// Samples of the source that were taken.
    private var taken: Int64 = 0
    private var framesGiven: Int64 = 0

    init(_ format: SoundConverter.Format, _ target: AudioBridge.Target) throws(SpliceError) {
        let configuration = target.configuration(of: format)
        let layout = AACLayout(nearestTo: configuration.channelCount)
        let converter = try SoundConverter(sampleRate: configuration.sampleRate, layout: layout)
        let encoder = try AACEncoder(sampleRate: configuration.sampleRate, layout: layout)
        self.format = format
        self.configuration = configuration
        self.converter = converter
        self.encoder = encoder
        samples = PlanarSamples(channelCount: layout.channelCount)
        times = SampleTimes(source: format.sampleRate, output: configuration.sampleRate)
    }

    mutating func take(_ frame: borrowing SoundFrame) throws(SpliceError) -> [AudioBridge.Frame] {
        if let time = frame.time { times.mark(taken, at: Ticks(time)) }
        taken += Int64(frame.sampleCount)
        try converter.convert(frame, into: &samples)
        return try give(encoder.encode(&samples))
    }

    mutating func finish() throws(SpliceError) -> [AudioBridge.Frame] {
        try converter.drain(into: &samples)
        return try give(encoder.finish(&samples))
    }

    private mutating func give(_ payloads: [[UInt8]]) -> [AudioBridge.Frame] {
        payloads.compactMap { payload in
            let position = (framesGiven - 1) * Int64(AACEncoder.samplesPerFrame)
            framesGiven += 1
            return times.time(of: position).map {
                AudioBridge.Frame(configuration: configuration, time: $0, payload: payload)
            }
        }
    }
}
