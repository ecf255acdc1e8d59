package import ArchiveStore
import Channel
import ChannelList
package import Fetch
import Foundation
package import LiveRing
import Logging
import Observability
import Support

/// The archive of one channel in an object store: what puts segments there, and what reads them.
package final class ChannelArchive: Sendable {
    /// The time in which the store gets the last segments: of a channel that is asked to end, and of one that has ended.
    private static let closingTime = Duration.milliseconds(1200)
    private static let endedTime = Duration.seconds(600)
    private static let writerFile = "archive.writer"

    package let reader: ArchiveReader
    private let store: ObjectStore
    private let settings: ArchiveSettings
    /// nil: nothing is put.
    private let writer: String?

    /// - Parameters:
    ///   - policy: of the channel's ring.
    ///   - spool: the directory of the ring, which remembers the name of the writer; nil: nothing is put.
    package init(
        _ settings: ArchiveSettings, policy: RetentionPolicy, requests: CurlConfiguration, spool: String?,
        cache: CopyCache
    ) throws(StoreError) {
        self.settings = settings
        let credentials = try ArchiveSettings.credentials()
        do throws(FetchError) {
            store = try ObjectStore(settings.url, credentials: credentials, requests: requests.withoutCredentials) {
                WallClock.milliseconds
            }
        } catch {
            throw StoreError(.unreachable(error.reason, message: error.message), object: settings.url.bucket)
        }
        writer = spool.map(Self.writer)
        var policy = policy
        policy.archive = settings.retention ?? .seconds(366 * 86_400)
        policy.byteLimit = nil
        reader = ArchiveReader(store, cache: cache, policy: policy, redirects: settings.redirects, writer: writer)
    }

    /// The name of the writer of a spool. Another spool has other numbers, and so another writer.
    private static func writer(of spool: String) -> String {
        let file = URL(filePath: spool, directoryHint: .isDirectory).appending(path: writerFile)
        if let known = try? String(contentsOf: file, encoding: .utf8).trimmingCharacters(in: .newlines),
            !known.isEmpty, known.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) })
        {
            return known
        }
        let name = String(UInt64.random(in: .min ... .max), radix: 36)
        try? FileManager.default.createDirectory(atPath: spool, withIntermediateDirectories: true)
        try? Data("\(name)\n".utf8).write(to: file)
        return name
    }

    /// Puts what the channel publishes until `work` returns, and what is left of it soon after.
    func upload<Result: Sendable>(
        _ state: ChannelState, logger: Logger, events: RunEvents?, during work: () async -> Result
    ) async -> Result {
        guard let writer else { return await work() }
        var policy = ArchiveUpload.Policy()
        // A redirect leads to a whole object.
        if settings.redirects { policy.objectDuration = .zero }
        let uploader = ArchiveUploader(
            store, writer: writer, policy: policy, retention: settings.retention, clock: ContinuousClock()
        ) { Self.report($0, logger, events) }
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

    private static func wait(for upload: Task<Void, Never>, atMost limit: Duration) async {
        let deadline = Task.detached {
            if (try? await Task.sleep(for: limit)) != nil { upload.cancel() }
        }
        await upload.value
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
        }
    }
}

extension RelayStatus.ArchiveStore {
    fileprivate init(_ status: ArchiveUploader<ContinuousClock>.Status, _ requests: ObjectStore.Counts) {
        self.init()
        (segments, bytes) = (status.counts.storedSegments, status.counts.storedBytes)
        (pendingSegments, lostSegments) = (status.pendingSegments, status.counts.lostSegments)
        (puts, lists, gets) = (requests.puts, requests.lists, requests.gets)
        (deletes, failures) = (requests.deletes, requests.failures)
        error = status.error.map { FailureText(operatorText: $0.message, viewerText: $0.viewerText) }
    }
}

/// Where the archive of a channel is, if it is in an object store.
package struct ArchiveSettings: Hashable, Sendable {
    package let url: StoreURL
    /// How long objects are kept; nil: the store's own rules say it.
    package var retention: Duration?
    /// Whether players are sent to the store for segments.
    package var redirects: Bool

    package init(url: StoreURL, retention: Duration?, redirects: Bool) {
        (self.url, self.retention, self.redirects) = (url, retention, redirects)
    }

    /// nil if the archive of the channel is on the disk. Each channel has a folder of its own.
    init?(_ channel: ListedChannel) {
        guard let text = channel.options.archiveStore, let url = try? StoreURL(parsing: text) else { return nil }
        self.init(
            url: url.folder(channel.slug), retention: channel.options.archive,
            redirects: channel.options.redirectsArchive ?? false)
    }

    /// The key of the environment, or of the file that it names.
    static func credentials() throws(StoreError) -> StoreCredentials {
        let environment = ProcessInfo.processInfo.environment
        if let found = StoreCredentials(environment: environment) { return found }
        guard let path = environment[StoreCredentials.fileVariable],
            let text = try? String(contentsOfFile: path, encoding: .utf8), let found = StoreCredentials(file: text)
        else { throw StoreError(.noCredentials, object: "s3://") }
        return found
    }
}
