package import ArchiveStore
import ChannelList
import Foundation

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
