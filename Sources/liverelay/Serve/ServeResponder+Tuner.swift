import ChannelList
import HTTPSyntax
import Playlist

// What clients that take us for an HDHomeRun ask for.

extension ServeResponder {
    func response(to request: TunerRequest, _ target: RequestTarget) async -> Response {
        if case .stream(let channel, let tuner) = request { return await stream(channel, tuner: tuner, target) }
        return document(request, target)
    }

    /// The answer to anything but a stream and the lineup.
    func document(_ request: TunerRequest, _ target: RequestTarget) -> Response {
        tuner.device(tunerCount: host.policy.tunerCount).response(
            to: request, baseURL: base(of: target), query: target.viewer.query?.value)
            ?? Self.unknownChannel
    }

    /// The stream of a channel by its number, as any tuner has it; `duration` seconds of it if the query says so.
    private func stream(_ number: String, tuner: Int?, _ target: RequestTarget) async -> Response {
        let device = self.tuner.device(tunerCount: host.policy.tunerCount)
        guard tuner.map({ $0 < device.tunerCount }) ?? true,
            let channel = host.directory.channel(numbered: number, for: target.viewer)
        else { return Self.unknownChannel }
        var below = RequestTarget(
            method: target.method, path: "/\(channel.slug)/live.ts", query: [], fields: target.fields)
        below.viewer = target.viewer
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

extension ChannelSupervisor.Policy {
    /// Tuners of the device that the channels look like.
    var tunerCount: Int { min(maxRunning ?? TunerIdentity.unlimitedTuners, runLimit ?? .max) }
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
