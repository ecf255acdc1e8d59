package import ArchiveStore
import ChannelList
import Fetch
import Foundation
import Support

/// The object store of a channel's archive, and how it is accessed.
package struct ArchiveSettings: Hashable, Sendable {
    package let url: StoreURL
    /// How long objects are kept; nil: the store's own rules decide.
    package var retention: Duration?
    /// Whether players are sent to the store for segments.
    package var redirects: Bool
    /// The path of a credentials file; nil: the key is in the environment.
    var credentialsFile: String?
    private var proxy: Secret?
    private var certificates: String?
    /// The most objects that are read at once.
    var connections = 16

    /// nil if the channel's archive is on the disk. Each channel of a list has its own folder in the store.
    init?(_ channel: ListedChannel) {
        guard let store = channel.options.archiveStore, let url = try? StoreURL(parsing: store.url) else { return nil }
        self.url = channel.slug.isEmpty ? url : url.folder(channel.slug)
        (retention, redirects) = (channel.options.archive, channel.options.redirectsArchive ?? false)
        (credentialsFile, proxy, certificates) = (store.credentials, store.proxy, store.certificates)
        connections = store.connections
    }

    /// The options of requests to the store. Options for the upstream do not apply. A store may have a private address,
    /// because only the operator can configure one.
    var requests: CurlConfiguration {
        var requests = CurlConfiguration()
        (requests.proxy, requests.certificateAuthorities) = (proxy, certificates)
        return requests
    }

    /// The key in the credentials file of this store, or else in the environment, or in the file that the environment
    /// names.
    func credentials() throws(StoreError) -> StoreCredentials {
        let environment = ProcessInfo.processInfo.environment
        if credentialsFile == nil, let found = StoreCredentials(environment: environment) { return found }
        guard let path = credentialsFile ?? environment[StoreCredentials.fileVariable],
            let text = try? String(contentsOfFile: path, encoding: .utf8), let found = StoreCredentials(file: text)
        else { throw StoreError(.noCredentials, object: "s3://") }
        return found
    }
}
