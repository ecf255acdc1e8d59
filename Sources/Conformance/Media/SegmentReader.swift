import Demux
import Media
import Support

/// Reads what the rules of media need from one clear segment. Each segment is read by itself, so that segments may come in
/// any order.
package enum SegmentReader {
    /// - Parameter initialization: the clear EXT-X-MAP section; nil without one.
    /// - Returns: nil for bytes that are no media.
    package static func read(_ bytes: [UInt8], initialization: [UInt8]? = nil) -> SegmentFacts? {
        if let subtitles = WebVTTReader.read(bytes) {
            var facts = SegmentFacts(container: .webVTT, byteCount: bytes.count)
            facts.subtitles = subtitles
            return facts
        }
        guard let located = try? LocatedMedia.find(in: bytes, initialization: initialization) else { return nil }
        var facts = SegmentFacts(container: .init(located.container), byteCount: bytes.count)
        let media = located.media(of: bytes)
        switch located.container {
        case .transportStream:
            var demuxer = TransportDemuxer()
            if let initialization { try? demuxer.initialize(with: initialization) }
            demux(media, with: &demuxer, into: &facts)
            facts.strayBytes = strayBytes(of: media)
            facts.counters = counters(of: media)
        case .fragmentedMP4:
            var demuxer = FragmentedMP4Demuxer()
            if let initialization {
                do { try demuxer.initialize(with: initialization) } catch { facts.set(error) }
                facts.setBoxes(of: media, initialization)
            }
            if facts.error == nil { demux(media, with: &demuxer, into: &facts) }
        case .packedAudio:
            var demuxer = PackedAudioDemuxer(requiresTimestamp: false)
            demux(media, with: &demuxer, into: &facts)
        }
        return facts
    }

    /// Reads the boxes of fragmented MP4 and no frame.
    /// - Parameter header: the bytes before the payload, with the header of mdat.
    package static func readBoxes(_ header: [UInt8], payloadBytes: Int, initialization: [UInt8]) -> SegmentFacts {
        var facts = SegmentFacts(container: .fragmentedMP4, byteCount: header.count + payloadBytes)
        facts.hasFrames = false
        let payload = (try? BoxReader.wholeBoxes(in: header[...]))?.rest ?? []
        facts.setBoxes(of: Array(header[..<payload.startIndex]), initialization)
        return facts
    }

    /// The container, without reading the media; nil for bytes that are no media.
    package static func container(of bytes: [UInt8]) -> SegmentFacts.Container? {
        if bytes.starts(with: "WEBVTT".utf8) || bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return .webVTT }
        guard let located = try? LocatedMedia.find(in: bytes) else { return nil }
        return .init(located.container)
    }

    private static func demux(
        _ media: [UInt8], with demuxer: inout some SegmentDemuxer, into facts: inout SegmentFacts
    ) {
        do throws(MediaError) {
            var output = try demuxer.feed(media)
            let rest = try demuxer.finish()
            output.video += rest.video
            output.audio += rest.audio
            facts.video = VideoFacts(output.video)
            facts.audio = AudioFacts(output.audio)
            if output.counts[.undecodableUnits] > 0 {
                facts.video?.isBeginningUnknown = true
                facts.video?.access = nil
            }
            facts.foreignParameterSets = output.counts[.foreignParameterSets]
            facts.isProtected = output.isScrambled
        } catch { facts.set(error) }
    }

    /// Bytes of a transport stream that are no whole packets.
    private static func strayBytes(of media: [UInt8]) -> Int {
        guard let stride = PacketStride(recognizing: media), stride.size == PacketStride.packetSize else { return 0 }
        return stride.start + (media.count - stride.start) % PacketStride.packetSize
    }

    private static func counters(of media: [UInt8]) -> [UInt16: (first: UInt8, last: UInt8)] {
        guard let stride = PacketStride(recognizing: media) else { return [:] }
        var counters: [UInt16: (first: UInt8, last: UInt8)] = [:]
        for start in Swift.stride(from: stride.start, to: media.count - 3, by: stride.size) {
            guard media[start + 3] & 0x10 != 0 else { continue }
            let pid = UInt16(media[start + 1] & 0x1F) << 8 | UInt16(media[start + 2])
            let counter = media[start + 3] & 0x0F
            counters[pid] = (counters[pid]?.first ?? counter, counter)
        }
        return counters
    }

}

extension SegmentFacts.Container {
    fileprivate init(_ container: SegmentContainer) {
        switch container {
        case .transportStream: self = .transportStream
        case .fragmentedMP4: self = .fragmentedMP4
        case .packedAudio: self = .packedAudio
        }
    }
}

extension SegmentFacts {
    /// Sets what the boxes of the tracks say.
    fileprivate mutating func setBoxes(of media: [UInt8], _ initialization: [UInt8]) {
        let spans = ((try? DecodeSpan.spans(of: media, initialization: initialization)) ?? [:])
            .sorted { $0.key < $1.key }.map(\.value)
        videoSpan = spans.first { $0.handler == "vide" }
        audioSpan = spans.first { $0.handler == "soun" }
        guard let known = try? MovieTrack.tracks(of: initialization).map(\.trackID),
            let used = try? MovieFragment.trackIDs(in: media)
        else { return }
        unknownTracks = used.subtracting(known).sorted()
    }

    fileprivate mutating func set(_ error: MediaError) {
        switch error.reason {
        case .missingInitialization: needsInitialization = true
        case .sampleEncryption, .protectedTrack, .scrambled: isProtected = true
        default: break
        }
        self.error = error.message
    }
}

extension VideoFacts {
    /// nil without a frame that has a time.
    init?(_ packets: [VideoPacket]) {
        guard let first = packets.first(where: { $0.pts != nil }), let pts = first.pts else { return nil }
        let dts = first.dts.map { Ticks(wire: $0, near: pts) } ?? pts
        self.init(
            configuration: first.configuration, pid: first.pid, description: try? VideoDescription(first.configuration),
            firstPTS: pts, firstDTS: dts, lastDTS: dts,
            earliest: pts, latest: pts, frameDuration: .zero, longestFrame: .zero)
        access = first.randomAccess
        var configuration = first.configuration
        var steps: [Int64: Int] = [:]
        var isFirst = true
        for packet in packets {
            frames += 1
            captions.formUnion(packet.captions)
            guard let wire = packet.pts else { continue }
            let pts = Ticks(wire: wire, near: isFirst ? firstPTS : lastDTS)
            let dts = packet.dts.map { Ticks(wire: $0, near: lastDTS) } ?? pts
            if !isFirst {
                let step = dts - lastDTS
                if isClockJump(step) {
                    change = change ?? "the clock by \(step.text)"
                } else if step.count <= 0, packet.dts != nil {
                    backward = ((backward?.count ?? 0) + 1, backward?.time ?? dts)
                } else {
                    steps[step.count, default: 0] += 1
                    longestFrame = max(longestFrame, step)
                }
            }
            isFirst = false
            lastDTS = dts
            earliest = min(earliest, pts)
            latest = max(latest, pts)
            if packet.randomAccess != nil { accessTimes.append(pts) }
            if packet.configuration != configuration {
                change = change ?? Self.change(from: configuration, to: packet.configuration)
                configuration = packet.configuration
            }
        }
        let usual = steps.max { ($0.value, -$0.key) < ($1.value, -$1.key) }?.key
        frameDuration = Ticks(usual ?? 0)
        if usual == nil, let rate = description?.frameRate {
            frameDuration = Ticks(Ticks.perSecond * Int64(rate.denominator) / Int64(max(1, rate.numerator)))
            longestFrame = frameDuration
        }
    }

    /// Whether another clock begins at a frame: no frame lasts so long among others.
    private func isClockJump(_ step: Ticks) -> Bool {
        step.magnitude > Self.longestStep && (step.count < 0 || frames > 2 && step.count > 4 * longestFrame.count)
    }

    private static let longestStep = Ticks.milliseconds(1000)

    private static func change(from old: VideoConfiguration, to new: VideoConfiguration) -> String? {
        guard let before = try? VideoDescription(old), let after = try? VideoDescription(new) else { return nil }
        if old.codec != new.codec { return "the video codec from \(before.codecString) to \(after.codecString)" }
        if (before.width, before.height) != (after.width, after.height) {
            return "the size from \(before.width)x\(before.height) to \(after.width)x\(after.height)"
        }
        return nil
    }

    private init(
        configuration: VideoConfiguration, pid: UInt16, description: VideoDescription?,
        firstPTS: Ticks, firstDTS: Ticks, lastDTS: Ticks, earliest: Ticks, latest: Ticks, frameDuration: Ticks,
        longestFrame: Ticks
    ) {
        self.configuration = configuration
        self.pid = pid
        self.description = description
        self.firstPTS = firstPTS
        self.firstDTS = firstDTS
        self.lastDTS = lastDTS
        self.earliest = earliest
        self.latest = latest
        self.frameDuration = frameDuration
        self.longestFrame = longestFrame
    }
}

extension AudioFacts {
    /// Rounding of timestamps to milliseconds, both ways.
    static let rounding = Ticks.milliseconds(2)

    /// nil without a frame that has a time.
    init?(_ packets: [AudioPacket]) {
        guard let first = packets.first(where: { $0.pts != nil }), let pts = first.pts else { return nil }
        configuration = first.configuration
        pid = first.pid
        start = pts
        end = pts
        var current = first.configuration
        for packet in packets {
            if packet.configuration != current {
                change = change ?? current.change(to: packet.configuration)
                current = packet.configuration
            }
            frames += 1
            guard let wire = packet.pts else {
                end += current.frameDuration
                continue
            }
            let time = Ticks(wire: wire, near: end)
            if frames > 1, (time - end).magnitude > current.frameDuration + Self.rounding {
                jumps.append(AudioJump(time: time, length: time - end))
            }
            end = time + Ticks(samples: Int64(current.samplesPerFrame), sampleRate: current.sampleRate)
        }
    }
}

extension AudioConfiguration {
    /// The difference in words; nil for the same decoder settings.
    func change(to other: AudioConfiguration) -> String? {
        if codec != other.codec { return "the audio codec from \(codecString) to \(other.codecString)" }
        if sampleRate != other.sampleRate { return "the sample rate from \(sampleRate) to \(other.sampleRate) Hz" }
        if channelCount != other.channelCount { return "the channels from \(channelCount) to \(other.channelCount)" }
        return nil
    }
}
