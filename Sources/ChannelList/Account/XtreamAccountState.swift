import Support

/// The state of an account as its panel says (`user_info` of `player_api.php`).
package struct XtreamAccountState: Equatable, Sendable {
    /// Streams that it may have at once; nil: the panel names no limit.
    let connections: Int?
    /// The forms that it permits; empty: the panel does not say.
    var outputs: Set<XtreamAccount.Output> = []

}

extension XtreamAccountState {
    /// - Returns: nil if the answer is none of this API.
    /// - Throws: `.refused` if the panel says that the account has no streams.
    package init?(_ json: [UInt8], of account: XtreamAccount) throws(XtreamRefusal) {
        guard let info = LooseJSON(json)?["user_info"], info["auth"].text != nil || info["status"].text != nil else {
            return nil
        }
        if let refusal = XtreamRefusal(info, of: account) { throw refusal }
        let limit = info["max_connections"].text.flatMap { Int($0) } ?? 0
        connections = limit > 0 ? min(limit, Self.mostConnections) : nil
        outputs = Set(
            info["allowed_output_formats"].elements.compactMap { format in
                format.text.flatMap { XtreamAccount.Output(rawValue: $0.lowercased()) }
            })
    }

    private static let mostConnections = 1000

    /// The form of the streams that are asked for: raw ones, unless the account permits playlists only.
    func output(of account: XtreamAccount) -> XtreamAccount.Output {
        account.output ?? (outputs == [.m3u8] ? .m3u8 : .ts)
    }
}

/// Why a panel gives no streams to an account, in its own words without what opens the account.
package struct XtreamRefusal: Error, Equatable, Sendable {
    /// `Expired`, `Banned`, `Disabled`; nil: the name or the password is not known.
    package let status: String?
    /// The date on which it expired: `2026-01-02`.
    package let expiry: String?
    package let message: String?

    private static let states: Set = ["expired", "banned", "disabled", "inactive"]
    /// The end of the year 9999.
    private static let lastSecond: Int64 = 253_402_300_799

    /// nil for an account that may have streams. Whatever else its status says, the panel is the one to refuse them.
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
