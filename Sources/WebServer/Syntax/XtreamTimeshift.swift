package import LiveRing
package import Support

/// A request for catch-up in the URLs of Xtream Codes.
package struct XtreamTimeshift: Equatable, Sendable {
    package let user: String
    package let password: Secret
    /// The number of the channel.
    package let stream: String
    package let address: ArchiveAddress

    /// The longest program in minutes.
    private static let longest = RewindRange.longest / 60_000

    /// Reads `/timeshift/USER/PASSWORD/MINUTES/STAMP/STREAM`, whose last component may end with `.ts` or `.m3u8`. Without
    /// an ending it is a transport stream.
    /// - Parameter path: decoded.
    /// - Returns: nil for another path.
    package init?(path: String) throws(RewindRange.BadQuery) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 7, parts[0].isEmpty, parts[1] == "timeshift", !parts[6].isEmpty else { return nil }
        let name = parts[6]
        let ending = [".m3u8", ".ts"].first { name.hasSuffix($0) }
        try self.init(
            user: String(parts[2]), password: Secret(String(parts[3])),
            stream: String(name.dropLast(ending?.count ?? 0)), minutes: parts[4], start: parts[5],
            form: ending == ".m3u8" ? .playlist : .transportStream)
    }

    /// Reads the query of `timeshift.php`: `username`, `password`, `stream`, `start` and `duration`.
    /// - Returns: nil if one of them is missing.
    package init?(query: [RequestTarget.QueryItem]) throws(RewindRange.BadQuery) {
        guard let user = query.value(of: "username"), let password = query.value(of: "password"),
            let stream = query.value(of: "stream"), let start = query.value(of: "start"),
            let minutes = query.value(of: "duration")
        else { return nil }
        try self.init(
            user: user, password: Secret(password), stream: stream, minutes: minutes[...], start: start[...],
            form: .transportStream)
    }

    private init(
        user: String, password: Secret, stream: String, minutes: Substring, start: Substring,
        form: ArchiveAddress.Form
    ) throws(RewindRange.BadQuery) {
        guard ArchiveStamp.isNumber(minutes), let length = Int64(minutes), (1...Self.longest).contains(length) else {
            throw .value(name: "duration", value: String(minutes))
        }
        guard let date = ArchiveStamp.date(start) else { throw .value(name: "start", value: String(start)) }
        (self.user, self.password, self.stream) = (user, password, stream)
        address = ArchiveAddress(form: form, range: ArchiveAddress.range(from: date, seconds: length * 60))
    }
}
