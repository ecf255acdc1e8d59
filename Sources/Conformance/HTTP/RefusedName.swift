import Support

/// Rule 41: whether ffmpeg reads a segment with this name, by the rule of its versions 5.1.7, 7.1.1 and later up to 8.1.
///
/// Two endings count: what follows the last dot of the whole URL with its query, and that of the path. One of them has to
/// be in the list of permitted endings and to fit the format.
enum RefusedName {
    private static let permitted: Set<Substring> = [
        "3gp", "aac", "avi", "ac3", "eac3", "flac", "mkv", "m3u8", "m4a", "m4s", "m4v", "mpg", "mov", "mp2", "mp3",
        "mp4",
        "mpeg", "mpegts", "ogg", "ogv", "oga", "ts", "vob", "vtt", "wav", "webvtt", "cmfv", "cmfa", "ec3", "fmp4",
        "html",
        "m2t", "m2ts", "mts",
    ]
    private static let transport: Set<Substring> = [
        "ts", "m2t", "m2ts", "mts", "mpg", "m4s", "mpeg", "mpegts", "html",
    ]
    private static let movie: Set<Substring> = [
        "mov", "mp4", "m4a", "3gp", "3g2", "mj2", "psp", "m4v", "ism", "ismv", "isma", "f4v", "avif", "heic", "heif",
        "ts",
        "m2t", "m2ts", "mts", "mpg", "m4s", "mpeg", "mpegts", "cmfv", "cmfa", "fmp4",
    ]
    private static let audio: Set<Substring> = ["aac", "mp3", "mp2", "m2a", "mpa", "ac3", "eac3", "ec3"]

    /// Why ffmpeg refuses the URL; nil if it reads it.
    static func reason(_ url: String, container: SegmentFacts.Container) -> String? {
        let endings = [ending(of: url), ending(of: URIReference.withoutQuery(url).split(separator: "/").last ?? "")]
        let fitting: Set<Substring> =
            switch container {
            case .transportStream: transport
            case .fragmentedMP4: movie
            case .packedAudio: audio
            case .webVTT: ["vtt", "webvtt"]
            }
        let known = endings.compactMap(\.self).filter { permitted.contains($0) }
        if known.isEmpty { return "no ending of the name is one that ffmpeg reads" }
        return known.contains(where: fitting.contains)
            ? nil : "the ending .\(known[0]) does not fit \(container.rawValue), so ffmpeg refuses it"
    }

    private static func ending(of text: some StringProtocol) -> Substring? {
        text.lastIndex(of: ".").map { Substring(text[text.index(after: $0)...].lowercased()) }
    }
}
