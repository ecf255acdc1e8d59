import TestSupport

/// A programme of which there is a little, sent over and over.
struct SoakMaterial {
    let bodies: [TransportBody]
    /// Milliseconds of each body.
    let durations: [Int]
    /// Packets of all of them, by PID.
    private let packets: [UInt16: Int]

    init(_ capture: CaptureFixture, _ prefix: String, durations: [Int]) throws {
        bodies = try capture.bodies(prefix).prefix(durations.count).map { TransportBody($0) }
        self.durations = durations
        packets = bodies.map(\.packets).reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    }

    /// Milliseconds.
    var duration: Int { durations.reduce(0, +) }

    func duration(of part: Int) -> Int { durations[part % durations.count] }

    /// - Parameter parts: bodies, counted on over all rounds.
    func duration(of parts: Range<Int>) -> Int { parts.reduce(0) { $0 + duration(of: $1) } }

    /// The same parts as one segment.
    /// - Parameter clock: ticks added to the times of the first round.
    func segment(_ parts: Range<Int>, clock: Int64, number: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var pictures = 0
        for part in parts {
            let (round, index) = part.quotientAndRemainder(dividingBy: bodies.count)
            let ticks = clock + Int64(round * duration * 90)
            bytes += bodies[index].sent(
                later: ticks, round: round, of: packets, segment: number, firstPicture: pictures)
            pictures += bodies[index].pictures.count
        }
        return bytes
    }

    /// Numbers of the pictures of a segment that bear a name.
    func named(_ parts: Range<Int>) -> Int {
        parts.reduce(0) { $0 + bodies[$1 % bodies.count].pictures.count { $0 != nil } }
    }

    /// First the programme, then advertisements.
    static func all() throws -> [SoakMaterial] {
        let spliced = CaptureFixture.ssaiTagged
        return [
            try SoakMaterial(CaptureFixture("segment_404"), "0", durations: Array(repeating: 1000, count: 8)),
            try SoakMaterial(spliced, "ad1", durations: [2000, 2000, 2000, 2000, 1000]),
            try SoakMaterial(spliced, "ad2", durations: Array(repeating: 2002, count: 6)),
            try SoakMaterial(spliced, "ad3", durations: [2000, 2000, 2000, 2000, 1000]),
            try SoakMaterial(CaptureFixture("pod_of_ten"), "03-ad2", durations: [1600]),
        ]
    }
}
