package import Channel
package import Export
package import Foundation
import LiveRing
import Playlist
package import Splice
package import TestSupport
import Tracker

@testable import Capture
@testable import Fetch
@testable import Support

/// A channel that several processes relay on one spool, one after the other.
package struct SpooledChannel: ~Copyable {
    /// One process. Its times are the capture's.
    package struct Life: Sendable {
        /// When the process is started, and killed unless the channel has ended; nil: the whole capture.
        package var times: Range<Duration>?
        /// Milliseconds since 1970, which stay the same for the life of the process.
        package var wallClock: Int64
        /// Whether the disk takes no file but the journals, which have their place.
        package var isDiskFull: Bool
        /// When the spool's directory is missing.
        package var withoutSpool: Range<Duration>?
        /// When the spool's directory is removed.
        package var removal: Duration?
        /// Fills outages.
        package var slate: SlateSource?

        package init(
            times: Range<Duration>? = nil, wallClock: Int64 = 0, isDiskFull: Bool = false,
            withoutSpool: Range<Duration>? = nil, removal: Duration? = nil, slate: SlateSource? = nil
        ) {
            self.times = times
            self.wallClock = wallClock
            self.isDiskFull = isDiskFull
            self.withoutSpool = withoutSpool
            self.removal = removal
            self.slate = slate
        }
    }

    package let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
    private let capture: CaptureDirectory
    private let beginning: TimelinePosition
    private var lifeCount = 0
    private var isAway = false
    private var isRemoved = false
    private var lastLivePlaylist: [UInt8]?
    private var lastVersion: UInt64?
    /// Everything that the processes published so far. Its times are the capture's.
    package private(set) var result: ReplayResult

    /// - Parameter beginning: where the timeline of the first process begins.
    package init(of fixture: CaptureFixture, beginning: TimelinePosition = .beginning) throws {
        self.beginning = beginning
        capture = try CaptureDirectory(fixture.directory)
        result = ReplayResult(status: RelayStatus(upstream: capture.index.upstream))
    }

    deinit { try? FileManager.default.removeItem(at: spool) }

    private static let fullDisk = FileSystem(
        space: { _ in FileSystemSpace(freeBytes: 0, byteCount: 1 << 30) },
        fault: { name, _ in name.hasPrefix("ring.") || name.hasPrefix("subs-") ? nil : (0, ENOSPC) })

    /// Runs one process.
    /// - Returns: the state of the channel. The process holds the spool for as long as its state exists.
    @discardableResult
    package mutating func relay(_ life: Life = Life()) async throws -> ChannelState {
        let upstream = capture.index.upstream
        var configuration = RelayConfiguration(
            upstream: upstream, giveUp: nil, spool: spool.path,
            retention: RetentionPolicy(rewind: nil, freeReserve: 0))
        if life.isDiskFull { configuration.fileSystem = Self.fullDisk }
        (configuration.beginning, configuration.slate) = (beginning, life.slate)
        let state = ChannelState(upstream: upstream) { .seconds(5) }
        var relay = Relay(configuration, state: state, wallClock: { life.wallClock })
        lastVersion = nil
        let previous = DVRRing.previousRing(in: spool.path)
        try await relay.resume(after: previous)
        var responder = ReplayResponder(capture)
        var driver = ReplayDriver(
            session: ChannelSession(upstream: upstream, policy: configuration.policy(after: previous)))
        let times = life.times ?? .zero..<capture.index.duration
        result.end = try await driver.run(until: times.upperBound - times.lowerBound) {
            responder.answer($0, at: times.lowerBound + $1)
        } perform: { output, now in
            let time = times.lowerBound + now
            try setAway(life.withoutSpool?.contains(time) ?? false)
            if let removal = life.removal, time >= removal { try remove() }
            let outcome = try await relay.perform(output, at: now)
            record(output, of: state, at: time)
            return outcome
        }
        if lifeCount > 0 { result.earlierStatuses.append(result.status) }
        lifeCount += 1
        try result.read(state)
        return state
    }

    /// Renames the spool's directory, or restores its name.
    ///
    /// A renamed directory acts as a disk that is unmounted. A directory that was made in its place is removed, as if the
    /// disk were mounted over it.
    private mutating func setAway(_ goesAway: Bool) throws {
        guard goesAway != isAway else { return }
        isAway = goesAway
        let (here, away) = (spool.path, spool.path + "-away")
        let files = FileManager.default
        if !goesAway, files.fileExists(atPath: here) { try files.removeItem(atPath: here) }
        try files.moveItem(atPath: goesAway ? here : away, toPath: goesAway ? away : here)
    }

    private mutating func remove() throws {
        guard !isRemoved else { return }
        isRemoved = true
        try FileManager.default.removeItem(at: spool)
    }

    private mutating func record(_ output: DriverOutput, of state: ChannelState, at time: Duration) {
        if case .event(let event) = output { result.reports.append((time, event)) }
        guard let snapshot = state.snapshot, snapshot.version != lastVersion else { return }
        lastVersion = snapshot.version
        guard let live = snapshot.livePlaylist(), live != lastLivePlaylist else { return }
        lastLivePlaylist = live
        if let playlist = try? MediaPlaylistParser.parse(live) { result.live.append((time, playlist)) }
    }
}
