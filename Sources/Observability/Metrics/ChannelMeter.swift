package import Channel
package import Fetch
import Media
import Splice
import Synchronization
import Tracker

/// The counts of one run of a channel that its status does not contain.
package final class ChannelMeter: Sendable {
    package struct Counts: Equatable, Sendable {
        var publishedSegments = 0
        var publishedTime = Duration.zero
        var periods: [PeriodCause: Int] = [:]
        /// The number of complete answers, and their bytes after decompression.
        var answers: [UpstreamResource: Int] = [:]
        package var receivedBytes: [UpstreamResource: UInt64] = [:]
        /// Attempts that failed and were followed by another one.
        var retries: [UpstreamResource: Int] = [:]
    }

    private let state = Mutex(Counts())

    package init() {}

    package var counts: Counts { state.withLock { $0 } }

    package func record(_ event: RelayEvent) {
        switch event.kind {
        case .upstream(let event): record(event)
        case .pipeline(.published(_, _, let duration)):
            state.withLock {
                $0.publishedSegments += 1
                $0.publishedTime += duration.duration
            }
        case .pipeline(.periodBegan(let period, _)): state.withLock { $0.periods[period.cause, default: 0] += 1 }
        case .pipeline, .resumed, .breakSlate, .found, .drained: break
        }
    }

    private func record(_ event: UpstreamEvent) {
        switch event {
        case .backup(_, let event): record(event)
        case .fetchFailed(let request, _, _, isLast: false):
            state.withLock { $0.retries[UpstreamResource(request.purpose), default: 0] += 1 }
        default: break
        }
    }

    fileprivate func record(_ part: StreamPart) {
        state.withLock { $0.receivedBytes[.segment, default: 0] += UInt64(part.bytes.count) }
    }

    fileprivate func record(_ answer: FetchAnswer, to request: FetchRequest) {
        let resource = UpstreamResource(request.purpose)
        state.withLock {
            $0.answers[resource, default: 0] += 1
            $0.receivedBytes[resource, default: 0] += UInt64(answer.body.count)
        }
    }
}

/// A kind of resource that is asked of an upstream.
package enum UpstreamResource: String, CaseIterable, Hashable, Sendable {
    case playlist, segment, key, map

    init(_ purpose: FetchRequest.Purpose) {
        switch purpose {
        case .multivariantPlaylist, .mediaPlaylist: self = .playlist
        case .segment: self = .segment
        case .key: self = .key
        case .map: self = .map
        }
    }
}

/// A fetcher that counts the answers of another fetcher.
package struct MeteredFetcher: Fetcher {
    let fetcher: any Fetcher
    let meter: ChannelMeter

    package init(fetcher: any Fetcher, meter: ChannelMeter) {
        self.fetcher = fetcher
        self.meter = meter
    }

    package func fetch(_ request: FetchRequest) async -> FetchOutcome {
        let outcome = await fetcher.fetch(request)
        if case .success(let answer) = outcome { meter.record(answer, to: request) }
        return outcome
    }

    package func fetch(
        _ request: FetchRequest, receive: @escaping @Sendable (StreamPart) async -> Void
    ) async -> FetchOutcome {
        let outcome = await fetcher.fetch(request) { [meter] part in
            meter.record(part)
            await receive(part)
        }
        if case .success(let answer) = outcome { meter.record(answer, to: request) }
        return outcome
    }
}
