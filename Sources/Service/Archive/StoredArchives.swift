package import ArchiveStore
package import Channel
import ChannelList
import Export
import HTTP
import LiveRing
package import Logging
import Observability
import Support
import Synchronization

/// The archives of a process that reads archives but relays no channel: one for each requested channel.
package final class StoredArchives: Sendable {
    private struct Opened {
        let options: ChannelOptions
        let responder: ArchiveResponder
        let ads: ArchivedAds
    }

    private let configuration: RelayConfiguration
    private let cache: CopyCache
    private let logger: Logger
    private let opened = Mutex<[String: Opened]>([:])

    package init(_ configuration: RelayConfiguration, cache: CopyCache, logger: Logger) {
        (self.configuration, self.cache, self.logger) = (configuration, cache, logger)
    }

    /// - Returns: nil if the resource cannot be in the store.
    func answer(of channel: ListedChannel, _ resource: Route.Resource, to target: RequestTarget) -> Answer? {
        guard let settings = ArchiveSettings(channel) else { return nil }
        do throws(StoreError) {
            let archive = try open(channel, settings)
            return archive.responder.answer(to: resource, target, local: nil, ads: archive.ads)
        } catch {
            logger.error("Archive store: \(error.message)")
            return .now(.unavailable(error.viewerText, retryAfter: 30))
        }
    }

    private func open(_ channel: ListedChannel, _ settings: ArchiveSettings) throws(StoreError) -> Opened {
        if let known = opened.withLock({ $0[channel.slug] }), known.options == channel.options { return known }
        var configuration = configuration
        configuration.apply(channel.options)
        if let path = channel.options.slate {
            do throws(RelayError) { configuration.slate = try SlateSource.open(path) } catch {
                logger.error("Ad breaks stay as they are: \(error.line)")
            }
        }
        let archive = try ChannelArchive(
            settings, policy: configuration.retention, spool: nil, cache: cache, logger: logger)
        let responder = ArchiveResponder(
            archive.reader, rewind: configuration.retention.rewind, channel: channel.slug,
            offersStills: configuration.offersStills)
        let (log, start) = (RelayLog(logger), ContinuousClock.now)
        let ads = ArchivedAds(
            configuration.ads, slate: configuration.slate, audio: configuration.audio,
            now: { ContinuousClock.now - start }, report: { log.log($0) })
        let new = Opened(options: channel.options, responder: responder, ads: ads)
        opened.withLock { $0[channel.slug] = new }
        return new
    }
}
