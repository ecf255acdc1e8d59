import ChannelList
import Support

/// A channel in the form of the API.
struct ChannelDocument: Encodable, Sendable {
    /// All channels, in their order.
    struct List: Encodable, Sendable {
        let channels: [ChannelDocument]

        init(_ overview: ChannelHost.Overview) {
            channels = overview.directory.channels.map {
                ChannelDocument($0, overview.channels[$0.slug])
            }
        }
    }

    /// The keys of a channel in `channels.yaml`.
    struct Configuration: Encodable, Sendable {
        fileprivate let channel: ListedChannel

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: ConfigurationKey.self)
            for key in ConfigurationKey.allCases {
                if let value = channel.written(key) { try container.encode(value, forKey: key) }
            }
        }
    }

    /// The channel's slug.
    let channel: String
    /// As in `/status.json`.
    let state: String
    /// The reason of the failure.
    let reason: FailureText?
    /// The keys of `channels.yaml` including `defaults`, without the keys that only a file may set. A PUT of this value
    /// changes nothing.
    let configuration: Configuration

    init(_ listed: ListedChannel, _ entry: ChannelSupervisor.Entry?) {
        channel = listed.slug
        state = ServeStatus.state(of: entry)
        reason = if case .failed(let reason, _)? = entry?.state { reason } else { nil }
        configuration = Configuration(channel: listed)
    }
}

private struct SourceDocument: Encodable, Sendable {
    let url: String
    let headers: [String: String]?
    let proxy: String?
    let insecure: Bool?

    init(_ source: ListedSource) {
        url = source.url
        headers =
            source.headers.isEmpty ? nil : Dictionary(source.headers.map { ($0.name, $0.value) }) { first, _ in first }
        proxy = source.proxy
        insecure = source.isInsecure ? true : nil
    }
}

extension ListedChannel {
    fileprivate func written(_ key: ConfigurationKey) -> (any Encodable & Sendable)? {
        switch key {
        case .name: name
        case .group: groups.isEmpty ? nil : groups
        case .logo: logo
        case .number: number
        case .guideID: guideID
        case .guideName: guideName
        case .guideShift: guideShift
        case .radio: isRadio ? true : nil
        case .url: sources.first.map(SourceDocument.init)
        case .backups: sources.count > 1 ? sources.dropFirst().map(SourceDocument.init) : nil
        default: options.written(key)
        }
    }
}
