import ChannelTestSupport
import Foundation
import TestSupport

/// A fault of the disk or the process: what happens to a spool, and to the processes that relay a channel on it in turn.
struct DiskFault: Sendable {
    /// The fault, as docs/failover.md lists it.
    let description: String
    let lives: [SpooledChannel.Life]
    /// Frames that are in no playlist at the end: the disk destroyed or refused them, or no process fetched them.
    var framesLost = 0
    /// Damages the spool after the first process.
    var damage: @Sendable (SpoolFiles) throws -> Void = { _ in }

    func play(_ capture: CaptureFixture) async throws -> ReplayResult {
        var channel = try SpooledChannel(of: capture)
        for (index, life) in lives.enumerated() {
            try await channel.relay(life)
            if index == 0 { try damage(SpoolFiles(directory: channel.spool)) }
        }
        return channel.result
    }
}

extension DiskFault {
    /// 2026-01-02T12:00:00Z
    private static let noon = Int64(1_767_355_200_000)
    private static let hour = Int64(3_600_000)

    /// Two processes: one is killed after nine seconds of `ssai_tagged`, one is started after ten. A segment has 50 frames.
    private static func restarted(wallClocks: (Int64, Int64) = (noon, noon)) -> [SpooledChannel.Life] {
        [
            SpooledChannel.Life(times: .zero ..< .seconds(9), wallClock: wallClocks.0),
            SpooledChannel.Life(times: .seconds(10) ..< .seconds(90), wallClock: wallClocks.1),
        ]
    }

    /// The faults, for the capture `ssai_tagged`.
    static let all: [DiskFault] = [
        DiskFault(
            description: "Nothing: a program with three ads.",
            lives: [.init(times: .zero ..< .seconds(90))]),
        DiskFault(description: "Killed, and restarted a second later.", lives: restarted()),
        DiskFault(
            description: "Killed in an ad, and restarted eight seconds later.",
            lives: [.init(times: .zero ..< .seconds(26)), .init(times: .seconds(34) ..< .seconds(90))]),
        DiskFault(
            description: "Killed every few seconds.",
            lives: [0..<5, 6..<10, 11..<15, 16..<20, 21..<90].map { seconds in
                .init(times: .seconds(seconds.lowerBound) ..< .seconds(seconds.upperBound))
            }),
        DiskFault(
            description: "Killed, and restarted when the next segments have left the upstream's playlist.",
            lives: [.init(times: .zero ..< .seconds(9)), .init(times: .seconds(40) ..< .seconds(90))],
            framesLost: 550),
        DiskFault(
            description: "Killed while writing a segment.", lives: restarted(),
            damage: { try $0.leaveUnrecorded(whole: false) }),
        DiskFault(
            description: "Killed while writing to the journal.", lives: restarted(),
            damage: { spool in
                try spool.leaveUnrecorded(whole: true)
                try spool.tearRecord()
            }),
        DiskFault(
            description: "The newest segment's file is gone.", lives: restarted(), framesLost: 50,
            damage: { try $0.remove($0.segments[$0.segments.count - 1]) }),
        DiskFault(
            description: "A segment's file is truncated.", lives: restarted(), framesLost: 50,
            damage: { try $0.truncate($0.segments[2]) }),
        DiskFault(
            description: "Zeros after the journal's records, as after a power cut.", lives: restarted(),
            damage: { try $0.appendZeros() }),
        DiskFault(
            description: "Zeros in the middle of the journal.", lives: restarted(), framesLost: 50,
            damage: { try $0.zero(recordOf: $0.segments[3]) }),
        DiskFault(
            description: "The disk is full at the restart, and has room at the next.",
            lives: [
                .init(times: .zero ..< .seconds(9)), .init(times: .seconds(10) ..< .seconds(17), isDiskFull: true),
                .init(times: .seconds(18) ..< .seconds(90)),
            ], framesLost: 50),
        DiskFault(
            description: "The disk is full at the start, and has room at the restart.",
            lives: [
                .init(times: .zero ..< .seconds(9), isDiskFull: true),
                .init(times: .seconds(10) ..< .seconds(90)),
            ], framesLost: 250),
        DiskFault(
            description: "The disk is away for four seconds.",
            lives: [.init(times: .zero ..< .seconds(90), withoutSpool: .seconds(5) ..< .seconds(9))],
            framesLost: 100),
        DiskFault(
            description: "The spool's directory is removed.",
            lives: [.init(times: .zero ..< .seconds(90), removal: .seconds(9))],
            framesLost: 350),
        DiskFault(
            description: "The wall clock goes back an hour meanwhile.",
            lives: restarted(wallClocks: (noon, noon - hour))),
        DiskFault(
            description: "The wall clock goes forward an hour meanwhile.",
            lives: restarted(wallClocks: (noon, noon + hour))),
    ]
}
