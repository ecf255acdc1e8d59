package import ChannelList
import Foundation
package import HTTP
package import Logging
import Support
import Synchronization

/// A guide as it is served: two files with the same content.
struct PublishedGuide: Equatable, Sendable {
    let path: String
    let gzipPath: String
    let built: GuideBuilder.Built
    /// As an HTTP date.
    let lastModified: String
    let made: ContinuousClock.Instant
}

/// Keeps the guide up to date: fetches the guides of the lists and merges them into one guide for the listed channels.
///
/// A few guides are fetched at once, and each is merged as soon as it has arrived. If a guide cannot be fetched, or is
/// not a guide, its previous version stays in use.
package final class GuideService: Sendable {
    package struct Settings: Sendable {
        /// Guides that are read in addition to the guides of the lists: URLs and files.
        var guides: [String] = []
        /// Time between two requests for a guide; nil: it is fetched once.
        var refresh: Duration? = .seconds(12 * 3600)
        var limits = GuideLimits()
        /// The pause after which a failed merge is repeated.
        var buildPause = Duration.seconds(60)
        /// The rewind of channels without a setting of their own; nil: unlimited. Past programs are kept equally long.
        var defaultRewind: Duration? = .zero

        package init(
            guides: [String] = [], refresh: Duration? = .seconds(12 * 3600), limits: GuideLimits = GuideLimits(),
            defaultRewind: Duration? = .zero
        ) {
            (self.guides, self.refresh, self.limits) = (guides, refresh, limits)
            self.defaultRewind = defaultRewind
        }
    }

    private struct State {
        var channels: [ListedChannel] = []
        var sources: [GuideSource] = []
        /// The paths of the guides that are being fetched.
        var fetching: Set<String> = []
        var fetcher: GuideFetcher?
        /// Whether the served guide was made for other channels or from older guides.
        var isStale = false
        var published: PublishedGuide?
        var builds = 0
        var fileCount = 0
    }

    /// The number of guides fetched at once. The others wait; the guide that has been due longest is fetched first.
    static let concurrency = 8

    private let settings: Settings
    private let directory: String
    private let logger: Logger
    private let clock = ContinuousClock()
    private let state = Mutex(State())
    private let isClosed = Mutex(false)
    /// Signals that a guide may be due.
    private let wakes = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    /// Signals that the served guide may be stale.
    private let changes = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// - Parameter directory: for the guides; created when the first one is fetched.
    package init(_ settings: Settings, directory: String, logger: Logger) {
        self.settings = settings
        self.directory = directory
        self.logger = logger
    }

    package var hasSources: Bool { state.withLock { !$0.sources.isEmpty } }

    var published: PublishedGuide? { state.withLock { $0.published } }

    package var status: GuideStatus? {
        let (sources, published) = state.withLock { ($0.sources, $0.published) }
        return sources.isEmpty ? nil : GuideStatus(sources, published, at: clock.now)
    }

    /// Sets the channels, and the guides that their lists name. Guides that were read before are kept.
    package func update(channels: [ListedChannel], guides: [String], fetcher: GuideFetcher) {
        let now = clock.now
        // New tokens in the channels' URLs change nothing in the guide.
        let channels = channels.map { channel in
            var channel = channel
            channel.sources = []
            return channel
        }
        state.withLock { state in
            var locations: Set<String> = []
            let wanted = (settings.guides + guides).filter { locations.insert($0).inserted }
            let known = Dictionary(state.sources.map { ($0.location, $0) }) { first, _ in first }
            let sources = wanted.map { location -> GuideSource in
                if let source = known[location] { return source }
                state.fileCount += 1
                return GuideSource(location: location, path: "\(directory)/source-\(state.fileCount)", due: now)
            }
            let isSame = sources.map(\.location) == state.sources.map(\.location) && channels == state.channels
            state.isStale = state.isStale || !isSame
            let unused = state.sources.filter { source in !sources.contains { $0.path == source.path } }
            for source in unused { try? FileManager.default.removeItem(atPath: source.path) }
            (state.channels, state.sources, state.fetcher) = (sources.isEmpty ? [] : channels, sources, fetcher)
        }
        wakes.continuation.yield()
        changes.continuation.yield()
    }

    /// Returns the guide when one exists. Returns nil when none can be expected soon, or after `limit`.
    func waitForGuide(atMost limit: Duration) async -> PublishedGuide? {
        let end = clock.now + limit
        while isFirstPending, clock.now < end {
            guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { break }
        }
        return published
    }

    /// Whether no guide exists yet, and one is being fetched or made.
    private var isFirstPending: Bool {
        state.withLock { $0.published == nil && $0.sources.contains { $0.fault == nil } }
    }

    /// The reason why no guide exists, as a sentence.
    var absence: String {
        let sources = state.withLock { $0.sources }
        guard let fault = sources.lazy.compactMap(\.fault).first else {
            return "The guide is being fetched: see status.json."
        }
        return "There is no guide yet: \(fault.message)."
    }
}

// MARK: - Working

extension GuideService {
    /// Works until the task is canceled.
    package func run() async {
        await withTaskCancellationHandler {
            async let fetching: Void = fetchGuides()
            for await _ in changes.stream where state.withLock({ $0.isStale && !$0.sources.isEmpty }) { await build() }
            await fetching
        } onCancel: {
            isClosed.withLock { $0 = true }
        }
    }

    /// Fetches guides when they are due, until the task is canceled.
    private func fetchGuides() async {
        await withDiscardingTaskGroup { group in
            var arrivals = wakes.stream.makeAsyncIterator()
            while !Task.isCancelled {
                while let (source, fetcher) = beginFetch() {
                    group.addTask { [self] in
                        try? FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
                        record(await fetcher.fetch(source), of: source)
                    }
                }
                let timer = timer()
                _ = await arrivals.next()
                timer?.cancel()
            }
        }
    }

    /// The guide to fetch next; nil if none is due, or enough are being fetched.
    private func beginFetch() -> (GuideSource, GuideFetcher)? {
        let now = clock.now
        return state.withLock { state in
            guard let source = Self.next(in: state), source.due <= now, var fetcher = state.fetcher else { return nil }
            state.fetching.insert(source.path)
            fetcher.isCanceled = { [self] in isClosed.withLock { $0 } }
            return (source, fetcher)
        }
    }

    /// The guide that is due next; nil if enough are being fetched.
    private static func next(in state: State) -> GuideSource? {
        guard state.fetching.count < concurrency else { return nil }
        return state.sources.filter { !state.fetching.contains($0.path) }.min { $0.due < $1.due }
    }

    /// Wakes the work when a guide is due.
    private func timer() -> Task<Void, Never>? {
        let due = state.withLock { Self.next(in: $0)?.due }
        return due.map { due in
            Task { [wake = wakes.continuation, clock] in
                if (try? await clock.sleep(until: due, tolerance: nil)) != nil { wake.yield() }
            }
        }
    }

    private func record(_ outcome: GuideFetcher.Outcome, of source: GuideSource) {
        let now = clock.now
        if case .failed(let fault) = outcome, fault != .canceled {
            let rest = source.fetched == nil ? "" : "; the one before stays"
            logger.warning("guide failed url=\(source.redactedLocation): \(fault.message)\(rest)")
        }
        defer {
            wakes.continuation.yield()
            changes.continuation.yield()
        }
        state.withLock { state in
            state.fetching.remove(source.path)
            guard let index = state.sources.firstIndex(where: { $0.path == source.path }) else {
                try? FileManager.default.removeItem(atPath: source.path)
                return
            }
            switch outcome {
            case .unchanged: state.sources[index].recordSuccess(at: now, refresh: settings.refresh)
            case .failed(let fault): state.sources[index].recordFailure(fault, at: now, refresh: settings.refresh)
            case .changed(let counts, let entityTag, let lastModified):
                state.sources[index].recordSuccess(at: now, refresh: settings.refresh)
                state.sources[index].counts = counts
                (state.sources[index].entityTag, state.sources[index].lastModified) = (entityTag, lastModified)
                state.isStale = true
            }
        }
    }

    private func build() async {
        let (channels, guides, number) = state.withLock { state in
            state.isStale = false
            state.builds += 1
            return (state.channels, state.sources.filter { $0.fetched != nil }.map(\.path), state.builds)
        }
        guard !guides.isEmpty else { return }
        let past = published.map {
            PastPrograms(
                of: $0, for: channels, defaultRewind: settings.defaultRewind, now: WallClock.milliseconds / 1000)
        }
        let builder = GuideBuilder(
            channels: channels, guides: guides, limits: settings.limits, past: past,
            isCanceled: { [self] in isClosed.withLock { $0 } })
        let path = "\(directory)/epg-\(number).xml"
        let start = clock.now
        let result = await GuideThread.run { () throws(GuideFault) in try builder.build(to: path, gzip: path + ".gz") }
        switch result {
        case .success(let built):
            publish(built, path)
            let written = built.written
            logger.info(
                "guide updated channels=\(written.channels) programs=\(written.programs) bytes=\(built.byteCount) seconds=\(start.duration(to: clock.now).components.seconds)"
            )
        case .failure(let fault):
            remove(path)
            state.withLock { $0.isStale = true }
            guard fault != .canceled else { return }
            logger.warning("guide failed: \(fault.message); the one before stays")
            // No other event may come that triggers another attempt.
            Task { [change = changes.continuation, clock, pause = settings.buildPause] in
                if (try? await clock.sleep(for: pause)) != nil { change.yield() }
            }
        }
    }

    /// Serves the new files, unless their content equals the previous files'. The previous files stay for clients that
    /// are about to open them.
    private func publish(_ built: GuideBuilder.Built, _ path: String) {
        let guide = PublishedGuide(
            path: path, gzipPath: path + ".gz", built: built,
            lastModified: HTTPDate.text(secondsSince1970: Int(WallClock.milliseconds / 1000)), made: clock.now)
        let unused = state.withLock { state -> String? in
            if let published = state.published, published.built.fingerprint == built.fingerprint { return path }
            defer { state.published = guide }
            return state.published?.path
        }
        if let unused { remove(unused) }
    }

    private func remove(_ path: String) {
        for path in [path, path + ".gz"] { try? FileManager.default.removeItem(atPath: path) }
    }
}

extension GuideService {
    /// The most programs listed of one channel, and the most bytes of them.
    static let mostListings = 2000
    private static let mostBytes = 8 << 20

    /// The programs of a channel, in the order of their starts, read from the file of the guide.
    /// - Parameters:
    ///   - time: seconds since 1970; programs that have ended by then are left out. nil: all programs.
    ///   - limit: the most programs that are returned.
    package func listings(
        of channel: ListedChannel, from time: Int64? = nil, limit: Int = GuideService.mostListings
    ) -> [GuideListing] {
        guard let guide = published else { return [] }
        let id = ChannelListWriter.guideID(of: channel)
        // One more, because a program that has ended may come first.
        return Self.listings(in: guide, of: id, from: time, limit: limit + 1)
            .filter { listing in time.map { listing.stop > $0 } ?? true }.prefix(limit).map(\.self)
    }

    private static func listings(
        in guide: PublishedGuide, of id: String, from time: Int64?, limit: Int
    ) -> [GuideListing] {
        // The program after the last one tells where that ends.
        let places = guide.built.schedule.programs(of: id, from: time, limit: limit + 1)
        guard !places.isEmpty, let file = FileHandle(forReadingAtPath: guide.path) else { return [] }
        defer { try? file.close() }
        var listings: [GuideListing] = []
        var byteCount = 0
        for (index, place) in zip(places.indices, places).prefix(limit) where byteCount < mostBytes {
            byteCount += place.bytes.count
            guard (try? file.seek(toOffset: UInt64(place.bytes.lowerBound))) != nil,
                let bytes = try? file.read(upToCount: place.bytes.count)
            else { break }
            var scanner = GuideScanner()
            scanner.append(bytes)
            scanner.finish()
            guard let element = scanner.next() else { continue }
            let next = index + 1 < places.endIndex ? places[index + 1].start : nil
            listings.append(GuideListing(element, start: place.start, next: next))
        }
        return listings
    }
}

extension GuideService {
    /// How long the first requests are held while the first guide is being made.
    private static let longestWait = Duration.seconds(15)
    /// How long a cache may serve the guide without revalidation, in seconds.
    private static let maxAge = 300

    /// The guide as XML, or as the content of a gzip file.
    package func response(to target: RequestTarget, asGzipFile: Bool) async -> Response {
        guard hasSources else {
            return .text(.notFound, "There is no guide: the list names none (x-tvg-url), and --epg gives none.")
        }
        guard let guide = await waitForGuide(atMost: Self.longestWait) else {
            return .unavailable(absence, retryAfter: 5)
        }
        let tag = "\"" + String(guide.built.fingerprint, radix: 16)
        let isCoded = !asGzipFile && target.fields.allowsGzip
        let isGzip = asGzipFile || isCoded
        var response = Response(
            contentType: asGzipFile ? .gzip : .xml, cacheControl: .maxAge(seconds: Self.maxAge),
            etag: tag + (asGzipFile ? "-gz\"" : isCoded ? "-gzip\"" : "\""), lastModified: guide.lastModified,
            body: isGzip
                ? .file(path: guide.gzipPath, byteCount: guide.built.gzipByteCount)
                : .file(path: guide.path, byteCount: guide.built.byteCount))
        if !asGzipFile { response.extraHeaders = [HeaderField(name: "Vary", value: "Accept-Encoding")] }
        if isCoded { response.extraHeaders.append(HeaderField(name: "Content-Encoding", value: "gzip")) }
        return response
    }
}
