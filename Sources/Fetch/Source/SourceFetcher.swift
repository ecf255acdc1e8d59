import Support
import Synchronization

/// Fetches the resources of each source of a channel with that source's configuration.
package final class SourceFetcher: Fetcher {
    /// The thread of all transfers; nil if some are not HTTP's, or not those of one thread.
    package let thread: CurlThread?
    private let primary: any Fetcher
    /// Fetchers by the number of the source. A source without an entry is requested like the primary.
    private let others: [Int: Result<any Fetcher, FetchError>]
    /// Forward readers by the number of the source.
    private let forwardReaders = Mutex<[Int: ForwardReader]>([:])

    /// - Parameters:
    ///   - backups: absolute URLs of the backups.
    ///   - backupConfigurations: the configuration of each backup; a backup without one, or with the primary's, is
    ///     requested like the primary.
    /// - Throws: as `CurlFetcher`.
    package init(
        upstream: String, configuration: CurlConfiguration, backups: [String],
        backupConfigurations: [CurlConfiguration]
    ) throws(FetchError) {
        primary = try Self.fetcher(of: upstream, backups: backups, configuration)
        var others: [Int: Result<any Fetcher, FetchError>] = [:]
        let isCurl = Self.isCurl(upstream)
        for (index, url) in backups.enumerated() {
            let own = index < backupConfigurations.count ? backupConfigurations[index] : configuration
            guard own != configuration || !Self.isCurl(url) || !isCurl else { continue }
            // The error of an invalid backup configuration is reported when the backup is tried.
            others[index + 1] = Result { () throws(FetchError) in try Self.fetcher(of: url, own) }
        }
        self.others = others
        let all = [primary] + others.values.compactMap { try? $0.get() }
        let threads = all.map { ($0 as? CurlFetcher)?.thread }
        thread = threads.allSatisfy { $0 === threads[0] } ? threads[0] : nil
    }

    package func fetch(_ request: FetchRequest) async -> FetchOutcome {
        if DataURL.isOne(request.url) { return DataURL.answer(request) }
        do throws(FetchError) { return await (try fetcher(for: request)).fetch(request) } catch {
            return .failure(error)
        }
    }

    package func fetch(
        _ request: FetchRequest, receive: @escaping @Sendable (StreamPart) async -> Void
    ) async -> FetchOutcome {
        if DataURL.isOne(request.url) { return DataURL.answer(request) }
        do throws(FetchError) {
            let fetcher = try fetcher(for: request)
            guard request.wholeByteCount == nil else {
                return await forwardReader(for: request, of: fetcher).read(request)
            }
            return await fetcher.fetch(request, receive: receive)
        } catch {
            return .failure(error)
        }
    }

    private func fetcher(for request: FetchRequest) throws(FetchError) -> any Fetcher {
        try others[request.source]?.get() ?? primary
    }

    private func forwardReader(for request: FetchRequest, of fetcher: any Fetcher) -> ForwardReader {
        forwardReaders.withLock { readers in
            let reader = readers[request.source] ?? ForwardReader(fetcher)
            readers[request.source] = reader
            return reader
        }
    }

    private static func isCurl(_ url: String) -> Bool { !DatagramURL.isOne(url) && !FileURL.isOne(url) }

    private static func fetcher(
        of url: String, backups: [String] = [], _ configuration: CurlConfiguration
    ) throws(FetchError) -> any Fetcher {
        if FileURL.isOne(url) { return try FileFetcher(url, configuration: configuration) }
        guard DatagramURL.isOne(url) else {
            return try CurlFetcher(upstream: url, backups: backups, configuration: configuration)
        }
        let address = try DatagramURL(url)
        guard !address.isOfOneLink || address.interface != nil || configuration.multicastInterface != nil else {
            throw FetchError(.other, url: url, message: "a group of one link needs --multicast-interface")
        }
        return DatagramFetcher(configuration: configuration)
    }
}
