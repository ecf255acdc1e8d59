package import ArchiveStore
import Channel
import ChannelList
import Fetch
import Foundation
package import LiveRing
package import Logging
import Observability
import Support

/// The archive of one channel in an object store: the upload of segments, and the reader.
package final class ChannelArchive: Sendable {
    /// The time for putting the last segments, after a channel was asked to end or has ended.
    private static let closingTime = Duration.milliseconds(1200)
    private static let endedTime = Duration.seconds(600)

    package let reader: ArchiveReader
    private let store: ObjectStore
    private let settings: ArchiveSettings
    /// nil: nothing is put.
    private let writer: WriterName?

    /// - Parameters:
    ///   - policy: the policy of the channel's ring.
    ///   - spool: the directory of the ring, which contains the writer's name; nil: nothing is put.
    package init(
        _ settings: ArchiveSettings, policy: RetentionPolicy, spool: String?, cache: CopyCache, logger: Logger
    ) throws(StoreError) {
        self.settings = settings
        let credentials = try settings.credentials()
        do throws(FetchError) {
            store = try ObjectStore(settings.url, credentials: credentials, requests: settings.requests) {
                WallClock.milliseconds
            } reportDamage: { error in
                logger.error("Archive store: \(error.message)")
            }
        } catch {
            throw StoreError(.unreachable(error.reason, message: error.message), object: settings.url.bucket)
        }
        writer = spool.map { WriterName(in: $0, logger: logger) }
        var policy = policy
        policy.archive = settings.retention ?? .seconds(366 * 86_400)
        policy.byteLimit = nil
        reader = ArchiveReader(
            store, cache: cache, policy: policy, redirects: settings.redirects, transferLimit: settings.connections
        ) {
            [writer] in writer?.text
        }
    }

    /// The time between two indexes of a channel that another node may take over. The segments since are lost with the
    /// node: only the index says which object has which segment, and where it belongs. Longer segments have an index each.
    private static let fleetIndexInterval = Duration.seconds(4)
    /// The longest time for which a channel waits for segments that another node published.
    private static let windowTime = Duration.seconds(3)

    /// Restores the last segments that another node published, as far as the store has them in time.
    /// - Parameters:
    ///   - last: the number of the newest one, which ends at `end`.
    ///   - spool: the directory of the ring. It gets the files of the segments.
    func restoreWindow(
        before last: UInt64, until end: ProgramDateTime, lasting duration: Duration, to spool: String
    ) async -> StoredWindow? {
        let reading = Task { [store] () async -> StoredWindow? in
            let window = try? await StoredWindow(before: last, until: end, lasting: duration, in: store)
            guard let window else { return nil }
            await window.readFiles { name, bytes in try? RingSeed.write(file: name, bytes, to: spool) }
            return window
        }
        await Self.wait(for: reading, atMost: Self.windowTime)
        return await reading.value
    }

    /// Puts the published segments until `work` returns, and the remaining ones shortly afterwards.
    /// - Parameter beginning: the first number that this node of a fleet publishes; nil: no other node runs the channel.
    func upload<Result: Sendable>(
        _ state: ChannelState, from beginning: UInt64?, logger: Logger, events: RunEvents?,
        during work: () async -> Result
    ) async -> Result {
        guard let writer else { return await work() }
        var policy = ArchiveUpload.Policy()
        // A redirect leads to a whole object.
        if settings.redirects { policy.objectDuration = .zero }
        if let beginning {
            policy.beginning = beginning
            policy.indexInterval = Self.fleetIndexInterval
            // Each segment at once.
            policy.objectDuration = min(policy.objectDuration, .milliseconds(1))
        }
        let uploader = ArchiveUploader(
            store, writer: writer.text, run: WriterName.random, policy: policy, retention: settings.retention,
            clock: ContinuousClock(), makeName: { writer.change() },
            report: { Self.report($0, logger, events) })
        state.update { $0.archiveStore = .init() }
        let task = Task { [store] in
            await uploader.run {
                state.snapshot
            } observe: { status in
                state.update { $0.archiveStore = .init(status, store.counts) }
            }
        }
        let result = await work()
        uploader.close()
        await withTaskCancellationHandler {
            await Self.wait(for: task, atMost: Self.endedTime)
        } onCancel: {
            Task { await Self.wait(for: task, atMost: Self.closingTime) }
        }
        return result
    }

    private static func wait<Value: Sendable>(for work: Task<Value, Never>, atMost limit: Duration) async {
        let deadline = Task.detached {
            if (try? await Task.sleep(for: limit)) != nil { work.cancel() }
        }
        _ = await work.value
        deadline.cancel()
    }

    private static func report(
        _ report: ArchiveUploader<ContinuousClock>.Report, _ logger: Logger, _ events: RunEvents?
    ) {
        switch report {
        case .failing(let error):
            logger.error("Archive store: \(error.message)")
            events?.publish(.archiveError(reason: error.message))
        case .recovered(let time):
            logger.info("Archive store: it takes segments again after \(time.secondsText)")
            events?.publish(.archiveRecovery(seconds: time / .seconds(1)))
        case .losing(let number):
            logger.error("Archive store: segments are lost from=\(number), because they leave the spool before")
        case .lost(let loss):
            logger.error(
                """
                Archive store: lost segments=\(loss.segments) from=\(loss.first) to=\(loss.last) \
                start=\(loss.start.text) end=\(loss.end.text)
                """)
            events?.publish(
                .archiveLoss(
                    segments: loss.segments, numbers: loss.first...loss.last, from: loss.start, to: loss.end))
        case .setAside(let error):
            logger.error(
                "Archive store: an index was set aside as .damaged, and what the spool has is put again: \(error.message)"
            )
        case .renamed(.taken):
            logger.error(
                """
                Archive store: another process writes under the name in \(WriterName.file) of this spool, which is a copy \
                of the other. This process takes another name
                """)
        case .renamed(.countsAnew):
            logger.warning(
                "Archive store: the spool counts anew below its last index in the store. It gets another writer's name")
        case .otherRetention(let theirs, let own):
            logger.warning(
                """
                Archive store: another relay of the prefix removes what is older than \(theirs.secondsText), and this one \
                \(own.map { "what is older than \($0.secondsText)" } ?? "nothing"). The shortest counts for both
                """)
        case .clockDiffers(let difference):
            logger.error(
                """
                Archive store: nothing is removed, because the store's clock is \(difference.secondsText) ahead of this \
                machine's (negative: behind). Set both clocks (NTP)
                """)
        case .expired(let hours):
            logger.warning(
                "Archive store: \(hours) hours are older than the archive and wait. Each sweep removes 26 hours at most"
            )
        }
    }
}

extension RelayStatus.ArchiveStore {
    fileprivate init(_ status: ArchiveUploader<ContinuousClock>.Status, _ requests: ObjectStore.Counts) {
        self.init()
        (segments, bytes) = (status.counts.storedSegments, status.counts.storedBytes)
        (pendingSegments, lostSegments) = (status.pendingSegments, status.counts.lostSegments)
        (puts, lists, gets) = (requests.puts, requests.lists, requests.gets)
        (deletes, failures, damaged) = (requests.deletes, requests.failures, requests.damaged)
        expiredHours = status.expiredHours
        error = status.error.map { FailureText(operatorText: $0.message, viewerText: $0.viewerText) }
    }
}
