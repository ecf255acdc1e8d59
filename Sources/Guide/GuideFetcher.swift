package import Fetch
import Foundation
import Glibc
import Support

/// Fetches guides into files.
package struct GuideFetcher: Sendable {
    let requests: CurlConfiguration
    /// The URL of the list that names the guides; nil if it is a file.
    var listURL: String?
    var limits = GuideLimits()
    var isCanceled: @Sendable () -> Bool = { false }

    package init(requests: CurlConfiguration, listURL: String? = nil, limits: GuideLimits = GuideLimits()) {
        self.requests = requests
        self.listURL = listURL
        self.limits = limits
    }

    /// The time limit for one guide, and the time limit at a low speed, because a transfer occupies one of few places.
    private static let (longest, longestSilence) = (Duration.seconds(120), Duration.seconds(30))
    private static let minBytesPerSecond = 4096

    enum Outcome: Equatable {
        case unchanged
        case changed(GuideScanner.Counts, entityTag: String?, lastModified: String?)
        case failed(GuideFault)
    }

    /// Fetches a guide and reads it once. Its file is replaced only by a complete guide.
    func fetch(_ source: GuideSource) async -> Outcome {
        let path = source.path + ".new"
        defer { try? FileManager.default.removeItem(atPath: path) }
        do throws(GuideFault) {
            let answer = source.isURL ? try await download(source, to: path) : try copy(source, to: path)
            guard let answer else { return .unchanged }
            let counts = try await count(path)
            guard unsafe rename(path, source.path) == 0 else { throw .unreadable(errno: errno) }
            return .changed(counts, entityTag: answer.entityTag, lastModified: answer.lastModified)
        } catch { return .failed(error) }
    }

    private typealias Validators = (entityTag: String?, lastModified: String?)

    private func download(_ source: GuideSource, to path: String) async throws(GuideFault) -> Validators? {
        guard let file = DownloadFile(path: path) else { throw .unreadable(errno: errno) }
        let conditions = [("If-None-Match", source.entityTag), ("If-Modified-Since", source.lastModified)]
        let download = Download(
            to: file,
            fields: source.fetched == nil
                ? [] : conditions.compactMap { name, value in value.map { .init(name: name, value: $0) } },
            limits: .init(
                bodyBytes: limits.fetchedBytes, idle: Self.longestSilence, total: Self.longest,
                minBytesPerSecond: Self.minBytesPerSecond))
        let outcome: FetchOutcome
        do throws(FetchError) {
            let fetcher = try CurlFetcher(upstream: source.location, configuration: requests(for: source.location))
            outcome = await fetcher.fetch(download, from: source.location)
        } catch { outcome = .failure(error) }
        switch outcome {
        case .success(let answer) where answer.status == 304: return nil
        case .success(let answer) where answer.isSuccess: return (answer.header("etag"), answer.header("last-modified"))
        case .success(let answer): throw .refused(status: answer.status)
        case .failure(let error): throw error.reason == .tooLarge ? .tooLarge : .unreachable(error.reason)
        }
    }

    /// The configured headers and cookies are meant for the upstream, so they are not sent to other hosts that a list
    /// names.
    private func requests(for url: String) -> CurlConfiguration {
        var requests = requests
        if listURL.flatMap(URIReference.host) != URIReference.host(of: url) {
            (requests.headers, requests.cookie) = ([], nil)
        }
        return requests
    }

    private static let partByteCount = 256 << 10

    /// Copies a file, unless it has not changed.
    private func copy(_ source: GuideSource, to path: String) throws(GuideFault) -> Validators? {
        let file = try Self.guide { () throws(RegularFile.Failure) in try RegularFile(source.location) }
        if source.fetched != nil, source.lastModified == file.version { return nil }
        guard file.byteCount <= limits.fetchedBytes else { throw .tooLarge }
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let copy = FileHandle(forWritingAtPath: path)
        else { throw .unreadable(errno: errno) }
        defer { try? copy.close() }
        var rest = file.byteCount
        while rest > 0 {
            let part = try Self.guide { () throws(RegularFile.Failure) in
                try file.read(limit: min(rest, Self.partByteCount))
            }
            guard !part.isEmpty else { break }
            do { try copy.write(contentsOf: part) } catch { throw .unreadable(errno: errno) }
            rest -= part.count
        }
        return (nil, file.version)
    }

    private static func guide<Value>(
        _ body: () throws(RegularFile.Failure) -> Value
    ) throws(GuideFault) -> Value {
        do throws(RegularFile.Failure) { return try body() } catch {
            switch error {
            case .system(let code): throw .unreadable(errno: code)
            case .notRegular: throw .notRegular
            }
        }
    }

    private func count(_ path: String) async throws(GuideFault) -> GuideScanner.Counts {
        let reader = GuideReader(path: path, limits: limits, isCanceled: isCanceled)
        return try await GuideThread.run { () throws(GuideFault) in try reader.read { _ in } }.get()
    }
}

/// The thread on which guides are read. Reading takes seconds, during which the shared threads must stay free for
/// channels.
enum GuideThread {
    private static let queue = DispatchQueue(label: "guide", qos: .utility)

    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(GuideFault) -> Value
    ) async -> Result<Value, GuideFault> {
        await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: Result { () throws(GuideFault) in try body() })
            }
        }
    }
}
