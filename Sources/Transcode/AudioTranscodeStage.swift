package import Media

/// The stage between demuxer and merge: sound that can be copied passes, the rest goes over the audio bridge, stretch by
/// stretch. What comes out is packets like those that went in, so nothing behind it knows the difference.
package struct AudioTranscodeStage: Sendable {
    package struct Counts: Equatable, Sendable {
        /// Frames that were decoded to be encoded again.
        package var transcoded = 0
        /// Frames that should have been but could not be decoded.
        package var undecodable = 0

        static func += (left: inout Counts, right: Counts) {
            left.transcoded += right.transcoded
            left.undecodable += right.undecodable
        }
    }

    /// Sound that goes over the bridge.
    private struct Span: Sendable {
        let pid: UInt16
        let configuration: AudioConfiguration
        /// Nil when the libraries refused: the stretch is left out.
        var transcoder: AudioTranscoder?
        /// When the next packet is due, on a clock that does not wrap.
        var next: Ticks
        /// What the last one lasts.
        var lastDuration = Ticks.zero
    }

    private enum Route: Equatable {
        case copy(as: AudioConfiguration)
        case transcode(to: AudioTranscoder.Target)
    }

    /// What the frames of a configuration turned out to be.
    private struct ProbedExtensions: Sendable {
        let source: AudioConfiguration
        let found: AudioConfiguration?
    }

    private let policy: AudioPolicy
    private var span: Span?
    /// With `.uniform`: what everything is coded as; nil before the first sound.
    private(set) var uniform: AudioConfiguration?
    private var lastCopied: AudioConfiguration?
    private var extensions: ProbedExtensions?
    package private(set) var counts = Counts()
    /// Why the libraries refused, the last time they did.
    package private(set) var lastError: MediaError?

    /// - Parameter uniform: with that policy, what an earlier process of the channel began with.
    package init(_ policy: AudioPolicy, uniform: AudioConfiguration? = nil) {
        self.policy = policy
        if policy == .uniform, let uniform, uniform.isPlainAACLC { self.uniform = uniform }
    }

    /// One segment's sound.
    /// - Parameters:
    ///   - left: what the segments before had left open; what the bridge still held of them is added to it.
    ///   - isPlain: nothing says that `packets` do not go on where `left` ended.
    package mutating func process(flushed: inout [AudioPacket], _ packets: inout [AudioPacket], isContinuous: Bool) {
        flushed = carry(flushed)
        if !isContinuous { (lastCopied, extensions) = (nil, nil) }
        if !isContinuous || packets.isEmpty { flushed += end(before: packets.first) }
        packets = carry(packets)
    }

    /// The rendition ended.
    package mutating func finish(_ left: [AudioPacket]) -> [AudioPacket] { carry(left) + end() }

    private mutating func carry(_ packets: [AudioPacket]) -> [AudioPacket] {
        if span == nil, packets.allSatisfy({ $0.configuration == lastCopied }) { return packets }
        return packets.indices.flatMap { carry(signalExtensions(of: packets[$0], in: packets[$0...])) }
    }

    /// AAC that hides SBR or parametric stereo is called what it is, on every side of the bridge.
    private mutating func signalExtensions(of packet: AudioPacket, in packets: ArraySlice<AudioPacket>) -> AudioPacket {
        if extensions?.source != packet.configuration {
            let same = packets.prefix { $0.configuration == packet.configuration }
            extensions = ProbedExtensions(
                source: packet.configuration,
                found: ImplicitSBRProbe.signaledConfiguration(packet.configuration, in: same))
        }
        return extensions?.found.map(packet.withConfiguration) ?? packet
    }

    private mutating func carry(_ packet: AudioPacket) -> [AudioPacket] {
        if packet.configuration == lastCopied { return end() + [packet] }
        switch route(packet.configuration) {
        case .copy(let configuration) where configuration == packet.configuration:
            lastCopied = configuration
            return end() + [packet]
        case .copy(let configuration): return end() + [packet.withConfiguration(configuration)]
        case .transcode(let target): return transcode(packet, to: target)
        }
    }

    private mutating func route(_ configuration: AudioConfiguration) -> Route {
        switch policy {
        case .copy, .drop:
            return AudioCompatibility(configuration) == .copy ? .copy(as: configuration) : .transcode(to: .likeSource)
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
        let ended = continues(with: packet, within: Ticks.longestFrame) ? [] : end()
        if packet.isDamaged {
            counts.undecodable += 1
            return ended
        }
        if span == nil {
            guard let time = packet.pts else {
                counts.undecodable += 1
                return ended
            }
            begin(packet, at: time, to: target)
        }
        return ended + feed(packet)
    }

    private mutating func begin(_ packet: AudioPacket, at time: Ticks, to target: AudioTranscoder.Target) {
        span = Span(pid: packet.pid, configuration: packet.configuration, transcoder: nil, next: time)
        do throws(MediaError) {
            span?.transcoder = try AudioTranscoder(from: packet.configuration, to: target)
        } catch {
            lastError = error
        }
    }

    private mutating func feed(_ packet: AudioPacket) -> [AudioPacket] {
        guard let span else { return [] }
        let time = packet.pts.map { Ticks(wire: $0, near: span.next) } ?? span.next
        self.span?.next = time + packet.duration
        self.span?.lastDuration = packet.duration
        return withTranscoder(span) { (bridge) throws(MediaError) in try bridge.transcode(packet.payload, at: time) }
    }

    /// Ends the stretch and gives what is still in the bridge, unless `next` goes on where it ends.
    private mutating func end(before next: AudioPacket? = nil) -> [AudioPacket] {
        guard let span else { return [] }
        if let next, continues(with: next, within: Ticks(span.lastDuration.count / 2)) { return [] }
        self.span = nil
        return withTranscoder(span, isPacket: false) { (bridge) throws(MediaError) in try bridge.finish() }
    }

    private func continues(with packet: AudioPacket, within tolerance: Ticks) -> Bool {
        guard let span, packet.pid == span.pid, packet.configuration == span.configuration else {
            return false
        }
        guard let wire = packet.pts else { return true }
        let step = Ticks(wire: wire, near: span.next) - span.next
        return step <= tolerance && step >= .zero - tolerance
    }

    /// What a call on the bridge gives; a refusal ends its use, and the stretch is left out from there on.
    private mutating func withTranscoder(
        _ stretch: Span, isPacket: Bool = true, _ call: (AudioTranscoder) throws(MediaError) -> [AudioTranscoder.Frame]
    ) -> [AudioPacket] {
        guard let bridge = stretch.transcoder else {
            if isPacket { counts.undecodable += 1 }
            return []
        }
        let undecodable = bridge.undecodable
        do throws(MediaError) {
            let frames = try call(bridge)
            let refused = bridge.undecodable - undecodable
            counts.undecodable += refused
            if isPacket { counts.transcoded += 1 - min(1, refused) }
            if policy == .uniform, uniform == nil { uniform = frames.first?.configuration }
            return frames.map {
                AudioPacket(
                    pid: stretch.pid, configuration: $0.configuration, pts: $0.time.wire, isDamaged: false,
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

extension AudioPacket {
    fileprivate func withConfiguration(_ configuration: AudioConfiguration) -> AudioPacket {
        AudioPacket(pid: pid, configuration: configuration, pts: pts, isDamaged: isDamaged, payload: payload)
    }
}
