import ChannelList
import Guide
import Support

/// The past programs that archives contain, as files for media libraries: for each program, a `.strm` with the URL of
/// its range and an `.nfo` with the guide's description.
///
/// Libraries refuse a past program as live television, but play the URL in a `.strm`. The paths have the form of series
/// ordered by date: channel, season, `channel - date - title`.
struct ProgramLibrary {
    /// The most programs of one library. Each channel gets an equal share for its newest programs, and leaves the
    /// unused part to the following channels.
    static let programLimit = 20_000

    let baseURL: String
    /// The query of the viewer's token.
    let query: String?
    /// Seconds since 1970.
    let now: Int64

    /// - Parameters:
    ///   - channels: the channels, each with the length of its archive.
    ///   - listings: returns the programs of a channel.
    func zip(_ channels: [(ListedChannel, archive: Duration)], listings: (ListedChannel) -> [GuideListing]) -> [UInt8] {
        var file = ZipFile()
        var programsLeft = Self.programLimit
        for (index, (channel, archive)) in channels.enumerated() where programsLeft > 0 {
            let share = max(1, programsLeft / (channels.count - index))
            let reached = listings(channel).filter {
                $0.stop <= now && $0.stop > $0.start && $0.start >= now - archive.components.seconds
            }
            let listed = reached.suffix(share)
            programsLeft -= listed.count
            for listing in listed { append(listing, of: channel, to: &file) }
        }
        return file.finished()
    }

    private func append(_ listing: GuideListing, of channel: ListedChannel, to file: inout ZipFile) {
        let date = ProgramDateTime(millisecondsSince1970: listing.start * 1000)
        let day = String(date.text.prefix(10))
        let time = date.text.dropFirst(11).prefix(5).filter { $0 != ":" }
        let name = Self.fileName(channel.name)
        let stem = "\(name)/Season \(day.prefix(4))/\(name) - \(day) - \(time) \(Self.fileName(listing.title))"
        let range = "ts/archive-\(listing.start)-\(listing.stop - listing.start).m3u8"
        let url = "\(baseURL)/\(channel.slug)/\(range)\(query.map { "?\($0)" } ?? "")"
        file.append(stem + ".strm", Array("\(url)\n".utf8), at: date)
        file.append(stem + ".nfo", Array(Self.details(listing, of: channel, day).utf8), at: date)
    }

    /// An episode's description in Kodi's format, which Jellyfin and Emby read too.
    private static func details(_ listing: GuideListing, of channel: ListedChannel, _ day: String) -> String {
        let elements = [
            ("title", listing.title), ("showtitle", channel.name), ("plot", listing.description), ("aired", day),
            ("runtime", String((listing.stop - listing.start) / 60)), ("studio", channel.name),
        ]
        let text = elements.map { "  <\($0)>\(DocumentText.xml($1))</\($0)>\n" }.joined()
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<episodedetails>\n\(text)</episodedetails>\n"
    }

    /// The text made fit for a component of a path on every system.
    private static func fileName(_ text: String) -> String {
        let forbidden: Set<Character> = ["/", "\\", ":", "*", "?", "\"", "<", ">", "|"]
        let characters = text.map { character in
            forbidden.contains(character) || character.unicodeScalars.contains(where: ControlCharacters.contains)
                ? " " : character
        }
        let words = String(characters).split(separator: " ").joined(separator: " ")
        let name = String(words.prefix(80)).trimmingBlanks.drop { $0 == "." }
        return name.isEmpty ? "Untitled" : String(name)
    }
}
