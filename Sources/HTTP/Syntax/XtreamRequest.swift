package import LiveRing
package import Support

/// A request in one of the forms of Xtream Codes. Each form carries a user name and a password.
///
/// The password is the viewer's token, and any user name is accepted. Answers repeat both, because clients build their
/// next requests from them.
package struct XtreamRequest: Equatable, Sendable {
    package enum Resource: Equatable, Sendable {
        /// The account and the server. This is also the answer to an unknown action.
        case account
        case categories
        /// The channels, all or of one category.
        case streams(category: String?)
        /// Video on demand and series, which this server does not offer.
        case nothing
        /// The next programs of a channel, at most `limit`.
        case shortGuide(stream: Int, limit: Int)
        /// All programs of a channel.
        case guideTable(stream: Int)
        /// The account with all categories and channels.
        case panel
        /// The channels as M3U; without attributes if `isPlain`.
        case list(Output, isPlain: Bool)
        case guide
        case stream(Int, Output)
        /// A past part of a channel.
        case archive(Int, Result<ArchiveAddress, RewindRange.BadQuery>)
    }

    /// The form of a channel's media.
    package enum Output: Equatable, Sendable { case transportStream, playlist }

    package let user: Secret
    package let password: Secret
    package let resource: Resource

    init(user: String, password: String, _ resource: Resource) {
        (self.user, self.password, self.resource) = (Secret(user), Secret(password), resource)
    }

    static let streamNumbers = 1...Int(Int32.max)
    /// The most programs of a short guide, and the number without a limit in the query.
    static let (mostPrograms, usualPrograms) = (100, 4)

    /// - Returns: nil if the target has none of the forms.
    init?(_ target: RequestTarget) {
        if let resource = Self.document(target) {
            self.init(
                user: target.query.value(of: "username") ?? "", password: target.query.value(of: "password") ?? "",
                resource)
        } else if let timeshift = Self.timeshift(target) {
            self = timeshift
        } else {
            self.init(path: target.path)
        }
    }

    /// The paths of documents. No channel has such a path, because slugs contain no dot.
    static let documents: Set = ["/player_api.php", "/panel_api.php", "/get.php", "/xmltv.php"]

    private static func document(_ target: RequestTarget) -> Resource? {
        switch target.path {
        case "/player_api.php": action(target.query)
        case "/panel_api.php": .panel
        case "/xmltv.php": .guide
        case "/get.php": list(target.query)
        default: nil
        }
    }

    private static func action(_ query: [RequestTarget.QueryItem]) -> Resource {
        let stream = query.value(of: "stream_id").flatMap(number) ?? 0
        switch query.value(of: "action") {
        case "get_live_categories": return .categories
        case "get_live_streams": return .streams(category: category(query.value(of: "category_id")))
        case "get_short_epg":
            let limit = query.value(of: "limit").flatMap { Int($0) } ?? usualPrograms
            return .shortGuide(stream: stream, limit: min(max(limit, 1), mostPrograms))
        // Clients use both spellings.
        case "get_simple_data_table", "get_simple_date_table": return .guideTable(stream: stream)
        case let action?: return action.hasPrefix("get_vod") || action.hasPrefix("get_series") ? .nothing : .account
        case nil: return .account
        }
    }

    /// Nothing, 0 and a star mean all categories.
    private static func category(_ text: String?) -> String? {
        ["", "0", "*", "all"].contains(text ?? "") ? nil : text
    }

    private static func list(_ query: [RequestTarget.QueryItem]) -> Resource {
        let isPlaylist = ["m3u8", "hls"].contains(query.value(of: "output")?.lowercased())
        return .list(
            isPlaylist ? .playlist : .transportStream, isPlain: query.value(of: "type")?.lowercased() == "m3u")
    }

    /// `/live/USER/PASSWORD/NUMBER` and `/USER/PASSWORD/NUMBER`, with `.ts`, `.m3u8` or nothing after the number.
    ///
    /// In the paths of a channel, the second component is `ts` or `web` if there is a third one. Such paths are
    /// excluded, so that every channel keeps its paths, whatever its name.
    private init?(path: String) {
        var parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        if parts.count == 4, parts[0] == "live" { parts.removeFirst() }
        guard parts.count == 3, !parts[0].isEmpty, !parts[1].isEmpty, !["ts", "web"].contains(parts[1]),
            let (number, output) = Self.stream(named: parts[2])
        else { return nil }
        self.init(user: String(parts[0]), password: String(parts[1]), .stream(number, output))
    }

    /// The number and the form in the last component of a path.
    static func stream(named name: Substring) -> (number: Int, output: Output)? {
        let digits = name.prefix { $0.isASCII && $0.isNumber }
        guard let number = number(digits) else { return nil }
        switch name[digits.endIndex...] {
        case "", ".ts": return (number, .transportStream)
        case ".m3u8": return (number, .playlist)
        default: return nil
        }
    }

    private static func number(_ digits: some StringProtocol) -> Int? {
        guard digits.utf8.count <= 10, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits)
        else { return nil }
        return streamNumbers.contains(number) ? number : nil
    }

    /// The path of the request without the user name and the password, for events.
    package var redactedPath: String {
        switch resource {
        case .stream(let number, let output): "/live/…/…/\(number)\(output == .playlist ? ".m3u8" : ".ts")"
        case .archive(let number, _): "/timeshift/…/…/\(number)"
        default: "/player_api.php"
        }
    }
}

// MARK: - Forms

extension XtreamRequest {
    /// The longest form that a client may send, in bytes.
    static let longestForm = 4 << 10

    /// Whether the target is of a document whose parameters may be in the body (HTML §4.10.21).
    static func takesForm(_ target: RequestTarget) -> Bool {
        target.method == .other("POST") && documents.contains(target.path)
    }
}

extension RequestTarget {
    /// The GET request that is equivalent to a form: the items of the body precede the items of the query.
    /// - Parameter form: `application/x-www-form-urlencoded`. Items that cannot be decoded are left out.
    func reading(form: [UInt8]) -> RequestTarget {
        let pairs = String(decoding: form, as: UTF8.self).split(separator: "&")
        let items = pairs.compactMap { pair -> QueryItem? in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                PercentEncoding.decode(part.replacing("+", with: "%20")[...])
            }
            guard let name = parts.first ?? nil, let value = parts.count > 1 ? parts[1] : "" else { return nil }
            return QueryItem(name: name, value: value)
        }
        return RequestTarget(method: .get, path: path, query: items + query, fields: fields)
    }
}

// MARK: - Archives

extension XtreamRequest {
    /// The longest program in minutes.
    private static let longestProgram = RewindRange.longest / 60_000

    /// Reads `/timeshift/USER/PASSWORD/MINUTES/STAMP/STREAM`, whose last component may end with `.ts` or `.m3u8`, and
    /// `timeshift.php` with `username`, `password`, `stream`, `start` and `duration`. Without an extension, the answer
    /// is a transport stream.
    /// - Returns: nil for another path, or if a component or parameter is missing.
    private static func timeshift(_ target: RequestTarget) -> XtreamRequest? {
        if target.path == "/timeshift.php" || target.path == "/streaming/timeshift.php" {
            let names = ["username", "password", "duration", "start", "stream"]
            let values = names.compactMap { target.query.value(of: $0)?[...] }
            return values.count == names.count ? archive(values, .transportStream) : nil
        }
        var parts = target.path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 7, parts[0].isEmpty, parts[1] == "timeshift", !parts[6].isEmpty else { return nil }
        let ending = [".m3u8", ".ts"].first { parts[6].hasSuffix($0) }
        parts[6].removeLast(ending?.count ?? 0)
        return archive(Array(parts[2...]), ending == ".m3u8" ? .playlist : .transportStream)
    }

    /// - Parameter parts: user, password, minutes, start and the number of the channel.
    private static func archive(_ parts: [Substring], _ form: ArchiveAddress.Form) -> XtreamRequest? {
        guard let stream = number(parts[4]) else { return nil }
        let found = Result { () throws(RewindRange.BadQuery) in try range(minutes: parts[2], start: parts[3]) }
        return XtreamRequest(
            user: String(parts[0]), password: String(parts[1]),
            .archive(stream, found.map { ArchiveAddress(form: form, range: $0) }))
    }

    private static func range(minutes: Substring, start: Substring) throws(RewindRange.BadQuery) -> RewindRange {
        guard ArchiveStamp.isNumber(minutes), let length = Int64(minutes), (1...longestProgram).contains(length) else {
            throw .value(name: "duration", value: String(minutes))
        }
        guard let date = ArchiveStamp.date(start) else { throw .value(name: "start", value: String(start)) }
        return ArchiveAddress.range(from: date, seconds: length * 60)
    }
}
