import Channel
import Fetch
import Foundation
import Glibc
import LiveRing
import Splice
import Support
import Tracker

/// Runs channels that loop a media file of a minute on virtual clocks, into rings on a disk, and measures what they keep.
struct LoopRun {
    /// What the process and all channels have when each of them has run for `seconds`.
    struct Sample: Equatable {
        var seconds: Int
        /// Bytes that are allocated and not freed.
        var allocated: Int
        var files: Int
        /// Elements in every collection of the channels' values, by path.
        var sizes: [String: Int]
    }

    private static let url = "http://origin.example/loop.mp4"
    /// Accepted growth of the allocated bytes: counters and names reach their lengths.
    static let tolerance = 512 << 10

    var channels = 6
    let seconds: Int
    var rewind = Duration.seconds(600)
    /// Seconds between two samples.
    var interval = 3600
    /// After how many seconds nothing grows.
    var settled = 7200
    /// Whether nothing else is allocated in the process.
    var ownsProcess = true
    /// Called with each sample.
    var report: @Sendable (Sample) -> Void = { _ in }

    func run() async throws -> [Sample] {
        let folder = HistoryRun.folder.appending(path: "liverelay-loop-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let meeting = Meeting(of: channels, in: folder, settled: settled, report)
        let file = Self.file
        try await withThrowingTaskGroup(of: Void.self) { group in
            for channel in 0..<channels { group.addTask { try await run("\(folder)/\(channel)", file, meeting) } }
            try await group.waitForAll()
        }
        return await meeting.samples
    }

    /// The program of a history as one file.
    private static var file: [UInt8] {
        var history = History(seed: 1, events: [Event(thing: .fragmented, at: 0, value: 0, duration: 0)])
        history.length = 45_000
        let broadcast = Broadcast(history)
        return (broadcast.initSections.values.first?.bodies[0] ?? []) + broadcast.segments.flatMap(\.body)
    }

    private func run(_ spool: String, _ file: [UInt8], _ meeting: Meeting) async throws {
        var configuration = RelayConfiguration(
            upstream: Self.url, giveUp: nil, spool: spool,
            retention: RetentionPolicy(rewind: rewind, byteLimit: nil, freeReserve: 0))
        configuration.loopsFiles = true
        let state = ChannelState(upstream: Self.url) { .zero }
        var relay = Relay(configuration, state: state, wallClock: { Origin.epoch })
        let count = InspectedSession.Count()
        let session = ChannelSession(upstream: Self.url, policy: configuration.policy)
        var driver = ReplayDriver(session: InspectedSession(session: session, count: count))
        var next = interval
        _ = try await driver.run(until: .seconds(seconds)) { request, _ in
            (Self.answer(request, file), .milliseconds(20))
        } perform: { output, now in
            let outcome = try await relay.perform(output, at: now)
            guard case .status = output else { return outcome }
            let time = now.milliseconds / 1000
            if time >= next - 4 { count.request() }
            guard time >= next else { return outcome }
            await meeting.arrive(at: next, count.sizes.merging(CollectionSizes.sizes(of: relay, state)) { $1 })
            next += interval
            return outcome
        }
    }

    private static func answer(_ request: FetchRequest, _ file: [UInt8]) -> FetchOutcome {
        var headers = [
            FetchAnswer.Header(name: "Content-Type", value: "video/mp4"),
            FetchAnswer.Header(name: "Accept-Ranges", value: "bytes"),
        ]
        let range = request.byteRange.map { Int($0.offset)..<min(file.count, Int($0.offset + $0.length)) }
        let value = range.map { "bytes \($0.lowerBound)-\($0.upperBound - 1)/\(file.count)" } ?? "\(file.count)"
        headers.append(FetchAnswer.Header(name: range == nil ? "Content-Length" : "Content-Range", value: value))
        return .success(
            FetchAnswer(
                status: range == nil ? 200 : 206, finalURL: request.url, headers: headers,
                body: Array(file[range ?? 0..<file.count])))
    }

    /// What grew after `settled`.
    func findings(_ samples: [Sample]) -> [String] {
        guard let first = samples.first(where: { $0.seconds >= settled }), let last = samples.last else {
            return ["no sample"]
        }
        var findings = CollectionSizes.grown(last.sizes, since: first.sizes, of: channels)
        if ownsProcess, last.allocated > first.allocated + Self.tolerance {
            findings.append("\(last.allocated) bytes are allocated, \(first.allocated) at \(first.seconds) s")
        }
        if last.files > first.files + first.files / 10 {
            findings.append("\(last.files) files, \(first.files) at \(first.seconds) s")
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
    private var sizes: [String: Int] = [:]
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private(set) var samples: [LoopRun.Sample] = []

    init(of channels: Int, in folder: String, settled: Int, _ report: @escaping @Sendable (LoopRun.Sample) -> Void) {
        (self.channels, self.folder, self.settled, self.report) = (channels, folder, settled, report)
    }

    func arrive(at seconds: Int, _ own: [String: Int]) async {
        sizes.merge(own, uniquingKeysWith: +)
        guard waiting.count + 1 == channels else {
            await withCheckedContinuation { waiting.append($0) }
            return
        }
        let files = FileManager.default.enumerator(atPath: folder)?.allObjects.count ?? 0
        let sample = LoopRun.Sample(seconds: seconds, allocated: Heap.allocatedBytes, files: files, sizes: sizes)
        // Samples are memory too: only the first one that is compared and the last keep their paths.
        let compared = samples.firstIndex { $0.seconds >= settled }
        for index in samples.indices where index != compared { samples[index].sizes = [:] }
        samples.append(sample)
        report(sample)
        sizes = [:]
        let others = waiting
        waiting = []
        for continuation in others { continuation.resume() }
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
