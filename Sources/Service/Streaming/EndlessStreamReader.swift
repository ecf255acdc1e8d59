import Channel
import Export
import LiveRing
import Media
import Mux
import Support

/// Reads the endless transport stream of a channel for one client, at the pace of an `EndlessStream`.
actor EndlessStreamReader {
    enum Client: Sendable {
        /// A client of HTTP, which is counted.
        case http
        /// The reader of a pipe, or a file. It begins with the first media that this process publishes.
        case output(sendsNullPackets: Bool)
    }

    /// The interval of the common moments at which clients continue that wait for a time. All clients share the moments,
    /// and with them the timer and the threads that it wakes.
    private static let pollInterval = Duration.milliseconds(100)
    private static let firstPoll = ContinuousClock.now
    /// After this time without a byte, null packets are sent, so that neither end takes the connection for dead.
    private static let keepAliveInterval = Duration.seconds(5)
    /// The null packets of one datagram (ISO/IEC 13818-1 §2.4.3.3).
    private static let nullPackets = TransportTimeShift.nullPackets(7 * PacketStride.packetSize)

    private let state: ChannelState
    private let policy: EndlessStream.Policy
    private let client: Client
    /// How ad breaks are presented; nil: as in the channel's configuration.
    private let ads: AdPresentation?
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    /// nil before the channel has a ring.
    private var stream: EndlessStream?
    private var loaded: (segment: TransportSegment, entry: RingEntry)?
    private var unsent: [ArraySlice<UInt8>] = []
    /// The media of all chunks that were returned, or that are about to be.
    private(set) var sentMedia = Duration.zero
    /// Null packets before the first tables would only delay a client that looks for them.
    private var hasBegun = false
    private var counted = EndlessStream.Dropped()
    private var isCounted = false

    init(
        _ state: ChannelState, _ policy: EndlessStream.Policy, for client: Client = .http, ads: AdPresentation? = nil
    ) {
        self.ads = ads
        self.state = state
        self.policy = policy
        self.client = client
        start = clock.now
    }

    deinit {
        if isCounted { state.update { $0.transportStream.clients -= 1 } }
    }

    private var sendsNullPackets: Bool {
        guard hasBegun else { return false }
        if case .output(let sendsNullPackets) = client { return sendsNullPackets }
        return true
    }

    /// The next bytes, whole packets; nil at the end of the stream or if the task was canceled.
    func next() async -> ArraySlice<UInt8>? {
        countClient()
        let silence = clock.now + Self.keepAliveInterval
        while unsent.isEmpty, !Task.isCancelled {
            // In this order, so that the snapshot contains everything published before the end, and any later change ends
            // the wait.
            let changes = state.publications.changes
            let isOver = state.isOver
            let publication = state.publication
            switch nextStep(in: publication, isOver: isOver) {
            case .load(let number): await load(number, in: publication?.snapshot)
            case .send(_, let bytes, let placement): await send(bytes, placement)
            case .end: return nil
            case .wait(let due):
                if sendsNullPackets, clock.now >= silence { return Self.nullPackets[...] }
                if let due {
                    try? await clock.sleep(until: nextPoll(after: due), tolerance: nil)
                } else {
                    let now = clock.now
                    let deadline = now < silence ? silence : now + Self.keepAliveInterval
                    await state.publications.wait(after: changes, until: deadline)
                }
            }
            countDropped()
        }
        guard let bytes = unsent.first else { return nil }
        if case .output = client { return unsent.removeFirst() }
        let limit = ExportedFile.byteLimit / PacketStride.packetSize * PacketStride.packetSize
        let rest = bytes.dropFirst(limit)
        unsent.replaceSubrange(0..<1, with: rest.isEmpty ? [] : [rest])
        return bytes.prefix(limit)
    }

    /// The first common moment after `due`; within a second in any case, because the ring may change.
    private func nextPoll(after due: Duration) -> ContinuousClock.Instant {
        let now = Self.firstPoll.duration(to: clock.now)
        let wanted = Self.firstPoll.duration(to: start) + due
        let polls = Int(max(now, min(wanted, now + .seconds(1))) / Self.pollInterval) + 1
        return Self.firstPoll + Self.pollInterval * polls
    }

    /// The next step. If the channel failed, the stream ends after the published media.
    private func nextStep(in publication: ChannelState.Publication?, isOver: Bool) -> EndlessStream.Step {
        guard let publication else { return isOver ? .end : .wait(until: nil) }
        let snapshot = publication.snapshot
        var stream = stream ?? EndlessStream(policy(from: publication.firstMediaSequence))
        defer { self.stream = stream }
        if state.endsStreams, stream.isBetweenSegments { return .end }
        return stream.next(
            snapshot.index, hasEnded: snapshot.hasEnded || isOver, at: start.duration(to: clock.now))
    }

    private func policy(from firstMediaSequence: UInt64) -> EndlessStream.Policy {
        var policy = policy
        if case .output = client { policy.start = .published(from: firstMediaSequence) }
        return policy
    }

    private func load(_ number: UInt64, in snapshot: RingSnapshot?) async {
        guard let snapshot, let entry = snapshot.index.entry(numbered: number) else {
            stream?.load(nil, lasting: .zero)
            return
        }
        loaded = try? await state.transportSegment(of: entry, in: snapshot, ads: ads)
        stream?.load(loaded?.segment, lasting: Ticks(entry.duration))
        if case .output = client { snapshot.recordUse(before: number) }
    }

    /// Prepares a chunk of the segment as this client gets it. Clients share the bytes.
    private func send(_ bytes: Range<Int>, _ placement: ClientClock.Placement) async {
        guard let (segment, entry) = loaded else { return }
        let placed = await state.transportStreams.place(segment, of: entry, at: placement)
        unsent = [placed.pause[...], placed.segment.bytes[bytes]].filter { !$0.isEmpty }
        hasBegun = true
        // Several chunks may be sent at once.
        for chunk in segment.chunks where bytes.contains(chunk.bytes.lowerBound) {
            sentMedia += chunk.duration.duration
        }
    }

    private func countClient() {
        guard case .http = client, !isCounted else { return }
        isCounted = true
        state.update { $0.transportStream.clients += 1 }
    }

    private func countDropped() {
        guard let dropped = stream?.dropped, dropped != counted else { return }
        let earlier = counted
        counted = dropped
        state.update {
            $0.transportStream.jumps += dropped.jumps - earlier.jumps
            $0.transportStream.droppedSeconds += (dropped.duration - earlier.duration).duration.inSeconds
            $0.transportStream.unreadableSegments += dropped.unreadableSegments - earlier.unreadableSegments
        }
    }
}
