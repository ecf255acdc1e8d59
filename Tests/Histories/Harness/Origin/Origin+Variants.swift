import Fetch

// MARK: - Variants of other sizes

extension Origin {
    /// Where the playlists and segments of a variant are, below the folder of the master playlist.
    static func folder(of variant: Int) -> String { variant == 0 ? "live" : "live/v\(variant)" }

    static func variant(of request: FetchRequest) -> Int { number(in: request.url, after: "/live/v") ?? 0 }

    /// The lines of all variants.
    func variants(_ group: String, _ token: Int, at time: Int) -> String {
        let format = MediaFormat.all[history.programFormat]
        let listed = (0..<history.variantCount).filter { $0 > 0 || active(.variantVanishes, at: time) == nil }
        let order = history.all(.variants).first?.pick(0...1, 1) == 1 ? listed.reversed() : listed
        return order.map { variant in
            let size = format.resized(for: variant)
            let resolution = history.has(.variants) ? ",RESOLUTION=\(size.width * 16)x\(size.height * 16)" : ""
            return "#EXT-X-STREAM-INF:BANDWIDTH=\(300_000 - 90_000 * variant)\(resolution)\(group)\n"
                + "\(Self.folder(of: variant))/main.m3u8?token=\(token)\n"
        }.joined()
    }

    /// Whether the variant that a player takes refuses.
    func isMissing(_ request: FetchRequest, at time: Int) -> Bool {
        history.has(.variants) && Self.variant(of: request) == 0 && request.purpose != .multivariantPlaylist
            && request.purpose != .key && Self.rendition(of: request) == nil
            && (active(.variantVanishes, at: time) != nil || active(.variantRefused, at: time) != nil)
    }
}
