/// A line of a list that was not understood, or that was read differently from how it is written.
///
/// An issue affects only what it names: an attribute, a header, a source, or a channel without a source.
package struct ListIssue: Equatable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The first line with text is not `#EXTM3U`. The list is read nevertheless.
        case missingHeader
        /// `EXTM3U` or `EXTINF` without its number sign; read as if it had one.
        case missingNumberSign
        /// A line that is no URL, no directive and no comment.
        case unexpectedText(String)
        /// An `#EXT…` line without a meaning here; reported once, for its first line.
        case unknownDirective(String)
        /// An option of `#EXTVLCOPT`, `#KODIPROP` or `URL|…` that is ignored; reported once, for its first line.
        case unknownOption(String)
        case missingComma
        /// The entry has no name; the name in the guide or in its URL is used.
        case missingName
        case strayWord(String)
        case unclosedQuote(attribute: String)
        /// The attribute's value is too long, and is dropped.
        case longValue(attribute: String)
        /// The channel number is no number, and is dropped.
        case malformedNumber(String)
        /// The header cannot be sent, and is dropped.
        case malformedHeader(String)
        case missingURL(name: String)
        /// A URL without a preceding `#EXTINF`; the channel is named after the URL.
        case missingEntry
        /// The URL in a `pipe:` command replaces the command; reported once, for its first line.
        case unwrappedCommand
        /// The URL's scheme is not supported.
        case unsupportedScheme(String)
        /// The URL has no host, or contains white space, or is relative in a list without a URL. Redacted.
        case malformedURL(String)
        /// An earlier channel has the same name; this one got `slug`.
        case repeatedName(String, slug: String)
        /// The provider's archive cannot be requested, so the channel has none; reported once, for its first entry.
        case unusableArchive(ProviderArchive.Fault)
        /// The panel names a time zone, and its clock shows the time of another one.
        case contradictoryClock
        /// Bytes that are not UTF-8; read as Windows-1252.
        case foreignEncoding
        /// The line is too long, and is passed over.
        case longLine(bytes: Int)
        /// The list exceeds a limit; the rest is skipped. Reported once.
        case limit(Limit)
    }

    package enum Limit: Hashable, Sendable { case channels, sources, headers, groups, guides }

    /// 1-based, in the text as received.
    package let line: Int
    package let kind: Kind
}

/// A bounded log of issues. Issues that are reported once are counted each time.
struct IssueLog {
    private(set) var issues: [ListIssue] = []
    private(set) var count = 0
    private var named: Set<ListIssue.Kind> = []
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    mutating func record(_ kind: ListIssue.Kind, line: Int) {
        count += 1
        guard issues.count < capacity else { return }
        if Self.isNamedOnce(kind), !named.insert(kind).inserted { return }
        issues.append(ListIssue(line: line, kind: kind))
    }

    private static func isNamedOnce(_ kind: ListIssue.Kind) -> Bool {
        switch kind {
        case .unknownDirective, .unknownOption, .limit, .foreignEncoding, .unwrappedCommand, .unusableArchive: true
        default: false
        }
    }
}
