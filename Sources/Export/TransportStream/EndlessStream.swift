package import LiveRing
package import Media
package import Mux
import Playlist
package import Support

/// Decides which chunks one client of an endless transport stream is sent, and when.
///
/// The driver asks for steps and performs them: it makes transport streams, writes chunks, and waits. A chunk is written
/// whole. Any chunk may follow any other, so a client that is moved forward finds its counters right.
package struct EndlessStream: Equatable, Sendable {
    package enum Pace: Equatable, Sendable {
        /// After the first burst, `percent` / 100 seconds of media a second.
        case realTime(percent: Int64)
        /// As fast as the client reads.
        case none
    }

    package enum Start: Equatable, Sendable {
        /// As near to the newest segment as the burst and the reserve allow.
        case live
        /// At the first segment that is listed and has this number or a higher one.
        case published(from: UInt64)
        /// In the rewind, `offset` after the beginning of a segment.
        case segment(UInt64, offset: Ticks)
    }

    package struct Policy: Equatable, Sendable {
        package var start: Start
        package var pace: Pace
        /// Media sent at once at the beginning. ffmpeg probes 5 s before it shows anything.
        package var burst: Ticks
        /// How late a client may become before it is moved forward; nil: it is sent everything that is still there.
        package var longestLag: Ticks?
        /// Segments that begin at this date or later are not sent; nil: the stream has no end.
        package var end: ProgramDateTime?

        package init(
            start: Start = .live, pace: Pace = .realTime(percent: 100), burst: Ticks = .seconds(6),
            longestLag: Ticks? = .seconds(30), end: ProgramDateTime? = nil
        ) {
            self.start = start
            self.pace = pace
            self.burst = burst
            self.longestLag = longestLag
            self.end = end
        }
    }

    package enum Step: Equatable, Sendable {
        /// Make the transport stream of a segment, then call `load`.
        case load(mediaSequence: UInt64)
        /// Write these bytes of the segment that was loaded last.
        case send(mediaSequence: UInt64, bytes: Range<Int>, placement: ClientClock.Placement)
        /// Wait for the time, or until the ring has changed; nil: only for the ring.
        case wait(until: Duration?)
        /// Nothing follows.
        case end
    }

    /// Media that was published and not sent, because the client was too slow or the segment could not be read.
    package struct Dropped: Equatable, Sendable {
        package var jumps = 0
        /// The duration of all dropped media. That of a jump is known when the client has joined again.
        package var duration = Ticks.zero
        package var unreadableSegments = 0

        package init() {}
    }

    /// Up to where the client has got everything, or what could not be had was counted.
    private struct Position: Equatable, Sendable {
        var mediaSequence: UInt64
        /// Decode time.
        var time: Ticks
    }

    private enum State: Equatable, Sendable {
        case joining
        /// `offset`: what is skipped at the beginning of the segment, as far as a chunk allows.
        case loading(mediaSequence: UInt64, offset: Ticks)
        case sending(mediaSequence: UInt64, chunks: ArraySlice<TransportSegment.Chunk>)
    }

    /// Segments without an entry point that a joining client skips, before it begins anywhere.
    private static let longestSkipAtJoin = 3

    private let policy: Policy
    private var state = State.joining
    private var start: Start
    /// When the client joined; nil before the first chunk.
    private var joined: Duration?
    /// Media sent since then, gaps included.
    private var sent = Ticks.zero
    /// nil before the first chunk.
    private var position: Position?
    private var clock = ClientClock()
    /// Whether the client has not joined again after a jump.
    private var isJumping = false
    package private(set) var dropped = Dropped()
    /// Segments without an entry point that a joining client skipped.
    private var skippedAtJoin = 0

    package init(_ policy: Policy = Policy()) {
        self.policy = policy
        start = policy.start
    }

    /// The next step. After `send` it is asked for when the bytes are written.
    package mutating func next(_ index: RingIndex, hasEnded: Bool, at now: Duration) -> Step {
        skipIfLate(index, at: now)
        while true {
            switch state {
            case .joining:
                guard let point = joinPoint(in: index) else { return hasEnded ? .end : .wait(until: nil) }
                state = point
            case .loading(let number, _):
                guard number < index.nextMediaSequence else {
                    return hasEnded || isComplete(index) ? .end : .wait(until: nil)
                }
                guard let entry = index.entry(numbered: number) else {
                    jump()
                    continue
                }
                if let end = policy.end, entry.programDateTime >= end { return .end }
                if !entry.isGap, entry.transportStream != nil { return .load(mediaSequence: number) }
                skip(Ticks(entry.duration), of: number, at: now)
            case .sending(let number, let chunks):
                guard let chunk = chunks.first else {
                    state = .loading(mediaSequence: number + 1, offset: .zero)
                    continue
                }
                if let due = dueTime(index, at: now), due > now { return .wait(until: due) }
                joined = joined ?? now
                return send(chunk, of: number, followedBy: chunks.dropFirst(), index)
            }
        }
    }

    /// Whether no part of a segment is still to be sent.
    package var isBetweenSegments: Bool {
        if case .sending(_, let chunks) = state { chunks.isEmpty } else { true }
    }

    /// Sends a chunk; without a pace, also those that continue it.
    private mutating func send(
        _ chunk: TransportSegment.Chunk, of number: UInt64, followedBy rest: ArraySlice<TransportSegment.Chunk>,
        _ index: RingIndex
    ) -> Step {
        var (bytes, rest) = (chunk.bytes, rest)
        record(chunk, of: number, index)
        let placement = clock.append(from: chunk.start, lasting: chunk.duration)
        while policy.pace == .none, let next = rest.first, next.bytes.lowerBound == bytes.upperBound,
            bytes.upperBound + next.bytes.count - bytes.lowerBound <= Self.longestPart,
            clock.isContinued(at: next.start)
        {
            record(next, of: number, index)
            _ = clock.append(from: next.start, lasting: next.duration)
            bytes = bytes.lowerBound..<next.bytes.upperBound
            rest.removeFirst()
        }
        state = .sending(mediaSequence: number, chunks: rest)
        return .send(mediaSequence: number, bytes: bytes, placement: placement)
    }

    /// The most bytes of several chunks that are sent at once: all of most segments.
    private static let longestPart = 8 << 20

    /// Answers `Step.load`.
    /// - Parameters:
    ///   - segment: nil if the segment cannot be had.
    ///   - duration: of the segment, as it was published.
    package mutating func load(_ segment: TransportSegment?, lasting duration: Ticks) {
        guard case .loading(let number, let offset) = state else { return }
        guard let segment else {
            dropped.unreadableSegments += 1
            if !isJumping, position != nil { dropped.duration += duration }
            advance(over: duration, of: number)
            state = .loading(mediaSequence: number + 1, offset: .zero)
            return
        }
        state = .sending(
            mediaSequence: number, chunks: joined == nil ? chunks(of: segment, from: offset) : segment.chunks[...])
    }

    /// The chunks for a client that joins, which begin with an entry point: from the last that begins by `offset`.
    private mutating func chunks(
        of segment: TransportSegment, from offset: Ticks
    ) -> ArraySlice<TransportSegment.Chunk> {
        guard let start = segment.chunks.first?.start else { return [] }
        let usable = segment.chunks.indices.filter { segment.chunks[$0].isEntryPoint }
        guard let first = usable.last(where: { segment.chunks[$0].start - start <= offset }) ?? usable.first else {
            skippedAtJoin += 1
            return skippedAtJoin > Self.longestSkipAtJoin ? segment.chunks[...] : []
        }
        return segment.chunks[first...]
    }
}

// MARK: - Time

extension EndlessStream {
    /// Media that a live client joins before the newest: the burst, and in real time a reserve of one target duration, so
    /// that a segment that comes late does not starve it.
    private func wantedMedia(_ index: RingIndex) -> Ticks {
        policy.pace == .none ? policy.burst : policy.burst + .seconds(Int64(index.targetDuration))
    }

    private func joinPoint(in index: RingIndex) -> State? {
        if case .segment(let number, let offset) = start { return .loading(mediaSequence: number, offset: offset) }
        // After a jump, what was sent does not come again.
        let entries = position.map { index.listed(from: $0.mediaSequence + 1) } ?? index.listed
        if case .published(let number) = start {
            let first = index.listed(from: max(number, entries.first?.mediaSequence ?? number)).first
            return first.map { .loading(mediaSequence: $0.mediaSequence, offset: .zero) }
        }
        guard var first = entries.last else { return nil }
        let wanted = wantedMedia(index)
        var available = Ticks.zero
        // After an outage the media is before its gaps.
        for entry in entries.reversed() where available < wanted {
            first = entry
            if !entry.isGap { available += Ticks(entry.duration) }
        }
        return .loading(mediaSequence: first.mediaSequence, offset: max(.zero, available - wanted))
    }

    /// When the next chunk may be sent; nil: now.
    private func dueTime(_ index: RingIndex, at now: Duration) -> Duration? {
        guard let joined, case .realTime(let percent) = policy.pace, sent > policy.burst else { return nil }
        // An upstream that is faster than the clock would else fill the ring with what this client has not got.
        let surplus = .seconds(3 * Int64(index.targetDuration)) + wantedMedia(index)
        let isInRewind = if case .segment = start { true } else { false }
        if !isInRewind, backlog(index) > surplus { return nil }
        return joined + ((sent - policy.burst).duration * 100) / Int(max(1, percent))
    }

    /// Published media that was not sent, without gaps.
    private func backlog(_ index: RingIndex) -> Ticks {
        let (number, rest): (UInt64, Ticks) =
            switch state {
            case .joining: (index.nextMediaSequence, .zero)
            case .loading(let number, _): (number, .zero)
            case .sending(let number, let chunks): (number + 1, chunks.reduce(.zero) { $0 + $1.duration })
            }
        return index.listed(from: number).reduce(rest) { $1.isGap ? $0 : $0 + Ticks($1.duration) }
    }

    /// Lets a client that is too late join anew.
    private mutating func skipIfLate(_ index: RingIndex, at now: Duration) {
        guard let longestLag = policy.longestLag, let joined else { return }
        let backlog = backlog(index)
        // Media that was not published in time is no fault of the client.
        let lag = dueMedia(since: joined, at: now).map { min(backlog, $0 - sent) } ?? backlog
        if lag > longestLag { jump() }
    }

    /// The media that may be sent by now; nil if there is no pace.
    private func dueMedia(since joined: Duration, at now: Duration) -> Ticks? {
        guard case .realTime(let percent) = policy.pace else { return nil }
        return Ticks((now - joined) * Int(percent) / 100) + policy.burst
    }

    /// Whether everything before the end of the range is published.
    private func isComplete(_ index: RingIndex) -> Bool {
        guard let end = policy.end, let newest = index.listed.last else { return false }
        return newest.programDateTimeEnd >= end
    }

    /// Passes over a gap. It takes the time that it lasts, unless that has passed already: the client joined in the gap,
    /// or watches the rewind.
    private mutating func skip(_ duration: Ticks, of number: UInt64, at now: Duration) {
        if let joined {
            sent = max(sent, min(sent + duration, dueMedia(since: joined, at: now) ?? sent + duration))
        }
        advance(over: duration, of: number)
        state = .loading(mediaSequence: number + 1, offset: .zero)
    }
}

// MARK: - What is dropped

extension EndlessStream {
    private mutating func jump() {
        dropped.jumps += 1
        isJumping = position != nil
        (state, start, joined, sent) = (.joining, .live, nil, .zero)
    }

    /// Counts a chunk as sent, and the media between what was sent before a jump and the chunk. Gaps are no media.
    private mutating func record(_ chunk: TransportSegment.Chunk, of number: UInt64, _ index: RingIndex) {
        sent += chunk.duration
        if isJumping, let position {
            let gaps = index.listed(from: position.mediaSequence + 1).prefix { $0.mediaSequence < number }
                .filter(\.isGap).reduce(Ticks.zero) { $0 + Ticks($1.duration) }
            dropped.duration += max(.zero, chunk.start - position.time - gaps)
        }
        isJumping = false
        position = Position(mediaSequence: number, time: chunk.start + chunk.duration)
    }

    private mutating func advance(over duration: Ticks, of number: UInt64) {
        guard !isJumping, let position else { return }
        self.position = Position(mediaSequence: number, time: position.time + duration)
    }
}
