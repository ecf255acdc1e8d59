/// The stage between demuxer and merge: sound that can be copied passes, the rest goes over the audio bridge, stretch by
/// stretch. What comes out is packets like those that went in, so nothing behind it knows the difference.
struct SoundStage: Sendable {
    struct Counts: Equatable, Sendable {
        /// Frames that were decoded to be encoded again.
        var bridged = 0
        /// Frames that should have been but could not be decoded.
        var undecodable = 0

        static func += (left: inout Counts, right: Counts) {
            left.bridged += right.bridged
            left.undecodable += right.undecodable
        }
    }

    /// Sound that goes over the bridge.
    private struct Stretch: Sendable {
        let pid: UInt16
        let configuration: AudioConfiguration
        /// Nil when the libraries refused: the stretch is left out.
        var bridge: AudioBridge?
        /// When the next packet is due, on a clock that does not wrap.
        var next: Ticks
        /// What the last one lasts.
        var lasting = Ticks.zero
    }

    private enum Route: Equatable {
        case copy(as: AudioConfiguration)
        case bridge(to: AudioBridge.Target)
    }

    /// What the frames of a configuration turned out to be.
    private struct Extensions: Sendable {
        let source: AudioConfiguration
        let found: AudioConfiguration?
    }

    private let policy: AudioPolicy
    private var stretch: Stretch?
    /// With `.uniform`: what everything is coded as; nil before the first sound.
    private(set) var uniform: AudioConfiguration?
    private var lastCopied: AudioConfiguration?
    private var extensions: Extensions?
    private(set) var counts = Counts()
    /// Why the libraries refused, the last time they did.
    private(set) var refusal: SpliceError?

    /// - Parameter uniform: with that policy, what an earlier process of the channel began with.
    init(_ policy: AudioPolicy, uniform: AudioConfiguration? = nil) {
        self.policy = policy
        if policy == .uniform, let uniform, uniform.isPlainLowComplexity { self.uniform = uniform }
    }

    /// One segment's sound.
    /// - Parameters:
    ///   - left: what the segments before had left open; what the bridge still held of them is added to it.
    ///   - isPlain: nothing says that `packets` do not go on where `left` ended.
    mutating func carry(left: inout [AudioPacket], _ packets: inout [AudioPacket], isPlain: Bool) {
        left = carry(left)
        if !isPlain { (lastCopied, extensions) = (nil, nil) }
        if !isPlain || packets.isEmpty { left += end(before: packets.first) }
        packets = carry(packets)
    }

    /// The rendition ended.
    mutating func finish(_ left: [AudioPacket]) -> [AudioPacket] { carry(left) + end() }

    private mutating func carry(_ packets: [AudioPacket]) -> [AudioPacket] {
        if stretch == nil, packets.allSatisfy({ $0.configuration == lastCopied }) { return packets }
        return packets.indices.flatMap { carry(announce(packets[$0], among: packets[$0...])) }
    }

    /// AAC that hides SBR or parametric stereo is called what it is, on every side of the bridge.
    private mutating func announce(_ packet: AudioPacket, among packets: ArraySlice<AudioPacket>) -> AudioPacket {
        if extensions?.source != packet.configuration {
            let same = packets.prefix { $0.configuration == packet.configuration }
            extensions = Extensions(
                source: packet.configuration,
                found: ImplicitExtensionProbe.announced(packet.configuration, in: same))
        }
        return extensions?.found.map(packet.relabelled) ?? packet
    }

    private mutating func carry(_ packet: AudioPacket) -> [AudioPacket] {
        if packet.configuration == lastCopied { return end() + [packet] }
        switch route(packet.configuration) {
        case .copy(let configuration) where configuration == packet.configuration:
            lastCopied = configuration
            return end() + [packet]
        case .copy(let configuration): return end() + [packet.relabelled(configuration)]
        case .bridge(let target): return bridge(packet, to: target)
        }
    }

    private mutating func route(_ configuration: AudioConfiguration) -> Route {
        switch policy {
        case .copy, .drop:
            return AudioCarriage(configuration) == .copy ? .copy(as: configuration) : .bridge(to: .likeSource)
        case .bridge: return .bridge(to: .likeSource)
        case .uniform:
            if uniform == nil, configuration.isPlainLowComplexity { uniform = configuration }
            guard let uniform else { return .bridge(to: .likeSource) }
            let isAlike =
                configuration.isPlainLowComplexity && configuration.sampleRate == uniform.sampleRate
                && configuration.channelCount == uniform.channelCount
            return isAlike ? .copy(as: uniform) : .bridge(to: .fixed(uniform))
        }
    }

    private mutating func bridge(_ packet: AudioPacket, to target: AudioBridge.Target) -> [AudioPacket] {
        let ended = goesOn(with: packet, within: VideoClock.longestFrame) ? [] : end()
        if packet.isDamaged {
            counts.undecodable += 1
            return ended
        }
        if stretch == nil {
            guard let time = packet.pts else {
                counts.undecodable += 1
                return ended
            }
            begin(packet, at: time, to: target)
        }
        return ended + feed(packet)
    }

    private mutating func begin(_ packet: AudioPacket, at time: Ticks, to target: AudioBridge.Target) {
        stretch = Stretch(pid: packet.pid, configuration: packet.configuration, bridge: nil, next: time)
        do throws(SpliceError) {
            stretch?.bridge = try AudioBridge(from: packet.configuration, to: target)
        } catch {
            refusal = error
        }
    }

    private mutating func feed(_ packet: AudioPacket) -> [AudioPacket] {
        guard let stretch else { return [] }
        let time = packet.pts.map { Ticks(wire: $0, near: stretch.next) } ?? stretch.next
        self.stretch?.next = time + packet.duration
        self.stretch?.lasting = packet.duration
        return use(stretch) { (bridge) throws(SpliceError) in try bridge.take(packet.payload, at: time) }
    }

    /// Ends the stretch and gives what is still in the bridge, unless `next` goes on where it ends.
    private mutating func end(before next: AudioPacket? = nil) -> [AudioPacket] {
        guard let stretch else { return [] }
        if let next, goesOn(with: next, within: Ticks(stretch.lasting.count / 2)) { return [] }
        self.stretch = nil
        return use(stretch, isWhole: false) { (bridge) throws(SpliceError) in try bridge.finish() }
    }

    private func goesOn(with packet: AudioPacket, within tolerance: Ticks) -> Bool {
        guard let stretch, packet.pid == stretch.pid, packet.configuration == stretch.configuration else {
            return false
        }
        guard let wire = packet.pts else { return true }
        let step = Ticks(wire: wire, near: stretch.next) - stretch.next
        return step <= tolerance && step >= .zero - tolerance
    }

    /// What a call on the bridge gives; a refusal ends its use, and the stretch is left out from there on.
    private mutating func use(
        _ stretch: Stretch, isWhole: Bool = true, _ call: (AudioBridge) throws(SpliceError) -> [AudioBridge.Frame]
    ) -> [AudioPacket] {
        guard let bridge = stretch.bridge else {
            if isWhole { counts.undecodable += 1 }
            return []
        }
        let undecodable = bridge.undecodable
        do throws(SpliceError) {
            let frames = try call(bridge)
            let refused = bridge.undecodable - undecodable
            counts.undecodable += refused
            if isWhole { counts.bridged += 1 - min(1, refused) }
            if policy == .uniform, uniform == nil { uniform = frames.first?.configuration }
            return frames.map {
                AudioPacket(
                    pid: stretch.pid, configuration: $0.configuration, pts: $0.time.wire, isDamaged: false,
                    payload: $0.payload[...])
            }
        } catch {
            refusal = error
            if isWhole { counts.undecodable += 1 }
            self.stretch?.bridge = nil
            return []
        }
    }
}

extension AudioPacket {
    fileprivate func relabelled(_ configuration: AudioConfiguration) -> AudioPacket {
        AudioPacket(pid: pid, configuration: configuration, pts: pts, isDamaged: isDamaged, payload: payload)
    }
}

extension AudioConfiguration {
    /// What one frame lasts, rounded down.
    var frameDuration: Ticks {
        Ticks(Int64(samplesPerFrame) * Ticks.perSecond / Int64(max(1, sampleRate)))
    }
}
