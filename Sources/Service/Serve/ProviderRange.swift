import ChannelList
import HTTP
import LiveRing
import Support

/// A range of a provider's archive, as a separate channel that runs while somebody watches it.
///
/// Its name consists of the channel's slug, a tilde, which no slug contains, and the range: `news~1767355200-3600`.
/// Nothing has to be stored for it, because the channel follows from the name and the list.
struct ProviderRange: Hashable {
    /// The permitted lengths, in seconds.
    private static let lengths: ClosedRange<Int64> = 1...21_600
    /// How much a provider may send before and after a range, in seconds.
    private static let surplus: Int64 = 1800

    /// The slug of the channel.
    let slug: String
    /// Seconds since 1970.
    private let start: Int64
    /// Seconds.
    let duration: Int64

    /// nil if the name is not that of a range.
    init?(name: String) {
        let parts = name.split(separator: "~", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let numbers = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 2, numbers.allSatisfy({ (1...12).contains($0.utf8.count) && $0.first != "+" }),
            let start = Int64(numbers[0]), let duration = Int64(numbers[1]), Self.lengths.contains(duration)
        else { return nil }
        (slug, self.start, self.duration) = (String(parts[0]), start, duration)
        // Only the canonical form of a name is accepted.
        if self.name != name { return nil }
    }

    /// The range of whole seconds that contains a past range; nil if the range has no beginning or end, or is longer
    /// than 6 h.
    init?(_ range: RewindRange, of slug: String) {
        guard case .between(let start?, let end?) = range else { return nil }
        let (first, last) = (start.millisecondsSince1970 / 1000, (end.millisecondsSince1970 + 999) / 1000)
        guard first >= 0, Self.lengths.contains(last - first) else { return nil }
        (self.slug, self.start, duration) = (slug, first, last - first)
    }

    var name: String { "\(slug)~\(start)-\(duration)" }

    var firstDate: ProgramDateTime { ProgramDateTime(millisecondsSince1970: start * 1000) }

    /// The range as a channel; nil if the provider's archive of `channel` does not contain all of it.
    /// - Parameter now: seconds since 1970.
    func channel(of channel: ListedChannel, at now: Int64) -> ListedChannel? {
        guard let archive = channel.providerArchive, var source = channel.sources.first,
            (now - Int64(archive.days) * 86_400...now - duration).contains(start),
            let url = archive.url(of: source.url, from: start, lasting: duration, at: now)
        else { return nil }
        // As for a redirect: another origin gets no credentials of the process.
        let isSameOrigin =
            URIReference.authority(of: url) == URIReference.authority(of: source.url)
            && URIReference.scheme(of: url) == URIReference.scheme(of: source.url)
        if !isSameOrigin { source.withholdsCredentials = true }
        source.url = url
        var range = channel
        (range.slug, range.sources, range.providerArchive) = (name, [source], nil)
        range.options = channel.options.ofRange(lasting: .seconds(duration + Self.surplus))
        return range
    }
}

/// The running ranges of providers' archives, and the clients that requested them. Each range stores its media on the
/// disk.
struct ProviderRangeRuns {
    static let limit = 8
    /// The most ranges of one client. Each zap and each seek requests a new range.
    static let limitPerClient = 4
    /// The disk space needed per second: media of 8 Mbit/s.
    private static let bytesPerSecond: UInt64 = 1_000_000

    private var clients: [String: ClientNetwork] = [:]

    /// The reason why a range may not start; nil if it may, or is running already.
    /// - Parameters:
    ///   - name: the name of the range. The name of another channel is always admitted.
    ///   - running: the bytes on the disk of each running range.
    ///   - space: the space of the disk; nil: unknown.
    mutating func admit(
        _ name: String, for client: ClientNetwork, running: [String: UInt64], space: FileSystemSpace?
    ) -> ChannelSupervisor.Refusal? {
        guard let needed = Self.bytes(of: name), running[name] == nil else { return nil }
        clients = clients.filter { running[$0.key] != nil }
        guard running.count < Self.limit else { return .full(limit: Self.limit) }
        guard clients.values.count(where: { $0 == client }) < Self.limitPerClient else {
            return .failed(
                reason: "\(Self.limitPerClient) ranges of archives run for this client.", retryAfter: .seconds(30))
        }
        let missing = running.reduce(needed) { sum, range in
            let whole = Self.bytes(of: range.key) ?? 0
            return sum + whole - min(range.value, whole)
        }
        if let space, space.freeBytes < missing + space.reserve {
            return .failed(
                reason: "The disk has no room for this range: \(missing >> 20) MiB are needed.",
                retryAfter: .seconds(60))
        }
        clients[name] = client
        return nil
    }

    private static func bytes(of name: String) -> UInt64? {
        ProviderRange(name: name).map { UInt64($0.duration) * bytesPerSecond }
    }
}
