import ChannelList
import HTTP
import Support
import Synchronization

// Answers to clients that take us for an HDHomeRun.

extension ServeResponder {
    /// The document for a request of a television server.
    func document(_ request: Route.Tuner, _ target: RequestTarget) -> Answer {
        let document = tuner.response(to: request, baseURL: base(of: target), query: target.viewer.query?.value)
        return document.map(Answer.now) ?? .later(request == .lineup ? lineup(for: target) : lineupList(for: target))
    }

    /// The stream of a channel by its number, for any tuner; limited to `duration` seconds if the query contains them.
    func stream(_ number: String, tuner: Int?, _ target: RequestTarget) -> Answer {
        guard tuner.map({ $0 < self.tuner.tunerCount }) ?? true,
            let channel = host.directory.channel(numbered: number, for: target.viewer)
        else { return .now(Self.unknownChannel) }
        let answer = answer(of: channel.slug, .endlessStream(.live), to: target)
        guard let duration = Self.duration(target) else { return answer }
        return answer.map { response in
            guard case .stream(let stream) = response.body else { return response }
            var response = response
            response.body = .stream(stream.ending(after: duration))
            return response
        }
    }

    private static func duration(_ target: RequestTarget) -> Duration? {
        target.query.value(of: "duration").flatMap { UInt32($0) }.map { .seconds(Int64($0)) }
    }

    /// Without a body, because a client may play it.
    private static var unknownChannel: Response {
        Response(
            status: .notFound, cacheControl: .noStore, body: .empty, extraHeaders: [TunerError.unknownChannel.header])
    }
}

extension ChannelSupervisor.Policy {
    /// The number of tuners if the number of running channels is not limited.
    static let unlimitedTuners = 16

    /// The number of tuners of the emulated device.
    package var tunerCount: Int { min(maxRunning ?? Self.unlimitedTuners, runLimit ?? .max) }
}

extension ChannelSupervisor.Refusal {
    /// The reason as an HDHomeRun states it.
    var tunerError: TunerError {
        switch self {
        case .startTimedOut: .noVideoData
        case .full, .accountFull: .tunersInUse
        case .failed: .tuneFailed
        }
    }
}

/// An error as `X-HDHomeRun-Error` names it.
enum TunerError: String, Sendable {
    case unknownChannel = "801 Unknown Channel"
    case tunersInUse = "805 All Tuners In Use"
    case tuneFailed = "806 Tune Failed"
    case noVideoData = "807 No Video Data"

    var header: HeaderField { HeaderField(name: "X-HDHomeRun-Error", value: rawValue) }
}

extension ByteStream {
    /// The stream until `duration` after its first bytes.
    func ending(after duration: Duration) -> ByteStream {
        let end = Mutex<ContinuousClock.Instant?>(nil)
        let clock = ContinuousClock()
        return ByteStream { [self] in
            if let end = end.withLock({ $0 }), clock.now >= end { return nil }
            let bytes = await next()
            end.withLock { if $0 == nil { $0 = clock.now + duration } }
            return bytes
        }
    }
}

extension TunerDevice {
    /// The document for a request; nil for the lineup, which depends on all channels.
    /// - Parameter baseURL: the URL of this server as the client sees it.
    /// - Parameter query: the query that the URLs in the document carry; nil: none.
    func response(to request: Route.Tuner, baseURL: String, query: String? = nil) -> Response? {
        switch request {
        case .discovery: .document(.json, discoverJSON(baseURL: baseURL, query: query))
        case .description: .document(.xml, deviceXML(baseURL: baseURL))
        case .lineupStatus: .document(.json, Self.lineupStatusJSON)
        case .scan: Response(cacheControl: .noStore, body: .empty)
        case .lineup, .lineupList: nil
        }
    }
}

extension Response {
    /// A text that is made for each request.
    static func document(_ type: MimeType, _ text: String) -> Response {
        Response(contentType: type, cacheControl: .noStore, body: .bytes(Array(text.utf8), gzip: nil))
    }
}
