import Support

/// An account of a provider with the API of Xtream Codes: the panel's URL, the user name and the password.
package struct XtreamAccount: Hashable, Sendable {
    /// The form of the account's streams, by the extension of their URLs.
    enum Output: String, CaseIterable, Sendable { case ts, m3u8 }

    package enum Document: Sendable { case account, categories, streams, guide }

    /// The URL of the panel without a slash at its end: `http://tv.example:8080`.
    private let panel: String
    private let username: Secret
    private let password: Secret
    /// The form that the operator chose; nil: a form that the account permits.
    let output: Output?

    /// - Parameter panel: an http or https URL. It may end with a slash or with a path of the API, as players accept
    ///   both.
    init(panel: String, username: String, password: String, output: Output? = nil) {
        var panel = URIReference.withoutQuery(panel)
        for path in ["/player_api.php", "/get.php", "/xmltv.php"] where panel.hasSuffix(path) {
            panel.removeLast(path.count)
        }
        while panel.hasSuffix("/") { panel.removeLast() }
        self.panel = panel
        self.username = Secret(username)
        self.password = Secret(password)
        self.output = output
    }

    /// The account in the URL of a list; nil for any other URL.
    /// - Parameter listURL: `http://tv.example:8080/get.php?username=…&password=…&type=m3u_plus&output=ts`.
    package init?(listURL: String) {
        func value(_ name: String) -> String? {
            let value = URIReference.queryParameter(name, of: listURL).flatMap { PercentEncoding.decode($0[...]) }
            return value?.isEmpty == true ? nil : value
        }
        guard ["http", "https"].contains(URIReference.scheme(of: listURL)),
            URIReference.withoutQuery(listURL).hasSuffix("/get.php"),
            let username = value("username"), let password = value("password")
        else { return nil }
        self.init(
            panel: listURL, username: username, password: password,
            output: value("output").flatMap { ["mpegts": .ts, "hls": .m3u8][$0] ?? Output(rawValue: $0) })
    }

    /// The URL of the account's list. Where lists are named, the account is identified by this URL alone.
    var listURL: String {
        "\(panel)/get.php?\(login)&type=m3u_plus" + (output.map { "&output=\($0.rawValue)" } ?? "")
    }

    package func url(of document: Document) -> String {
        switch document {
        case .account: "\(panel)/player_api.php?\(login)"
        case .categories: "\(panel)/player_api.php?\(login)&action=get_live_categories"
        case .streams: "\(panel)/player_api.php?\(login)&action=get_live_streams"
        case .guide: "\(panel)/xmltv.php?\(login)"
        }
    }

    func url(ofStream id: String, _ output: Output) -> String {
        let parts = [username.value, password.value, id].map(PercentEncoding.encode)
        return "\(panel)/live/\(parts.joined(separator: "/")).\(output.rawValue)"
    }

    private var login: String {
        "username=\(PercentEncoding.encode(username.value))&password=\(PercentEncoding.encode(password.value))"
    }

    var host: String { URIReference.host(of: panel) ?? "" }

    /// The properties that distinguish two accounts.
    struct Identity: Hashable {
        let panel: String
        let username: Secret
    }

    var identity: Identity { Identity(panel: panel.lowercased(), username: username) }

    /// A provider's text without the credentials of the account: one line of at most 200 characters.
    func redacting(_ text: String) -> String {
        let secrets = [password.value, username.value].filter { $0.count > 2 || $0 == password.value }
        let plain = secrets.flatMap { [$0, PercentEncoding.encode($0)] }.reduce(text) { text, secret in
            secret.isEmpty ? text : text.replacing(secret, with: "…")
        }
        return String(plain.inOneLine.prefix(200).trimmingWhiteSpace)
    }
}

/// The state of an account as its panel reports it (`user_info` and `server_info` of `player_api.php`).
package struct XtreamAccountState: Equatable, Sendable {
    /// The most concurrent streams; nil: the panel states no limit.
    let connections: Int?
    /// The permitted forms; empty: the panel states none.
    var outputs: Set<XtreamAccount.Output> = []
    /// The clock for requests of the archive; nil: the panel states none.
    var clock: LocalClock?
    /// Whether the panel's clock shows another time than the zone that the panel names.
    var hasContradictoryClock = false
}

extension XtreamAccountState {
    /// - Returns: nil if the answer is not one of this API.
    /// - Throws: `.refused` if the panel reports that the account may not have streams.
    package init?(_ json: [UInt8], of account: XtreamAccount) throws(XtreamRefusal) {
        guard let document = LooseJSON(json), case let info = document["user_info"],
            info["auth"].text != nil || info["status"].text != nil
        else {
            return nil
        }
        if let refusal = XtreamRefusal(info, of: account) { throw refusal }
        (clock, hasContradictoryClock) = LocalClock.ofPanel(document["server_info"])
        let limit = info["max_connections"].text.flatMap { Int($0) } ?? 0
        connections = limit > 0 ? min(limit, Self.mostConnections) : nil
        outputs = Set(
            info["allowed_output_formats"].elements.compactMap { format in
                format.text.flatMap { XtreamAccount.Output(rawValue: $0.lowercased()) }
            })
    }

    /// The reason why an answer to `player_api.php` is not a state of an account, in words that follow "it answers ".
    /// - Parameter status: the HTTP status.
    package static func complaint(about answer: [UInt8], status: Int, of account: XtreamAccount) -> String {
        let text = account.redacting(String(decoding: answer.prefix(400), as: UTF8.self))
        let beginning = text.isEmpty ? "nothing" : "“\(text.prefix(80))”"
        if !(200..<300).contains(status) { return "HTTP \(status)" + (text.isEmpty ? "" : ": \(beginning)") }
        if let json = LooseJSON(answer) {
            let hasInfo = json["user_info"].text != nil || answer.firstRange(of: Array("\"user_info\"".utf8)) != nil
            return hasInfo
                ? "a user_info that does not know the user: \(beginning)" : "JSON without user_info: \(beginning)"
        }
        let start = answer.first { $0 > 32 }
        if start == UInt8(ascii: "{") || start == UInt8(ascii: "[") {
            return "JSON that is cut off or damaged: \(beginning)"
        }
        let hasInfo = answer.firstRange(of: Array("\"user_info\"".utf8)) != nil
        return hasInfo ? "a notice before its JSON: \(beginning)" : "no JSON: \(beginning)"
    }

    private static let mostConnections = 1000

    /// The form of the streams to request: raw ones, unless the account permits playlists only.
    func output(of account: XtreamAccount) -> XtreamAccount.Output {
        account.output ?? (outputs == [.m3u8] ? .m3u8 : .ts)
    }
}

/// The reason why a panel gives no streams to an account, in the panel's words, without credentials.
package struct XtreamRefusal: Error, Equatable, Sendable {
    /// `Expired`, `Banned`, `Disabled`; nil: the name or the password is not known.
    package let status: String?
    /// The date on which the account expired: `2026-01-02`.
    package let expiry: String?
    package let message: String?

    private static let states: Set = ["expired", "banned", "disabled", "inactive"]
    /// The end of the year 9999.
    private static let lastSecond: Int64 = 253_402_300_799

    /// nil for an account that may have streams. With any other status, the panel itself refuses streams if it has to.
    fileprivate init?(_ info: LooseJSON, of account: XtreamAccount) {
        let state = info["status"].text?.lowercased() ?? ""
        let isRefused = Self.states.contains(state)
        guard isRefused || info["auth"].isFalse else { return nil }
        status = isRefused ? info["status"].text.map(account.redacting) : nil
        message = info["message"].text.map(account.redacting)
        let seconds = info["exp_date"].text.flatMap { Int64($0) } ?? -1
        let isDate = state == "expired" && (0...Self.lastSecond).contains(seconds)
        expiry = isDate ? String(ProgramDateTime(millisecondsSince1970: seconds * 1000).text.prefix(10)) : nil
    }
}
