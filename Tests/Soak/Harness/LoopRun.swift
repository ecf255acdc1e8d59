import Channel
import Fetch
import Foundation
import Glibc
import LiveRing
import Playlist
import Support
import TestSupport
import Tracker

/// Runs channels that loop a media file through the whole pipeline on virtual clocks, into rings on a real disk.
struct LoopRun {
    /// The resources of the process and of all channels when each of them has run for `seconds`.
    struct Sample: Equatable {
        var seconds: Int
        /// kB.
        var anonymous: Int
        /// Bytes that are allocated and not freed, in all arenas of the allocator.
        var allocated: Int
        var files: Int
        /// Bytes of all files.
        var bytes: Int
        /// Elements and bytes in every collection of the channels' values, by path.
        var collections: [String: Int]

        /// Elements in all collections.
        var elements: Int { collections.filter { !$0.key.hasSuffix("bytes") }.values.reduce(0, +) }

        /// The collections that have more elements than in another sample, and more than those that are limited to `limit`.
        func grown(since other: Sample, beyond limit: Int) -> [String] {
            collections.sorted { $0.key < $1.key }.compactMap { name, count in
                let before = other.collections[name] ?? 0
                return count > max(limit, before + before / 10) ? "\(name): \(before), then \(count)" : nil
            }
        }
    }

    private static let url = "http://soak.example/loop.mp4"
    /// Accepted growth of the allocated bytes after the first samples: counters and names reach their lengths.
    static let tolerance = 512 << 10
    /// Elements of a limited collection of one channel. Some take days to become as long.
    static let largestCollection = 512

    let file: [UInt8]
    var channels = 6
    let seconds: Int
    var rewind = Duration.seconds(600)
    /// Session time between two samples, seconds.
    var sampleInterval = 3600
    /// After how many seconds nothing grows.
    var settled = 7200
    /// Whether nothing else is allocated in the process, so that its heap may be compared.
    var ownsProcess = true
    /// Called with each sample.
    var report: @Sendable (Sample) -> Void = { _ in }

    func run() async throws -> [Sample] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "liverelay-soak-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let meeting = Meeting(of: channels, in: folder, settled: settled, report)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for channel in 0..<channels { group.addTask { try await run(channel, in: folder, meeting) } }
            try await group.waitForAll()
        }
        return await meeting.samples
    }

    private func run(_ channel: Int, in folder: String, _ meeting: Meeting) async throws {
        var configuration = RelayConfiguration(
            upstream: Self.url, giveUp: nil, spool: "\(folder)/\(channel)",
            retention: RetentionPolicy(rewind: rewind, byteLimit: nil, freeReserve: 0))
        configuration.loopsFiles = true
        let state = ChannelState(upstream: Self.url) { .zero }
        var relay = Relay(configuration, state: state, wallClock: { 1_772_323_200_000 })
        let count = InspectedSession.Count()
        let session = ChannelSession(upstream: Self.url, policy: configuration.policy)
        var driver = ReplayDriver(session: InspectedSession(session: session, count: count))
        var next = sampleInterval
        _ = try await driver.run(until: .seconds(seconds)) { request, _ in
            (answer(request), .milliseconds(20))
        } perform: { output, now in
            let outcome = try await relay.perform(output, at: now)
            guard case .status = output else { return outcome }
            let time = now.milliseconds / 1000
            if time >= next - 4 { count.request() }
            guard time >= next else { return outcome }
            var sizes = count.sizes.merging(SoakSample.collections(in: relay, named: "relay")) { $1 }
            if let index = state.snapshot?.index {
                sizes.merge(SoakSample.collections(in: index, named: "ring")) { $1 }
            }
            await meeting.arrive(at: next, sizes)
            next += sampleInterval
            return outcome
        }
    }

    private func answer(_ request: FetchRequest) -> FetchOutcome {
        let type = FetchAnswer.Header(name: "Content-Type", value: "video/mp4")
        let accepts = FetchAnswer.Header(name: "Accept-Ranges", value: "bytes")
        guard let range = request.byteRange else {
            let length = FetchAnswer.Header(name: "Content-Length", value: "\(file.count)")
            return .success(
                FetchAnswer(status: 200, finalURL: request.url, headers: [type, accepts, length], body: file))
        }
        let (first, end) = (Int(range.offset), min(file.count, Int(range.offset + range.length)))
        let field = FetchAnswer.Header(name: "Content-Range", value: "bytes \(first)-\(end - 1)/\(file.count)")
        return .success(
            FetchAnswer(
                status: 206, finalURL: request.url, headers: [type, accepts, field], body: Array(file[first..<end])))
    }

    /// What grew after `settled`.
    func findings(_ samples: [Sample]) -> [String] {
        guard let reference = samples.first(where: { $0.seconds >= settled }), let last = samples.last else {
            return ["no sample"]
        }
        var findings: [String] = []
        if ownsProcess, last.allocated > reference.allocated + Self.tolerance {
            findings.append("\(last.allocated) bytes are allocated, \(reference.allocated) at \(reference.seconds) s")
        }
        findings += last.grown(since: reference, beyond: channels * Self.largestCollection)
        if last.files > reference.files + reference.files / 10 {
            findings.append("\(last.files) files, \(reference.files) at \(reference.seconds) s")
        }
        return findings
    }
}

/// Lets channels wait for each other at each sample.
private actor Meeting {
    private let channels: Int
    private let folder: String
    private let settled: Int
    private let report: @Sendable (LoopRun.Sample) -> Void
    private var collections: [String: Int] = [:]
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private(set) var samples: [LoopRun.Sample] = []

    init(
        of channels: Int, in folder: String, settled: Int, _ report: @escaping @Sendable (LoopRun.Sample) -> Void
    ) {
        (self.channels, self.folder, self.settled, self.report) = (channels, folder, settled, report)
    }

    func arrive(at seconds: Int, _ sizes: [String: Int]) async {
        collections.merge(sizes, uniquingKeysWith: +)
        guard waiting.count + 1 == channels else {
            await withCheckedContinuation { waiting.append($0) }
            return
        }
        let (files, bytes) = Self.size(of: folder)
        let sample = LoopRun.Sample(
            seconds: seconds, anonymous: SoakSample.memory("RssAnon"),
            allocated: Heap.allocatedBytes, files: files, bytes: bytes,
            collections: collections)
        // Samples are memory too: only the first one that is compared and the last keep their paths.
        let compared = samples.firstIndex { $0.seconds >= settled }
        for index in samples.indices where index != compared { samples[index].collections = [:] }
        samples.append(sample)
        report(sample)
        collections = [:]
        let others = waiting
        waiting = []
        for continuation in others { continuation.resume() }
    }

    private static func size(of folder: String) -> (files: Int, bytes: Int) {
        var (files, bytes) = (0, 0)
        for channel in SoakSample.names(in: folder) {
            for name in SoakSample.names(in: "\(folder)/\(channel)") {
                files += 1
                bytes += SoakSample.size(of: "\(folder)/\(channel)/\(name)")
            }
        }
        return (files, bytes)
    }
}

/// The heap of glibc.
private enum Heap {
    /// `malloc_info` of malloc.h, which the Glibc module does not have.
    private typealias Report = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32

    /// Bytes that are allocated and not freed, in all arenas; 0 if the allocator does not say.
    static var allocatedBytes: Int {
        guard let symbol = unsafe dlsym(nil, "malloc_info") else { return 0 }
        let report = unsafe unsafeBitCast(symbol, to: Report.self)
        var (text, size) = unsafe (UnsafeMutablePointer<CChar>?.none, 0)
        guard let file = unsafe open_memstream(&text, &size) else { return 0 }
        _ = unsafe report(0, file)
        unsafe fclose(file)
        defer { unsafe free(text) }
        // Those of all arenas follow the last arena.
        let all = unsafe text.map { unsafe String(cString: $0) } ?? ""
        let totals = all.range(of: "</heap>", options: .backwards).map { all[$0.upperBound...] } ?? all[...]
        let sizes = totals.split(separator: "\n").reduce(into: [String: Int]()) { sizes, line in
            let words = line.split(separator: "\"")
            guard words.count > 3, let size = Int(words[words.count - 2]) else { return }
            sizes["\(words[0])\(words[1])"] = size
        }
        return (sizes["<system type=current"] ?? 0) + (sizes["<total type=mmap"] ?? 0)
            - (sizes["<total type=fast"] ?? 0) - (sizes["<total type=rest"] ?? 0)
    }
}
