import ChannelList
import LiveRing
import Support

/// A range of a provider's archive, as a channel of its own that runs while somebody watches it.
///
/// Its name is that of its channel, a tilde, which no slug has, and the range: `news~1767355200-3600`. Nothing has to be kept
/// for it: the channel follows from the name and the list.
struct ProviderRange: Hashable {
    /// Seconds.
    private static let lengths: ClosedRange<Int64> = 1...21_600
    /// Seconds that a provider may send before and after a range.
    private static let surplus: Int64 = 1800

    /// The slug of the channel.
    let slug: String
    /// Seconds since 1970.
    private let start: Int64
    /// Seconds.
    let duration: Int64

    /// nil for the name of another channel.
    init?(name: String) {
        let parts = name.split(separator: "~", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let numbers = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 2, numbers.allSatisfy({ (1...12).contains($0.utf8.count) && $0.first != "+" }),
            let start = Int64(numbers[0]), let duration = Int64(numbers[1]), Self.lengths.contains(duration)
        else { return nil }
        (slug, self.start, self.duration) = (String(parts[0]), start, duration)
        // A range has one name.
        if self.name != name { return nil }
    }

    /// The range of whole seconds that has a range of the past; nil if it has no beginning or end, or is longer than 6 h.
    init?(_ range: RewindRange, of slug: String) {
        guard case .between(let start?, let end?) = range else { return nil }
        let (first, last) = (start.millisecondsSince1970 / 1000, (end.millisecondsSince1970 + 999) / 1000)
        guard first >= 0, Self.lengths.contains(last - first) else { return nil }
        (self.slug, self.start, duration) = (slug, first, last - first)
    }

    var name: String { "\(slug)~\(start)-\(duration)" }

    var firstDate: ProgramDateTime { ProgramDateTime(millisecondsSince1970: start * 1000) }

    /// The range as a channel; nil if the archive of `channel` at its provider does not have all of it.
    /// - Parameter now: seconds since 1970.
    func channel(of channel: ListedChannel, at now: Int64) -> ListedChannel? {
        guard let archive = channel.providerArchive, var source = channel.sources.first,
            (now - Int64(archive.days) * 86_400...now - duration).contains(start),
            let url = archive.url(of: source.url, from: start, lasting: duration, at: now)
        else { return nil }
        // As at a redirect: another origin gets no credentials of the process.
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
