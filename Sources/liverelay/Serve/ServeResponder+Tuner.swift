import ChannelList
import HTTPSyntax

// What clients that take us for an HDHomeRun ask for.

extension ServeResponder {
    func response(to request: TunerRequest, _ target: RequestTarget) async -> Response {
        if case .stream(let channel, let tuner) = request { return await stream(channel, tuner: tuner, target) }
        return document(request, target)
    }

    /// The answer to anything but a stream.
    func document(_ request: TunerRequest, _ target: RequestTarget) -> Response {
        let response = tuner.device(maxRunning: host.policy.maxRunning).response(
            to: request, channels: host.directory.channels, baseURL: base(of: target))
        return response ?? Self.unknownChannel
    }

    /// The stream of a channel by its number, as any tuner has it; `duration` seconds of it if the query says so.
    private func stream(_ number: String, tuner: Int?, _ target: RequestTarget) async -> Response {
        let device = self.tuner.device(maxRunning: host.policy.maxRunning)
        let channels = host.directory.channels
        guard tuner.map({ $0 < device.tunerCount }) ?? true,
            let channel = zip(channels, TunerDevice.guideNumbers(of: channels)).first(where: { $0.1 == number })?.0
        else { return Self.unknownChannel }
        let below = RequestTarget(
            method: target.method, path: "/\(channel.slug)/live.ts", query: [], fields: target.fields)
        var response = if let work = deferredResponse(to: below) { await work() } else { self.response(to: below) }
        if case .stream(let stream) = response.body, let duration = Self.duration(target) {
            response.body = .stream(stream.ending(after: duration))
        }
        return response
    }

    private static func duration(_ target: RequestTarget) -> Duration? {
        let text = target.query.first { $0.name == "duration" }?.value
        return text.flatMap { UInt32($0) }.map { .seconds(Int64($0)) }
    }

    /// Without a body: a client may play it.
    private static var unknownChannel: Response {
        Response(
            status: .notFound, cacheControl: .noStore, body: .empty, extraHeaders: [TunerError.unknownChannel.header])
    }
}

extension ChannelSupervisor.Refusal {
    /// The reason in the words of an HDHomeRun.
    var tunerError: TunerError {
        switch self {
        case .startTimedOut: .noVideoData
        case .full: .tunersInUse
        case .failed: .tuneFailed
        }
    }
}
