import Channel
import LiveRing
import Media
import Mux

/// Reads the endless transport stream of a channel for one client, at the pace of an `EndlessStream`.
actor EndlessStreamReader {
    /// Bytes returned at once: a client holds no more than this of the shared segments.
    static let byteLimit = 64 * 1024
    /// Between two looks at the ring while nothing is to be sent.
    private static let pollInterval = Duration.milliseconds(100)
    /// After so long without a byte null packets are sent, so that neither end takes the connection for dead.
    private static let keepAliveInterval = Duration.seconds(5)
    /// One datagram's worth of null packets (ISO/IEC 13818-1 §2.4.3.3).
    private static let nullPackets = [UInt8](
        (0..<7).flatMap { _ in [0x47, 0x1F, 0xFF, 0x10] + [UInt8](repeating: 0xFF, count: 184) })

    private let state: ChannelState
    private let sendsNullPackets: Bool
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var stream: EndlessStream
    private var segment: (number: UInt64, value: TransportSegment)?
    private var unsent: ArraySlice<UInt8> = []
    private var counted = EndlessStream.Dropped()
    private var isCounted = false

    /// - Parameter sendsNullPackets: whether a silent stream is kept alive.
    init(_ state: ChannelState, _ policy: EndlessStream.Policy, sendsNullPackets: Bool = true) {
        self.state = state
        self.sendsNullPackets = sendsNullPackets
        stream = EndlessStream(policy)
        start = clock.now
    }

    deinit {
        if isCounted { state.update { $0.transportStream.clients -= 1 } }
    }

    /// The next bytes, whole packets; nil at the end of the stream or if the task was canceled.
    func next() async -> ArraySlice<UInt8>? {
        countClient()
        let silence = clock.now + Self.keepAliveInterval
        while unsent.isEmpty, !Task.isCancelled {
            // In this order: what is published before the end is in the snapshot.
            let isOver = state.isOver
            let snapshot = state.snapshot
            switch nextStep(in: snapshot, isOver: isOver) {
            case .load(let number): await load(number, in: snapshot)
            case .send(_, let bytes): unsent = segment?.value.bytes[bytes] ?? []
            case .end: return nil
            case .wait(let due):
                if sendsNullPackets, clock.now >= silence { return Self.nullPackets[...] }
                let wait = due.map { $0 - start.duration(to: clock.now) } ?? Self.pollInterval
                try? await Task.sleep(for: min(max(wait, .milliseconds(1)), Self.pollInterval))
            }
            countDropped()
        }
        defer { unsent = unsent.dropFirst(Self.byteLimit / 188 * 188) }
        return unsent.isEmpty ? nil : unsent.prefix(Self.byteLimit / 188 * 188)
    }

    /// The next step. A channel that failed ends the stream after what it published.
    private func nextStep(in snapshot: RingSnapshot?, isOver: Bool) -> EndlessStream.Step {
        guard let snapshot else { return isOver ? .end : .wait(until: nil) }
        return stream.next(
            snapshot.index, hasEnded: snapshot.hasEnded || isOver, at: start.duration(to: clock.now))
    }

    private func load(_ number: UInt64, in snapshot: RingSnapshot?) async {
        guard let snapshot, let entry = snapshot.index.entry(numbered: number),
            let made = try? await state.transportStreams.segment(of: entry, in: snapshot)
        else {
            stream.load(nil)
            return
        }
        segment = (number, made)
        stream.load(made)
    }

    private func countClient() {
        guard !isCounted else { return }
        isCounted = true
        state.update { $0.transportStream.clients += 1 }
    }

    private func countDropped() {
        let dropped = stream.dropped
        guard dropped != counted else { return }
        let earlier = counted
        counted = dropped
        state.update {
            $0.transportStream.jumps += dropped.jumps - earlier.jumps
            $0.transportStream.droppedSeconds += (dropped.duration - earlier.duration).duration.secondsValue
            $0.transportStream.unreadableSegments += dropped.unreadableSegments - earlier.unreadableSegments
        }
    }
}

extension Duration {
    fileprivate var secondsValue: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
