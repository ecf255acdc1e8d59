/// What a perfect client would have had of a stream, from the bytes that came on each connection.
///
/// A frame came if its packets came whole on one connection. It has to be published if the first packet of the next one
/// came there too, which tells that it is whole, and if its tables, the random access point of its group and all frames
/// between came on that connection or an earlier one.
struct StreamReception {
    /// A video frame, in decoding order.
    struct Frame {
        /// Its index in order of presentation.
        let place: Int
        let isRandomAccess: Bool
        let unit: BroadcastStream.Unit
        let format: MediaFormat
        /// When it came first; nil: it did not.
        var cameAt: Int?
    }

    struct Audio: Hashable { let content, frame, segment: Int }

    private let stream: BroadcastStream
    private let connections: [StreamConnection]
    private(set) var frames: [Frame] = []
    /// The frame of each unit; nil: it is none.
    private var numbers: [Int?] = []
    /// The audio frames that came whole.
    private(set) var audio: Set<Audio> = []
    /// Times from which on a client that has received nothing before goes on.
    private(set) var joints: [Int] = []

    init(_ stream: BroadcastStream, _ log: OriginLog, _ broadcast: Broadcast, _ places: [Range<Int>]) {
        (self.stream, connections) = (stream, log.streams.connections)
        for unit in stream.units {
            guard case .video(let identity, let isRandomAccess) = unit.content else {
                numbers.append(nil)
                continue
            }
            let parts = broadcast.segments[unit.segment].parts[...unit.part]
            let before = parts.dropLast().reduce(places[unit.segment].lowerBound) { $0 + $1.frames.count }
            numbers.append(frames.count)
            frames.append(
                Frame(
                    place: before + identity.frame - parts[unit.part].frames.lowerBound, isRandomAccess: isRandomAccess,
                    unit: unit, format: parts[unit.part].format))
        }
        for connection in connections {
            for index in units(of: connection) {
                let unit = stream.units[index]
                if case .audio(let content, let range) = unit.content {
                    audio.formUnion(range.map { Audio(content: content, frame: $0, segment: unit.segment) })
                }
                guard let number = numbers[index], frames[number].cameAt == nil else { continue }
                frames[number].cameAt = connection.arrival(of: unit.bytes.upperBound)
            }
        }
    }

    /// The units that came whole on a connection.
    private func units(of connection: StreamConnection) -> Range<Int> {
        let received = connection.received
        let first = stream.units.boundary { $0.bytes.lowerBound >= received.lowerBound }
        return first..<max(first, stream.units.boundary { $0.bytes.upperBound > received.upperBound })
    }

    /// The places of the frames that a process had to publish. Those of the end wait for what follows.
    /// - Parameter tail: the last frame that was published before it began; nil: none was.
    mutating func duePlaces(in life: PublicationRecord.Life, after tail: Int?) -> [Int] {
        var (tail, tables, isBroken) = (tail ?? -2, Int?.none, true)
        var due: [(frame: Frame, at: Int)] = []
        for connection in connections where (life.start..<life.end).contains(connection.askedAt) {
            var isJoined = false
            for index in units(of: connection) {
                if case .tables(let key) = stream.units[index].content { tables = key }
                guard let number = numbers[index], number > tail else { continue }
                if !isJoined {
                    (isJoined, isBroken) = (true, number != tail + 1)
                    if isBroken { joints.append(connection.askedAt) }
                }
                guard number + 1 < frames.count, tables == frames[number].format.videoPID,
                    let at = connection.arrival(of: frames[number + 1].unit.bytes.lowerBound + 188)
                else {
                    isBroken = true
                    continue
                }
                if isBroken, !frames[number].isRandomAccess { continue }
                (isBroken, tail) = (false, number)
                due.append((frames[number], at))
            }
        }
        guard let end = due.lastIndex(where: { $0.frame.isRandomAccess && $0.at <= life.end - 1500 }) else { return [] }
        var held = 0
        return due[..<end].reversed().compactMap { frame, _ in
            held += frame.format.frameDuration
            return held > Limits.heldMedia * 90 ? frame.place : nil
        }
    }
}

extension Array {
    /// Index of the first element that satisfies `predicate`, as all elements after it do.
    func boundary(where predicate: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
