package import Media

/// Transcodes the audio packets that cannot be copied, between the demuxer and the audio/video matcher.
///
/// Audio is transcoded span by span. The output packets have the form of the input packets, so later stages do not
/// distinguish copied from transcoded audio.
package struct AudioTranscodeStage: Sendable {
    package struct Counts: Equatable, Sendable {
        package var transcoded = 0
        package var undecodable = 0
    }

    private struct Span: Sendable {
        let pid: UInt16
        let configuration: AudioConfiguration
        /// Nil after a libav error: the span is dropped.
        var transcoder: AudioTranscoder?
        var expectedTime: Ticks
        var lastDuration = Ticks.zero
    }

    private enum Route: Equatable {
        case copy(as: AudioConfiguration)
        case transcode(to: AudioTranscoder.Target)
    }

    /// The most configuration changes in a segment, and the most of its spans that are transcoded. Each needs a
    /// decoder, which costs as much as some hundred frames. Packets after further changes are dropped.
    package static let mostChanges = 64

    private let policy: AudioPolicy
    /// Whether the channel's audio is AAC. Transport streams keep their audio codec, and few players change it, so audio in
    /// another codec is then transcoded. nil: the first audio decides.
    package var isChannelAAC: Bool? {
        didSet { if isChannelAAC != oldValue { lastCopied = nil } }
    }
    private var span: Span?
    /// The configuration of the last packet that was not dropped.
    private var configuration: AudioConfiguration?
    private var (configurationCount, spanCount) = (0, 0)
    /// Output configuration with `.uniform`; nil before the first audio.
    private(set) var uniform: AudioConfiguration?
    private var lastCopied: AudioConfiguration?
    /// A configuration and, if its frames have implicit SBR or parametric stereo, the one that signals them.
    private var extensions: (source: AudioConfiguration, signaled: AudioConfiguration?)?
    package private(set) var counts = Counts()
    package private(set) var lastError: MediaError?

    /// - Parameter uniform: output configuration of an earlier process of the channel, for the policy `.uniform`.
    package init(_ policy: AudioPolicy, uniform: AudioConfiguration? = nil) {
        self.policy = policy
        if policy == .uniform, let uniform, uniform.isPlainAACLC { self.uniform = uniform }
    }

    /// Processes the audio packets of one segment.
    ///   - flushed: packets that the preceding segments left incomplete. The transcoder's remaining output for those
    ///     segments is appended.
    ///     segments is appended.
    ///   - isContinuous: whether `packets` may continue where `flushed` ended.
    package mutating func process(
        flushed: inout [AudioPacket], _ packets: inout [AudioPacket], isContinuous: Bool
    ) throws(MediaError) {
        (configurationCount, spanCount) = (0, 0)
        flushed = try process(flushed)
        if !isContinuous { (lastCopied, extensions) = (nil, nil) }
        if !isContinuous || packets.isEmpty { flushed += endSpan(before: packets.first) }
        packets = try process(packets)
    }

    package mutating func finish(_ packets: [AudioPacket]) throws(MediaError) -> [AudioPacket] {
        (configurationCount, spanCount) = (0, 0)
        return try process(packets) + endSpan()
    }

    private mutating func process(_ packets: [AudioPacket]) throws(MediaError) -> [AudioPacket] {
        if span == nil, packets.allSatisfy({ $0.configuration == lastCopied }) { return packets }
        var processed: [AudioPacket] = []
        for index in packets.indices {
            try MediaError.checkCancellation()
            guard admits(packets[index].configuration) else {
                counts.undecodable += 1
                continue
            }
            processed += process(signalExtensions(of: packets[index], in: packets[index...]))
        }
        return processed
    }

    private mutating func admits(_ configuration: AudioConfiguration) -> Bool {
        guard configuration != self.configuration else { return true }
        guard configurationCount < Self.mostChanges else { return false }
        configurationCount += 1
        self.configuration = configuration
        return true
    }

    /// Returns the packet with implicit SBR or parametric stereo signaled in its configuration.
    private mutating func signalExtensions(of packet: AudioPacket, in packets: ArraySlice<AudioPacket>) -> AudioPacket {
        if extensions?.source != packet.configuration {
            let same = packets.prefix { $0.configuration == packet.configuration }
            extensions = (packet.configuration, probe(packet.configuration, in: same))
        }
        return extensions?.signaled.map { Self.configured(packet, as: $0) } ?? packet
    }

    /// Without libav, the packet keeps the configuration that its header signals. Most decoders find the extensions
    /// themselves.
    private mutating func probe(
        _ configuration: AudioConfiguration, in packets: ArraySlice<AudioPacket>
    ) -> AudioConfiguration? {
        do throws(MediaError) {
            return try ImplicitSBRProbe.signaledConfiguration(configuration, in: packets)
        } catch {
            lastError = error
            return nil
        }
    }

    private mutating func process(_ packet: AudioPacket) -> [AudioPacket] {
        if packet.configuration == lastCopied { return endSpan() + [packet] }
        switch route(packet.configuration) {
        case .copy(let configuration) where configuration == packet.configuration:
            lastCopied = configuration
            return endSpan() + [packet]
        case .copy(let configuration): return endSpan() + [Self.configured(packet, as: configuration)]
        case .transcode(let target): return transcode(packet, to: target)
        }
    }

    private static func configured(_ packet: AudioPacket, as configuration: AudioConfiguration) -> AudioPacket {
        var packet = packet
        packet.configuration = configuration
        return packet
    }

    private mutating func route(_ configuration: AudioConfiguration) -> Route {
        switch policy {
        case .copy, .drop:
            let isAAC = configuration.codec == .aac
            let isCompatible = configuration.incompatibility == nil
            if isChannelAAC == nil { isChannelAAC = isAAC || !isCompatible }
            return isCompatible && (isAAC || isChannelAAC == false)
                ? .copy(as: configuration) : .transcode(to: .likeSource)
        case .bridge: return .transcode(to: .likeSource)
        case .uniform:
            if uniform == nil, configuration.isPlainAACLC { uniform = configuration }
            guard let uniform else { return .transcode(to: .likeSource) }
            let isAlike =
                configuration.isPlainAACLC && configuration.sampleRate == uniform.sampleRate
                && configuration.channelCount == uniform.channelCount
            return isAlike ? .copy(as: uniform) : .transcode(to: .fixed(uniform))
        }
    }

    private mutating func transcode(_ packet: AudioPacket, to target: AudioTranscoder.Target) -> [AudioPacket] {
        let ended = continues(with: packet, within: Ticks.longestFrame) ? [] : endSpan()
        if packet.isDamaged {
            counts.undecodable += 1
            return ended
        }
        if span == nil {
            guard let time = packet.pts, spanCount < Self.mostChanges else {
                counts.undecodable += 1
                return ended
            }
            spanCount += 1
            beginSpan(packet, at: time, to: target)
        }
        return ended + feed(packet)
    }

    private mutating func beginSpan(_ packet: AudioPacket, at time: Ticks, to target: AudioTranscoder.Target) {
        span = Span(pid: packet.pid, configuration: packet.configuration, transcoder: nil, expectedTime: time)
        do throws(MediaError) {
            span?.transcoder = try AudioTranscoder(from: packet.configuration, to: target)
        } catch {
            lastError = error
        }
    }

    private mutating func feed(_ packet: AudioPacket) -> [AudioPacket] {
        guard let span else { return [] }
        let time = packet.pts.map { Ticks(wire: $0, near: span.expectedTime) } ?? span.expectedTime
        self.span?.expectedTime = time + packet.configuration.frameDuration
        self.span?.lastDuration = packet.configuration.frameDuration
        return withTranscoder(of: span) { (transcoder) throws(MediaError) in
            try transcoder.transcode(packet.payload, at: time)
        }
    }

    /// Ends the span and flushes its transcoder, unless `next` continues the span.
    private mutating func endSpan(before next: AudioPacket? = nil) -> [AudioPacket] {
        guard let span else { return [] }
        if let next, continues(with: next, within: Ticks(span.lastDuration.count / 2)) { return [] }
        self.span = nil
        return withTranscoder(of: span, isPacket: false) { (transcoder) throws(MediaError) in try transcoder.finish() }
    }

    private func continues(with packet: AudioPacket, within tolerance: Ticks) -> Bool {
        guard let span, packet.pid == span.pid, packet.configuration == span.configuration else {
            return false
        }
        guard let wire = packet.pts else { return true }
        let step = Ticks(wire: wire, near: span.expectedTime) - span.expectedTime
        return step <= tolerance && step >= .zero - tolerance
    }

    /// Returns the output packets of a call on the span's transcoder. After an error the rest of the span is dropped.
    private mutating func withTranscoder(
        of span: Span, isPacket: Bool = true, _ call: (AudioTranscoder) throws(MediaError) -> [AudioTranscoder.Frame]
    ) -> [AudioPacket] {
        guard let transcoder = span.transcoder else {
            if isPacket { counts.undecodable += 1 }
            return []
        }
        let undecodable = transcoder.undecodable
        do throws(MediaError) {
            let frames = try call(transcoder)
            let failed = transcoder.undecodable - undecodable
            counts.undecodable += failed
            if isPacket { counts.transcoded += 1 - min(1, failed) }
            if policy == .uniform, uniform == nil { uniform = frames.first?.configuration }
            return frames.map {
                AudioPacket(
                    pid: span.pid, configuration: $0.configuration, pts: $0.time.wire, isDamaged: false,
                    payload: $0.payload[...])
            }
        } catch {
            lastError = error
            if isPacket { counts.undecodable += 1 }
            self.span?.transcoder = nil
            return []
        }
    }
}

/// How a channel's audio is processed.
package enum AudioPolicy: String, CaseIterable, Sendable {
    /// Copy audio that players decode in fragmented MP4 and in transport streams. Transcode other audio to AAC-LC, and, in
    /// a channel of AAC, audio in any other codec.
    case copy
    /// Transcode all audio to AAC-LC at its own sample rate and channel count.
    case bridge
    /// Transcode to one configuration for the life of the channel, for players that read only one init section.
    ///
    /// The configuration is the channel's first, or the nearest AAC-LC. Audio that already has it is copied.
    case uniform
    case drop
}
