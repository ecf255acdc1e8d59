import Demux
import Media
import Mux
import Transcode

/// Sound of one configuration on one unbroken clock, as far as it has arrived and not been taken.
struct AudioSpan: Equatable, Sendable {
    let pid: UInt16
    let configuration: AudioConfiguration
    /// Upstream's number where the stretch began.
    let discontinuitySequence: UInt64
    /// Sound before it was lost: where it begins says nothing of where its run does.
    let followsLostFrames: Bool
    /// Time of the first frame it ever had.
    let start: Ticks
    /// Where the next frame should follow, on the stretch's own unfolded clock.
    private(set) var end: Ticks
    private(set) var frames: [TimedAudio] = []
    /// What stands beside the frames, in order.
    private(set) var metadata: [AttachedMetadata] = []
    /// What is added to its times so that they are on the clock of the picture it goes with; nil until it was matched.
    var clockOffset: Ticks?

    /// Timed metadata, with the frame that it came with.
    struct AttachedMetadata: Equatable, Sendable {
        /// Of that frame.
        let pts: Ticks
        let item: TimedMetadata
    }

    init(first: AudioPacket, discontinuitySequence: UInt64, followsLoss: Bool) {
        self.followsLostFrames = followsLoss
        pid = first.pid
        configuration = first.configuration
        self.discontinuitySequence = discontinuitySequence
        start = first.pts ?? .zero
        end = start
    }

    /// Time from the first frame that is left to the last.
    var queuedDuration: Ticks { frames.first.map { end - $0.pts } ?? .zero }

    /// Whether `packet` goes on here: same stream and configuration, and no more than half a second away.
    func continues(with packet: AudioPacket) -> Bool {
        guard packet.pid == pid, packet.configuration == configuration else { return false }
        guard let wire = packet.pts else { return true }
        let step = Ticks(wire: wire, near: end) - end
        return step <= VideoTimestampUnwrapper.longestFrame && step >= .zero - VideoTimestampUnwrapper.longestFrame
    }

    mutating func append(_ packet: AudioPacket) {
        let pts = packet.pts.map { Ticks(wire: $0, near: end) } ?? end
        frames.append(TimedAudio(packet: packet, pts: pts))
        end = pts + configuration.frameDuration
    }

    /// Notes what stands beside the frame appended last.
    mutating func append(_ items: [TimedMetadata]) {
        guard let last = frames.last else { return }
        metadata += items.map { AttachedMetadata(pts: last.pts, item: $0) }
    }

    /// Takes what came with frames that begin before `limit`, times shifted onto the picture's clock.
    mutating func dequeueMetadata(before limit: Ticks) -> [TimedMetadata] {
        let shift = clockOffset ?? .zero
        let count = metadata.firstIndex { $0.pts + shift >= limit } ?? metadata.count
        defer { metadata.removeFirst(count) }
        return metadata[..<count].map { beside in
            TimedMetadata(beside.item.content, at: ((beside.item.time ?? beside.pts) + shift).wire)
        }
    }

    /// Takes the frames that begin before `limit`, times shifted onto the picture's clock.
    mutating func dequeueFrames(before limit: Ticks) -> [TimedAudio] {
        let shift = clockOffset ?? .zero
        let count = frames.firstIndex { $0.pts + shift >= limit } ?? frames.count
        defer { frames.removeFirst(count) }
        return frames[..<count].map { TimedAudio(packet: $0.packet, pts: $0.pts + shift) }
    }
}
