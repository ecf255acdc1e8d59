import Media

/// Converts the samples of an audio track to packets.
struct AudioFragmentFramer: Sendable {
    /// Descriptions by sample entry; nil for an unsupported one.
    private let descriptions: [AudioSampleDescription?]
    private let entries: [SampleEntry]
    private let timescale: Timescale
    private var current: Int?
    /// The configuration that applies; nil before the first frame header.
    private var configuration: AudioConfiguration?
    private var frames: [(packet: AudioPacket, payload: Range<Int>)] = []
    private var arena: [UInt8] = []

    /// - Returns: nil if the track's first sample entry is not supported.
    init?(_ track: MovieTrack) throws(MediaError) {
        var descriptions: [AudioSampleDescription?] = []
        for entry in track.sampleEntries { descriptions.append(try AudioSampleDescription(entry)) }
        guard descriptions[0] != nil else { return nil }
        self.descriptions = descriptions
        entries = track.sampleEntries
        timescale = track.timescale
    }

    /// - Parameter index: the zero-based sample entry of the following samples.
    mutating func selectEntry(_ index: Int, for samples: [TrackFragment.Sample]) throws(MediaError) {
        guard descriptions.indices.contains(index), let description = descriptions[index] else {
            throw SampleEntry.unusableError(index, of: entries)
        }
        if index != current { configuration = nil }
        current = index
        guard configuration == nil else { return }
        switch description {
        case .complete(let complete): configuration = complete
        case .needsSampleDurations(let partial): configuration = partial.completed(by: samples, timescale: timescale)
        case .needsFrameHeaders: break
        }
    }

    mutating func append(_ sample: TrackFragment.Sample, of bytes: [UInt8], pts: Ticks) -> Bool {
        if let current, case .needsFrameHeaders(let framing) = descriptions[current] {
            configuration = framing.configuration(of: bytes, in: sample.payload.indices)
        }
        guard let configuration, !sample.payload.isEmpty, frames.count < DemuxLimits.audioFrames else { return false }
        let start = arena.count
        arena.append(contentsOf: sample.payload)
        let packet = AudioPacket(
            pid: 0, configuration: configuration, pts: pts, isDamaged: !sample.isComplete, payload: [])
        frames.append((packet, start..<arena.count))
        return true
    }

    /// Returns the packets appended since the last call, as slices of one array.
    mutating func drain() -> [AudioPacket] {
        let bytes = arena
        arena = []
        defer { frames.removeAll(keepingCapacity: true) }
        return frames.map { frame in
            var packet = frame.packet
            packet.payload = bytes[frame.payload]
            return packet
        }
    }
}

extension AudioFraming {
    /// Returns the configuration in the header at the start of a frame; nil if there is none.
    fileprivate func configuration(of bytes: [UInt8], in frame: Range<Int>) -> AudioConfiguration? {
        guard case .frame(let header) = header(bytes, at: frame.lowerBound, end: frame.upperBound) else { return nil }
        return header.format.configuration
    }
}

extension AudioConfiguration {
    /// Returns the configuration with the most frequent sample duration as frame length; nil if that is out of range.
    fileprivate func completed(by samples: [TrackFragment.Sample], timescale: Timescale) -> AudioConfiguration? {
        var votes: [UInt32: Int] = [:]
        for sample in samples { votes[sample.duration, default: 0] += 1 }
        // If two durations are equally frequent, the longer one counts: the last frame of a stream is shorter.
        guard let duration = votes.max(by: { ($0.value, $0.key) < ($1.value, $1.key) })?.key else { return nil }
        let unit = Int64(timescale.unitsPerSecond)
        let length = Int(Int64(duration).rescaled(Int64(sampleRate.hertz), over: unit))
        guard Self.frameLengths.contains(length) else { return nil }
        return AudioConfiguration(
            codec: codec, sampleRate: sampleRate, channelCount: channelCount, samplesPerFrame: length,
            decoderSpecificInfo: decoderSpecificInfo)
    }
}
