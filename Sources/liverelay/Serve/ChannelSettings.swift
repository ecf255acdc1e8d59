import Channel
import ChannelList
import Logging
import Playlist
import Tracker

/// What the channels of a process have in common, and what their list adds.
struct ChannelSettings: Sendable {
    /// The configuration of each channel, but for its sources, its headers and its spool.
    let configuration: RelayConfiguration
    /// Directory that has a directory for each run.
    let spool: String
    let logger: Logger

    /// The runner of a channel.
    func runner(of channel: ListedChannel, run: ChannelSupervisor.Run) -> ChannelRunner {
        var configuration = configuration
        let source = channel.sources.first
        configuration.upstream = source?.url ?? ""
        configuration.backups += channel.sources.dropFirst().map(\.url)
        configuration.spool = "\(spool)/\(channel.slug)-\(run.number)"
        configuration.retrySeed = .random(in: .min ... .max)
        if let source { configuration.requests.apply(source) }
        var logger = logger
        logger[metadataKey: ConsoleLogHandler.channel] = "\(channel.slug)"
        return ChannelRunner(configuration: configuration, logger: logger)
    }
}

extension CurlConfiguration {
    /// Applies the headers and the proxy that a list gives for a source. They take the place of the common ones.
    fileprivate mutating func apply(_ source: ListedSource) {
        if let proxy = source.proxy, !deniesPrivate { self.proxy = Secret(proxy) }
        for header in source.headers {
            switch header.name.lowercased() {
            case "user-agent": userAgent = header.value
            case "cookie": cookie = Secret(header.value)
            case let name:
                headers.removeAll { $0.name.lowercased() == name }
                headers.append(FetchAnswer.Header(name: header.name, value: header.value))
            }
        }
    }
}
