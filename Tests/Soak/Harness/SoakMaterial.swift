import TestSupport

/// Bodies of a capture that are sent repeatedly as an endless program.
struct SoakMaterial {
    let bodies: [TransportBody]
    /// Milliseconds of each body.
    let durations: [Int]
    /// Number of packets in all bodies, by PID.
    private let packets: [UInt16: Int]

    init(_ capture: CaptureFixture, _ prefix: String, durations: [Int]) throws {
        bodies = try capture.bodies(prefix).prefix(durations.count).map { TransportBody($0) }
        self.durations = durations
        packets = bodies.map(\.packets).reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    }

    /// Milliseconds.
    var duration: Int { durations.reduce(0, +) }

    func duration(of part: Int) -> Int { durations[part % durations.count] }

    /// - Parameter parts: body numbers, counted over all repetitions.
    func duration(of parts: Range<Int>) -> Int { parts.reduce(0) { $0 + duration(of: $1) } }

    /// Returns parts as one segment.
    /// - Parameter clock: ticks added to the times of the first repetition.
    func segment(_ parts: Range<Int>, clock: Int64, number: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var frames = 0
        for part in parts {
            let (repetition, index) = part.quotientAndRemainder(dividingBy: bodies.count)
            let ticks = clock + Int64(repetition * duration * 90)
            bytes += bodies[index].sent(
                later: ticks, repetition: repetition, of: packets, segment: number, firstFrame: frames)
            frames += bodies[index].frames.count
        }
        return bytes
    }

    /// Returns the number of frames with a `FrameID` in a segment.
    func identifiedFrames(_ parts: Range<Int>) -> Int {
        parts.reduce(0) { $0 + bodies[$1 % bodies.count].frames.count { $0 != nil } }
    }

    /// The program, followed by the ads.
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
