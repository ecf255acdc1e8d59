/// An entry of CODECS (RFC 6381 §3.3) in an HLS or DASH document. Variants and renditions are chosen by it.
package struct CodecName: Hashable, Sendable {
    package enum Content: Sendable { case video, audio, text }

    /// As written, in lower case.
    private let text: String

    package init(_ text: String) { self.text = text.lowercased() }

    /// The entries of a list, without white space.
    package static func list(_ text: String) -> [CodecName] {
        text.split(separator: ",").map { CodecName(String($0.filter { $0 != " " && $0 != "\t" })) }
    }

    private static let textNames = ["stpp", "wvtt"]
    private static let audioNames = [
        "mp4a", "ac-3", "ec-3", "ac-4", "opus", "flac", "alac", "mp3", "dts", "mha1", "mhm1",
    ]
    /// Audio codecs that are republished, some of them transcoded. The case of a codec's name differs between ISO
    /// files.
    private static let republishedAudio = ["mp4a", "ac-3", "ec-3", "opus", "flac", "mp3"]
    /// H.264, HEVC, and MPEG-2 by the object types of ISO/IEC 14496-1.
    private static let republishedVideo = ["avc", "hvc1", "hev1", "mp4v.6", "mp2v"]
    /// Codecs that every player decodes.
    private static let plainNames = ["avc", "hvc1", "hev1", "mp4a"]

    /// The kind of media. An unknown name counts as video.
    package var content: Content {
        if begins(withOneOf: Self.textNames) { return .text }
        return begins(withOneOf: Self.audioNames) ? .audio : .video
    }

    package var isRepublished: Bool {
        switch content {
        case .video: begins(withOneOf: Self.republishedVideo)
        case .audio: begins(withOneOf: Self.republishedAudio)
        case .text: true
        }
    }

    package var isPlain: Bool { content == .text || begins(withOneOf: Self.plainNames) }

    private func begins(withOneOf names: [String]) -> Bool { names.contains { text.hasPrefix($0) } }
}

extension Array {
    /// The elements whose codecs can be republished, including elements that name no codec. If there are none, all
    /// elements.
    package func republished(codecs: (Element) -> [CodecName]) -> [Element] {
        preferring { codecs($0).allSatisfy(\.isRepublished) }
    }

    /// The elements that satisfy a condition; all elements if none does.
    package func preferring(_ isPreferred: (Element) -> Bool) -> [Element] {
        let kept = filter(isPreferred)
        return kept.isEmpty ? self : kept
    }
}
