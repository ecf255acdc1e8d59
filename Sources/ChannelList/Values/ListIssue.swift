/// A line of a list that was not understood, or understood differently from how it is written.
///
/// An issue costs what it names and nothing else: an attribute, a header, a source, or a channel without a source.
package struct ListIssue: Equatable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The first line with text is not `#EXTM3U`. The list is read nevertheless.
        case missingHeader
        /// `EXTM3U` or `EXTINF` without its number sign; read as if it had one.
        case missingNumberSign
        /// A line that is no URL, no directive and no comment.
        case unexpectedText(String)
        /// An `#EXT…` line that has no meaning here; named once, at its first line.
        case unknownDirective(String)
        /// An option of `#EXTVLCOPT`, `#KODIPROP` or `URL|…` that is not followed; named once, at its first line.
        case unknownOption(String)
        case missingComma
        /// The entry has no name; it is called as its guide or its URL calls it.
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
        /// A URL without `#EXTINF` before it; the channel is called as the URL.
        case missingEntry
        /// The URL of a `pipe:` command takes the command's place; named once, at its first line.
        case unwrappedCommand
        /// The URL's scheme is none of those that are followed.
        case unsupportedScheme(String)
        /// The URL has no host, or white space in it, or is relative where the list has no URL itself. Redacted.
        case malformedURL(String)
        /// Another channel before has the same name; this one has the slug.
        case repeatedName(String, slug: String)
        /// The archive of the provider cannot be asked, so the channel has none; named once, at its first entry.
        case unusableArchive(ProviderArchive.Fault)
        /// The panel names a time zone, and its clock shows the time of another one.
        case contradictoryClock
        /// Bytes that are not UTF-8; read as Windows-1252.
        case foreignEncoding
        /// The line is too long, and is passed over.
        case longLine(bytes: Int)
        /// The list has more of something than is read: the rest is passed over. Named once.
        case limit(Limit)
    }

    package enum Limit: Hashable, Sendable { case channels, sources, headers, groups, guides }

    /// 1-based, in the text as received.
    package let line: Int
    package let kind: Kind
}

/// A bounded log of issues. A kind that is named once is counted each time.
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
