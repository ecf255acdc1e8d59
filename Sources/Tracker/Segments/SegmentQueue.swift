import Playlist

/// The segments of one rendition between being listed and being delivered, in playlist order.
///
/// Fetches may end in any order; what is handed over is always the head.
struct SegmentQueue: Sendable {
    private enum Entry: Sendable {
        case segment(PendingSegment)
        case loss(SegmentLoss, [MediaSegment])
        /// The list counts anew from here.
        case discontinuity
    }

    /// Entries before `head` are delivered and hold nothing.
    private var entries: [Entry] = []
    private var head = 0
    /// Something was lost since the last segment delivered.
    private var isAfterDiscontinuity = false
    /// Lost since the last segment delivered, as listed; the newest of them.
    private var passedOver: [MediaSegment] = []
    private static let maxSkippedSegments = 64
    /// That a segment brought which was lost since the last one delivered; the newest of them.
    private var pendingDateRanges: [DateRange] = []
    private static let maxPendingDateRanges = 256
    private(set) var inFlight = 0
    /// Playing time of all segments that were ever started, or passed over.
    private(set) var startedDuration = Duration.zero
    /// Bytes fetched and not delivered yet.
    private(set) var heldBytes = 0
    /// The larger of the last two bodies: what the next ones are expected to weigh.
    private(set) var recentSize = 0
    private var lastSize = 0

    var count: Int { entries.count - head }
    var isEmpty: Bool { count == 0 }

    /// - Parameter dateRanges: of its list, when it is the first that the list brought.
    mutating func append(
        _ segment: MediaSegment, _ requests: SegmentRequests, dateRanges: [DateRange] = [], at now: Duration
    ) {
        entries.append(.segment(PendingSegment(segment, requests, dateRanges: dateRanges, at: now)))
    }

    /// - Parameters: `segments`: what was lost, as far as it was listed; `each`: about what each one lasts.
    mutating func append(_ loss: SegmentLoss, of segments: [MediaSegment], segmentDuration each: Duration) {
        entries.append(.loss(loss, segments))
        addStarted(each, count: loss.count)
    }

    /// Beyond so many lost at once a rendition is ahead of any other in any case.
    private static let maxCountedLosses: UInt64 = 1000

    /// However long a list says that a segment is, the sum stays far from what a `Duration` holds.
    private mutating func addStarted(_ duration: Duration, count: UInt64 = 1) {
        startedDuration += min(duration, .seconds(3600)) * Int(min(count, Self.maxCountedLosses))
    }

    /// The next segment to be delivered has failed at least once.
    var isRetrying: Bool {
        guard head < entries.count, case .segment(let pending) = entries[head] else { return false }
        return pending.budget.map { $0.failures > 0 } ?? false
    }

    /// The numbers of what is queued mean nothing in the lists to come.
    mutating func appendDiscontinuity() {
        updatePending { $0.detachNumber(isGone: true) }
        entries.append(.discontinuity)
    }

    /// The lists to come have other numbers for what is queued.
    mutating func renumber() { updatePending { $0.detachNumber(isGone: false) } }

    /// Takes over what a newer list says of the segments.
    mutating func refresh(from list: MediaPlaylist, base: String, _ shelf: ResourceCache) {
        updatePending { $0.refresh(from: list, base: base, shelf) }
    }

    /// A segment was refused that may have another address in a newer list.
    var awaitsPlaylist: Bool {
        entries[head...].contains { entry in
            if case .segment(let pending) = entry { pending.awaitsPlaylist } else { false }
        }
    }

    private mutating func updatePending(_ update: (inout PendingSegment) -> Void) {
        for index in head..<entries.count {
            guard case .segment(var pending) = entries[index] else { continue }
            entries[index] = .discontinuity  // the body has one owner
            update(&pending)
            entries[index] = .segment(pending)
        }
    }
}

// MARK: - Fetching

extension SegmentQueue {
    /// A segment whose try can start.
    struct Startable {
        fileprivate let index: Int
        /// Nothing else can be delivered before it, so it may not be held back.
        let isHead: Bool
        let url: String
    }

    func startable(at now: Duration) -> Startable? {
        for index in head..<entries.count {
            guard case .segment(let pending) = entries[index], pending.isDue(at: now) else { continue }
            return Startable(index: index, isHead: index == head, url: pending.requests.media.url)
        }
        return nil
    }

    mutating func start(
        _ startable: Startable, as id: FetchID, targetDuration: Duration, at now: Duration
    ) -> SegmentRequests? {
        guard case .segment(var pending) = entries[startable.index] else { return nil }
        if pending.budget == nil { addStarted(pending.segment.duration) }
        pending.start(as: id, targetDuration: targetDuration, at: now)
        entries[startable.index] = .segment(pending)
        inFlight += 1
        return pending.requests
    }

    /// A try ended. Returns what went wrong, if it did, and how often by now.
    mutating func settle(
        _ id: FetchID, _ request: FetchRequest, _ outcome: FetchOutcome, at now: Duration
    ) -> FailedAttempt? {
        guard let index = index(of: id), case .segment(var pending) = entries[index] else { return nil }
        inFlight -= 1
        let trouble = pending.settle(request, outcome, at: now)
        entries[index] = .segment(pending)
        if case .fetched(let body, _) = pending.progress {
            heldBytes += body.count
            recentSize = max(body.count, lastSize)
            lastSize = body.count
        }
        return trouble
    }

    /// When the next pause between two tries is over, of those that are not over by `now`.
    func nextRetry(after now: Duration) -> Duration? {
        var earliest: Duration?
        for index in head..<entries.count {
            guard case .segment(let pending) = entries[index] else { continue }
            if case .waiting = pending.progress { break }
            guard case .pausing(let until, _) = pending.progress, until > now else { continue }
            earliest = min(earliest ?? until, until)
        }
        return earliest
    }

    private func index(of id: FetchID) -> Int? {
        (head..<entries.count).first { index in
            guard case .segment(let pending) = entries[index], case .fetching(id) = pending.progress else {
                return false
            }
            return true
        }
    }
}

// MARK: - Delivering

extension SegmentQueue {
    /// What the head waits for beside its body, once the body is there.
    var headResources: [FetchRequest] {
        guard head < entries.count, case .segment(let pending) = entries[head] else { return [] }
        if case .fetched = pending.progress { return pending.requests.resources }
        return []
    }

    /// Removes and returns the next thing to hand over, if it is ready.
    mutating func popReady(_ shelf: ResourceCache) -> Delivery.Content? {
        while head < entries.count {
            switch entries[head] {
            case .discontinuity:
                isAfterDiscontinuity = true
                pop()
            case .loss(let loss, let segments):
                isAfterDiscontinuity = true
                recordSkipped(segments)
                pop()
                return .lost(loss)
            case .segment(let pending):
                guard let content = content(of: pending, shelf) else { return nil }
                if case .fetched(let body, _) = pending.progress { heldBytes -= body.count }
                if case .lost = content {
                    isAfterDiscontinuity = true
                    recordSkipped([pending.segment])
                    pendingDateRanges = (pendingDateRanges + pending.listedDateRanges).suffix(Self.maxPendingDateRanges)
                } else {
                    isAfterDiscontinuity = false
                    passedOver = []
                    pendingDateRanges = []
                }
                pop()
                return content
            }
        }
        return nil
    }

    /// Of what was lost since the last segment delivered.
    var undeliveredDateRanges: [DateRange] { pendingDateRanges + passedOver.flatMap(\.dateRanges) }

    private mutating func recordSkipped(_ segments: [MediaSegment]) {
        passedOver = (passedOver + segments).suffix(Self.maxSkippedSegments)
    }

    private func content(of pending: PendingSegment, _ shelf: ResourceCache) -> Delivery.Content? {
        let number = pending.segment.mediaSequence
        func lost(_ reason: SegmentLoss.Reason) -> Delivery.Content {
            .lost(SegmentLoss(mediaSequences: number..<number + 1, reason: reason))
        }
        switch pending.progress {
        case .waiting, .fetching, .pausing: return nil
        case .failed(let failure): return lost(failure.lossReason)
        case .fetched(let body, let url):
            for request in pending.requests.resources {
                switch shelf.state(of: request) {
                case .held: continue
                case .absent, .pending: return nil
                case .failed(let failure): return lost(request.lossReason(failure))
                }
            }
            let requests = pending.requests
            return .segment(
                TrackedSegment(
                    segment: pending.segment, url: url, body: body, key: shelf.body(of: requests.key),
                    keyURL: requests.key?.url, map: shelf.body(of: requests.map),
                    mapKey: shelf.body(of: requests.mapKey), mapKeyURL: requests.mapKey?.url,
                    isAfterSeam: isAfterDiscontinuity,
                    listedAt: pending.listedAt, passedOver: passedOver,
                    listedDateRanges: pendingDateRanges + pending.listedDateRanges))
        }
    }

    private mutating func pop() {
        entries[head] = .discontinuity  // frees the body
        head += 1
        guard head == entries.count || head >= 64 && head * 2 > entries.count else { return }
        entries.removeFirst(head)
        head = 0
    }
}

extension SegmentRequests {
    /// What has to be there beside the media.
    package var resources: [FetchRequest] { [key, map, mapKey].compactMap { $0 } }
}

extension FetchRequest {
    func lossReason(_ failure: FetchFailure) -> SegmentLoss.Reason {
        purpose == .key ? .keyUnavailable(url: url, status: failure.status) : .unavailable(status: failure.status)
    }
}
