/// Fetches the resources of each source of a channel as that source asks for it.
package struct SourceFetcher: Fetcher {
    private let primary: CurlFetcher
    /// By the number of the source. A source that is not here is requested as the primary.
    private let others: [Int: Result<CurlFetcher, FetchError>]

    /// - Parameters:
    ///   - backups: absolute URLs of the backups.
    ///   - backupConfigurations: how each backup is requested; those without one, or with that of the primary, as the
    ///     primary.
    /// - Throws: as `CurlFetcher`.
    package init(
        upstream: String, configuration: CurlConfiguration, backups: [String],
        backupConfigurations: [CurlConfiguration]
    ) throws(FetchError) {
        primary = try CurlFetcher(upstream: upstream, backups: backups, configuration: configuration)
        var others: [Int: Result<CurlFetcher, FetchError>] = [:]
        for (index, (url, own)) in zip(backups, backupConfigurations).enumerated() where own != configuration {
            // A backup that cannot be requested so causes an error when it is tried.
            others[index + 1] = Result { () throws(FetchError) in
                try CurlFetcher(upstream: url, configuration: own)
            }
        }
        self.others = others
    }

    package func fetch(_ request: FetchRequest) async -> FetchOutcome {
        switch others[request.source] {
        case nil: await primary.fetch(request)
        case .success(let fetcher): await fetcher.fetch(request)
        case .failure(let error): .failure(error)
        }
    }
}
