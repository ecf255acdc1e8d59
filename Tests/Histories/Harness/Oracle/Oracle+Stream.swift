import PlaylistRules

// MARK: - Endless streams: what came on the connections is published once, and connections are made in time

extension Oracle {
    /// Finds out which frames of a stream came.
    mutating func prepareStream() {
        guard let stream = broadcast.stream else { return }
        let reception = StreamReception(stream, log, record.lives, broadcast)
        streamArrivals = source.map { _ in nil }
        for frame in reception.frames {
            let parts = broadcast.segments[frame.segment].parts
            let before = parts[..<frame.part].reduce(0) { $0 + $1.frames.count }
            let number = before + frame.identity.frame - parts[frame.part].frames.lowerBound
            let place = places[frame.segment].lowerBound + number
            streamPlaces.append(place)
            streamArrivals[place] = frame.cameAt
            guard let time = frame.cameAt else { continue }
            arrivals[frame.segment] = [min(time, arrivals[frame.segment].first ?? time)]
        }
        ownArrivals = arrivals
        self.reception = reception
    }

    /// All frames that a perfect client would have had are published, and none without the frames that it needs.
    mutating func judgeStream() {
        guard var reception else { return }
        let known = Set(published.compactMap(\.source))
        let numbers = Dictionary(uniqueKeysWithValues: streamPlaces.enumerated().map { ($1, $0) })
        reception.follow { life in
            published.last { frame in frame.source != nil && record.segments[frame.segment].life < life }
                .flatMap { last in published.filter { $0.segment == last.segment }.compactMap(\.source) }?
                .compactMap { numbers[$0] }.max()
        }
        self.reception = reception
        for life in record.lives.indices { judgeDueFrames(of: life, reception, known) }
        for (number, frame) in reception.frames.enumerated().dropFirst() where !frame.isRandomAccess {
            guard known.contains(streamPlaces[number]), !known.contains(streamPlaces[number - 1]),
                !mayBeDuplicate(streamPlaces[number - 1], known)
            else { continue }
            let at = published.first { $0.source == streamPlaces[number] }.map { record.segments[$0.segment].at } ?? 0
            find(.frame, at: at, "\(name(of: streamPlaces[number])) is published without the frame before it")
        }
    }

    private mutating func judgeDueFrames(of life: Int, _ reception: StreamReception, _ known: Set<Int>) {
        let end = record.lives[life].end - 1500
        let due = reception.frames.indices.filter { reception.frames[$0].dueAt[life] != nil }
        let isClosed: (Int) -> Bool = { number in
            reception.frames[number].isRandomAccess && reception.frames[number].dueAt[life].map { $0 <= end } ?? false
        }
        guard let last = due.last(where: isClosed) else { return }
        var media = 0.0
        var missing: [Int: [Int]] = [:]
        for number in due.reversed() where number < last {
            let frame = reception.frames[number]
            let format = broadcast.segments[frame.segment].parts[frame.part].format
            media += Double(format.frameDuration) / 90
            guard media > Limits.heldMedia, !known.contains(streamPlaces[number]) else { continue }
            missing[frame.segment, default: []].insert(streamPlaces[number], at: 0)
        }
        for (segment, places) in missing.sorted(by: { $0.key < $1.key }) {
            guard !isLate(broadcast.segments[segment]), !limits.mayBeUnwritten(broadcast.segments[segment]),
                !hasOtherShowing(places),
                !places.allSatisfy({ mayBeDuplicate($0, known) })
            else { continue }
            find(
                .missing, at: broadcast.segments[segment].end,
                "\(places.count) frames, which came whole, from \(name(of: places[0])) on")
        }
    }

    /// Milliseconds of a stream that were listed at once: they are played out before missing time is listed.
    func burst(before time: Int) -> Int {
        guard reception != nil else { return 0 }
        let listed = record.segments.filter { $0.at >= time - Limits.burstWindow && $0.at <= time }
        return max(0, listed.reduce(0) { $0 + $1.text.milliseconds } - history.targetDuration * 1000)
    }

    /// There are never two connections, and another one is made in time.
    mutating func judgeConnections() {
        guard reception != nil else { return }
        let connections = log.streams.connections
        for (one, next) in zip(connections, connections.dropFirst()) {
            if let last = one.parts.last?.at, last > next.askedAt {
                find(.lost, at: next.askedAt, "there are two connections")
            }
        }
        for (index, one) in connections.enumerated() {
            guard let life = record.lives.first(where: { one.askedAt >= $0.start && one.askedAt < $0.end }) else {
                continue
            }
            let next = connections.dropFirst(index + 1).first { $0.askedAt < life.end }?.askedAt ?? life.end
            let limit = Limits.reconnection(after: one)
            guard next > limit + limits.asleep(from: one.askedAt, to: next) else { continue }
            find(.lost, at: limit, "no connection is made for \(next - limit) ms after the one of \(one.askedAt) ms")
        }
    }
}

extension Limits {
    // MARK: - docs/upstreams.md

    /// Media that waits for the end of its segment and of the next one, milliseconds: each has 1.8 s and a group, and audio
    /// is waited for.
    static let heldMedia = 10_000.0

    /// Segments are cut at random access points after 1.8 s.
    static let longestStreamSegment = 4000
    /// What is listed within half a target duration was one burst.
    static let burstWindow = 1600
    /// Milliseconds between two parts of a stream that comes in bursts.
    static let longestBurst = 3000

    /// The longest time without a new segment of a stream.
    func streamStandstill(from start: Int, to end: Int) -> Int {
        let isDisturbed = history.events.contains { event in
            guard event.at < end else { return false }
            if event.thing == .shortConnections { return true }
            return (event.duration > 0 || event.thing == .cutStream) && event.end + 25_000 > start
        }
        if !isDisturbed { return Self.longestStreamSegment + Self.longestBurst + history.targetDuration * 500 + 1000 }
        return silenceBeforeGap + Self.longestStreamSegment + 1000
    }

    /// When the connection after another one is made at the latest.
    static func reconnection(after one: StreamConnection) -> Int {
        // A connection that sends in bursts may be silent for 15 s.
        let silent = (one.parts.last?.at ?? one.askedAt) + 15_500
        guard let end = one.end else { return silent }
        // What brought little is followed after a pause.
        let isWorthwhile = one.received.count > 60_000 && one.parts.count > 10
        return min(silent, end) + (isWorthwhile ? 1000 : 8500)
    }
}
