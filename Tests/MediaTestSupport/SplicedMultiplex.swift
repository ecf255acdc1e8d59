import TestSupport

@testable import Media

/// A live multiplex with splices: programs one after the other, each with its own clock.
struct SplicedMultiplex {
    struct Program: Sendable {
        let seconds: Int
        /// Decoding time of the first frame, in seconds.
        let base: Int64
        /// Whether it has other PIDs and another program number than the main program.
        var hasOwnStreams = false
        var seed: UInt8 = 0

        var videoPID: UInt16 { hasOwnStreams ? 0x1E1 : EndlessMultiplex.videoPID }
        var audioPID: UInt16 { hasOwnStreams ? 0x1E2 : EndlessMultiplex.audioPID }
    }

    static let pids: [UInt16] = [EndlessMultiplex.videoPID, EndlessMultiplex.audioPID, 0x1E1, 0x1E2]

    let programs: [Program]
    /// Packets of 188 bytes.
    private(set) var bytes: [UInt8] = []
    /// The offset of the first packet of each frame, or of the tables before it, and the end.
    private var offsets: [Int] = []

    init(_ programs: [Program]) {
        self.programs = programs
        var builder = TransportStreamBuilder()
        for program in programs {
            let number: UInt16 = program.hasOwnStreams ? 7 : 1
            for frame in 0..<program.seconds * EndlessMultiplex.framesPerSecond {
                let time = program.base * 90_000 + Int64(frame) * EndlessMultiplex.frameTicks
                offsets.append(builder.bytes.count)
                if frame.isMultiple(of: 5) {
                    builder.tables(
                        [.init(pid: program.videoPID, type: 0x1B), .init(pid: program.audioPID, type: 0x0F)],
                        program: number, mapPID: program.hasOwnStreams ? 0x1E0 : 0x1000)
                }
                builder.pes(
                    pid: program.videoPID, pts: EndlessMultiplex.wire(time),
                    EndlessMultiplex.picture(frame, seed: program.seed, isKey: frame.isMultiple(of: 25)))
                builder.pes(
                    pid: program.audioPID, streamID: 0xC0, pts: EndlessMultiplex.wire(time - 1800), isBounded: true,
                    ElementarySamples.adts(UInt8(frame & 0x7F) ^ program.seed))
            }
        }
        bytes = builder.bytes
        offsets.append(bytes.count)
    }

    /// The bytes from one time to another, in seconds since the beginning. Both lie inside a packet.
    func part(_ from: Double, _ to: Double) -> [UInt8] {
        let position = { (time: Double) in
            let frame = min(Int((time * Double(EndlessMultiplex.framesPerSecond)).rounded()), offsets.count - 1)
            return frame == 0 || frame == offsets.count - 1 ? offsets[frame] : offsets[frame] + 77
        }
        return Array(bytes[position(from)..<position(to)])
    }

    /// The times of all frames of each PID, in order.
    static func times(in segments: [[UInt8]]) -> [[Int64]] {
        pids.map { pid in segments.flatMap { EndlessMultiplex.times(of: pid, in: $0) } }
    }
}
