/// What a perfect client would have had of a stream, from the bytes that came on each connection.
///
/// A frame came if its packets came whole on one connection. It has to be published if the first packet of the next one
/// came there too, which tells that it is whole, and if its tables, the random access point of its group and all frames
/// between came on that connection or an earlier one.
struct StreamReception {
    /// A video frame, in decoding order.
    struct Frame {
        let identity: FrameIdentity
        let isRandomAccess: Bool
        /// Index of its segment, and of the part in it.
        let segment: Int
        let part: Int
        /// Index among the units of the stream.
        let unit: Int
        /// The tables that declare it.
        let tables: Int
        /// When it came first; nil: it did not.
        var cameAt: Int?
        /// When it was there to be published, by each process; nil: it was not.
        var dueAt: [Int?]
    }

    private let stream: BroadcastStream
    private let connections: [StreamConnection]
    private let lives: [PublicationRecord.Life]
    private(set) var frames: [Frame] = []
    /// The frame of each unit; nil: it is none.
    private var numbers: [Int?]
    /// Times from which on a client that has received nothing before goes on.
    private(set) var joints: [Int] = []

    init(_ stream: BroadcastStream, _ log: OriginLog, _ lives: [PublicationRecord.Life], _ broadcast: Broadcast) {
        (self.stream, self.lives) = (stream, lives)
        connections = log.streams.connections
        numbers = Array(repeating: nil, count: stream.units.count)
        for (index, unit) in stream.units.enumerated() {
            guard case .video(let identity, let isRandomAccess) = unit.content else { continue }
            let format = broadcast.segments[unit.segment].parts[unit.part].format
            numbers[index] = frames.count
            frames.append(
                Frame(
                    identity: identity, isRandomAccess: isRandomAccess, segment: unit.segment, part: unit.part,
                    unit: index, tables: format.videoPID, cameAt: nil, dueAt: lives.map { _ in nil }))
        }
        for connection in connections {
            for index in units(of: connection) {
                guard let number = numbers[index], frames[number].cameAt == nil else { continue }
                frames[number].cameAt = connection.arrival(of: stream.units[index].bytes.upperBound)
            }
        }
    }

    /// The units that came whole on a connection.
    func units(of connection: StreamConnection) -> Range<Int> {
        let received = connection.received
        let first = firstUnit { $0.bytes.lowerBound >= received.lowerBound }
        return first..<max(first, firstUnit { $0.bytes.upperBound > received.upperBound })
    }

    private func firstUnit(where isReached: (BroadcastStream.Unit) -> Bool) -> Int {
        var (low, high) = (0, stream.units.count)
        while low < high {
            let middle = (low + high) / 2
            if isReached(stream.units[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Whether an audio frame came whole.
    func hasAudio(_ number: Int, of content: Int, in segment: Int) -> Bool {
        connections.contains { connection in
            let units = stream.units[units(of: connection)]
            guard let first = units.first, let last = units.last, (first.segment...last.segment).contains(segment)
            else {
                return false
            }
            return units.contains { unit in
                guard unit.segment == segment, case .audio(content, let range) = unit.content else { return false }
                return range.contains(number)
            }
        }
    }

    /// Finds out what each process could publish.
    /// - Parameter published: the number of the last frame that was published before a process began; nil: none was.
    mutating func follow(after published: (_ life: Int) -> Int?) {
        for (index, life) in lives.enumerated() {
            var client = Client(tail: published(index))
            for connection in connections where connection.askedAt >= life.start && connection.askedAt < life.end {
                follow(connection, &client, index)
            }
        }
    }

    private struct Client {
        /// The last frame that was there to be published.
        var tail: Int?
        /// The tables that came last.
        var tables: Int?
        /// Whether frames are missing after the last one.
        var isBroken = true
    }

    private mutating func follow(_ connection: StreamConnection, _ client: inout Client, _ life: Int) {
        var isJoined = false
        for index in units(of: connection) {
            let unit = stream.units[index]
            if case .tables(let key) = unit.content { client.tables = key }
            guard let number = numbers[index] else { continue }
            if let tail = client.tail, number <= tail {
                continue
            }
            if !isJoined {
                isJoined = true
                client.isBroken = number != (client.tail ?? -2) + 1
                if client.isBroken { joints.append(connection.askedAt) }
            }
            guard number + 1 < frames.count, client.tables == frames[number].tables,
                let at = connection.arrival(of: stream.units[frames[number + 1].unit].bytes.lowerBound + 188)
            else {
                client.isBroken = true
                continue
            }
            if client.isBroken, !frames[number].isRandomAccess { continue }
            client.isBroken = false
            client.tail = number
            frames[number].dueAt[life] = at
        }
    }
}
