package import ArchiveStore
import Channel
import ChannelList
package import Fetch
package import LiveRing
import Logging
import Support
import Synchronization
import WebServer

/// The archives of a process that reads them and relays no channel: one for each channel that was asked for.
package final class StoredArchives: Sendable {
    private struct Opened {
        let settings: ArchiveSettings
        let responder: ArchiveResponder
    }

    private let policy: RetentionPolicy
    private let requests: CurlConfiguration
    private let cache: CopyCache
    private let offersStills: Bool
    private let opened = Mutex<[String: Opened]>([:])

    package init(policy: RetentionPolicy, requests: CurlConfiguration, cache: CopyCache, offersStills: Bool) {
        (self.policy, self.requests, self.cache, self.offersStills) = (policy, requests, cache, offersStills)
    }

    /// - Returns: nil if the store cannot have what is asked for.
    func answer(of channel: ListedChannel, _ resource: Route.Resource, to target: RequestTarget) -> Answer? {
        guard let settings = ArchiveSettings(channel) else { return nil }
        do throws(StoreError) {
            return try responder(of: channel, settings).answer(to: resource, target, local: nil)
        } catch {
            return .now(.unavailable(error.message, retryAfter: 30))
        }
    }

    private func responder(
        of channel: ListedChannel, _ settings: ArchiveSettings
    ) throws(StoreError) -> ArchiveResponder {
        let known = opened.withLock { $0[channel.slug] }
        if let known, known.settings == settings { return known.responder }
        var policy = policy
        policy.rewind = channel.options.rewind ?? policy.rewind
        policy.liveWindow = channel.options.window ?? policy.liveWindow
        let archive = try ChannelArchive(settings, policy: policy, requests: requests, spool: nil, cache: cache)
        let responder = ArchiveResponder(
            archive.reader, rewind: policy.rewind, channel: channel.slug,
            offersStills: channel.options.offersStills ?? offersStills)
        opened.withLock { $0[channel.slug] = Opened(settings: settings, responder: responder) }
        return responder
    }
}
