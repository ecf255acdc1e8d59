import LiveRing

/// A part of a channel's timeline in the URLs of Xtream Codes.
struct XtreamTimeshift {
    let user: String
    let password: String
    /// The number of the channel.
    let stream: Substring
    /// The archive, or why it cannot be read.
    let archive: Result<ArchiveAddress, RewindRange.BadQuery>

    /// The longest program in minutes.
    private static let longest = RewindRange.longest / 60_000

    /// Reads `/timeshift/USER/PASSWORD/MINUTES/STAMP/STREAM`, whose last component may end with `.ts` or `.m3u8`, and
    /// `timeshift.php` with `username`, `password`, `stream`, `start` and `duration`. Without an ending it is a transport
    /// stream.
    /// - Returns: nil for another path, or if one of them is missing.
    init?(_ target: RequestTarget) {
        if target.path == "/timeshift.php" || target.path == "/streaming/timeshift.php" {
            self.init(query: target.query)
        } else {
            self.init(path: target.path)
        }
    }

    private init?(path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 7, parts[0].isEmpty, parts[1] == "timeshift", !parts[6].isEmpty else { return nil }
        let ending = [".m3u8", ".ts"].first { parts[6].hasSuffix($0) }
        (user, password) = (String(parts[2]), String(parts[3]))
        stream = parts[6].dropLast(ending?.count ?? 0)
        archive = Self.archive(minutes: parts[4], start: parts[5], ending == ".m3u8" ? .playlist : .transportStream)
    }

    private init?(query: [RequestTarget.QueryItem]) {
        guard let user = query.value(of: "username"), let password = query.value(of: "password"),
            let stream = query.value(of: "stream"), let start = query.value(of: "start"),
            let minutes = query.value(of: "duration")
        else { return nil }
        (self.user, self.password, self.stream) = (user, password, stream[...])
        archive = Self.archive(minutes: minutes[...], start: start[...], .transportStream)
    }

    private static func archive(
        minutes: Substring, start: Substring, _ form: ArchiveAddress.Form
    ) -> Result<ArchiveAddress, RewindRange.BadQuery> {
        guard ArchiveStamp.isNumber(minutes), let length = Int64(minutes), (1...longest).contains(length) else {
            return .failure(.value(name: "duration", value: String(minutes)))
        }
        guard let date = ArchiveStamp.date(start) else {
            return .failure(.value(name: "start", value: String(start)))
        }
        return .success(ArchiveAddress(form: form, range: ArchiveAddress.range(from: date, seconds: length * 60)))
    }
}
