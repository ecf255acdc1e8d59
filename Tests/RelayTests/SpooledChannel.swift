import Capture
import Foundation
import LiveRing
import Logging
import Playlist
import TestSupport
import Tracker

@testable import liverelay

/// A channel that one process after the other relays on one spool, and what viewers saw of all of them.
struct SpooledChannel: ~Copyable {
    /// A process.
    struct Life: Sendable {
        /// Of the capture's time: when it is started, and killed unless the channel has ended; nil: all of it.
        var times: Range<Duration>?
        /// Milliseconds since 1970, as long as it lives.
        var wallClock: Int64 = 0
        /// Bytes of the disk to leave alone.
        var freeReserve: UInt64 = 0
        /// Of the capture's time: when the spool's directory is not there.
        var withoutSpool: Range<Duration>?
        /// Of the capture's time: when it is removed.
        var removal: Duration?
    }

    let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
    private let capture: CaptureDirectory
    private var lives = 0
    private var isAway = false
    private var isRemoved = false
    private var last: [UInt8]?
    /// Up to the newest process's end; its times are the capture's.
    private(set) var published: ReplayResult

    init(of fixture: CaptureFixture) throws {
        capture = try CaptureDirectory(fixture.directory)
        published = ReplayResult(status: RelayStatus(upstream: capture.index.upstream))
    }

    deinit { try? FileManager.default.removeItem(at: spool) }

    /// - Returns: what the process serves. It holds the spool as long as it is there.
    @discardableResult
    mutating func relay(_ life: Life = Life()) async throws -> ChannelResponder {
        let upstream = capture.index.upstream
        let configuration = RelayConfiguration(
            upstream: upstream, giveUp: nil, spool: spool.path,
            retention: RetentionPolicy(rewind: nil, freeReserve: life.freeReserve))
        let site = ChannelResponder(upstream: upstream) { .seconds(5) }
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var relay = Relay(configuration, site: site, log: RelayLog(logger)) { life.wallClock }
        let past = DVRRing.previousRing(in: spool.path)
        try await relay.resume(after: past)
        var answers = ReplayResponder(capture)
        var driver = ReplayDriver(
            session: ChannelSession(upstream: upstream, policy: configuration.policy(after: past)))
        let times = life.times ?? .zero..<capture.index.duration
        published.end = try await driver.run(until: times.upperBound - times.lowerBound) {
            answers.answer($0, at: times.lowerBound + $1)
        } perform: { output, now in
            let time = times.lowerBound + now
            try setAside(life.withoutSpool?.contains(time) ?? false)
            try remove(life.removal.map { time >= $0 } ?? false)
            let reception = try await relay.perform(output, at: now)
            note(output, of: site, at: time)
            return reception
        }
        if lives > 0 { published.earlierStatuses.append(published.status) }
        lives += 1
        try published.read(site)
        return site
    }

    /// Another name for the spool's directory is as good as a disk that is gone. When that comes back, what was made in
    /// its place lies under it.
    private mutating func setAside(_ goesAway: Bool) throws {
        guard goesAway != isAway else { return }
        isAway = goesAway
        let (here, away) = (spool.path, spool.path + "-away")
        let files = FileManager.default
        if !goesAway, files.fileExists(atPath: here) { try files.removeItem(atPath: here) }
        try files.moveItem(atPath: goesAway ? here : away, toPath: goesAway ? away : here)
    }

    private mutating func remove(_ isDue: Bool) throws {
        guard isDue, !isRemoved else { return }
        isRemoved = true
        try FileManager.default.removeItem(at: spool)
    }

    private mutating func note(_ output: DriverOutput, of site: ChannelResponder, at time: Duration) {
        if case .event(let event) = output { published.reports.append((time, event)) }
        guard let live = site.snapshot?.livePlaylist, live != last else { return }
        last = live
        if let playlist = try? MediaPlaylistParser.parse(live) { published.live.append((time, playlist)) }
    }
}
