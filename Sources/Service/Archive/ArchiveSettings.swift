package import ArchiveStore
import ChannelList
import Fetch
import Foundation
import Support

/// Where the archive of a channel is, if it is in an object store, and how it is reached.
package struct ArchiveSettings: Hashable, Sendable {
    package let url: StoreURL
    /// How long objects are kept; nil: the store's own rules say it.
    package var retention: Duration?
    /// Whether players are sent to the store for segments.
    package var redirects: Bool
    /// The path of a credentials file; nil: the key is that of the environment.
    var credentialsFile: String?
    private var proxy: Secret?
    private var certificates: String?
    /// Objects that are read at once.
    var connections = 16

    package init(url: StoreURL, retention: Duration?, redirects: Bool) {
        (self.url, self.retention, self.redirects) = (url, retention, redirects)
    }

    /// nil if the archive of the channel is on the disk. Each channel has a folder of its own.
    init?(_ channel: ListedChannel) {
        guard let store = channel.options.archiveStore, let url = try? StoreURL(parsing: store.url) else { return nil }
        self.init(
            url: url.folder(channel.slug), retention: channel.options.archive,
            redirects: channel.options.redirectsArchive ?? false)
        (credentialsFile, proxy, certificates) = (store.credentials, store.proxy, store.certificates)
        connections = store.connections
    }

    /// The options of requests to the store: none of those for the upstream. A store may be at a private address, because
    /// only the operator can name one.
    var requests: CurlConfiguration {
        var requests = CurlConfiguration()
        (requests.proxy, requests.certificateAuthorities) = (proxy, certificates)
        return requests
    }

    /// The key of the credentials file of this store, or else of the environment, or of the file that it names.
    func credentials() throws(StoreError) -> StoreCredentials {
        let environment = ProcessInfo.processInfo.environment
        if credentialsFile == nil, let found = StoreCredentials(environment: environment) { return found }
        guard let path = credentialsFile ?? environment[StoreCredentials.fileVariable],
            let text = try? String(contentsOfFile: path, encoding: .utf8), let found = StoreCredentials(file: text)
        else { throw StoreError(.noCredentials, object: "s3://") }
        return found
    }
}
