import Demux
import Media

extension ProgramSelection {
    /// "program 1 (0x100 H.264, 0x101 AAC or MPEG audio eng; not followed: 0x102 DVB teletext)".
    var summary: String {
        guard !listed.isEmpty else { return "streams identified by their first bytes, because no table lists any" }
        let warning = warning.map { ": \($0)" } ?? ""
        func summary(_ streams: [ListedStream]) -> String { streams.map(\.summary).joined(separator: ", ") }
        let others = listed.filter { !$0.isFollowed }
        let rest = others.isEmpty ? "" : "; not followed: \(summary(others))"
        let besides = otherPrograms.isEmpty ? "" : ", one of \(otherPrograms.count + 1)"
        return "program \(programNumber)\(besides) (\(summary(listed.filter(\.isFollowed)))\(rest))\(warning)"
    }

    /// "no video is published, because MPEG-2 video cannot be republished"; nil if nothing is missing.
    var warning: String? {
        let missing = [
            Self.warning("video", unsupportedVideo, isFollowed: video != nil),
            Self.warning("audio", unsupportedAudio, isFollowed: audio != nil),
            video?.kind == .video(.mpeg2) ? Self.fewPlayers : nil,
        ].compactMap(\.self)
        return missing.isEmpty ? nil : missing.joined(separator: "; ")
    }

    private static let fewPlayers =
        "browsers and Apple's players show no MPEG-2 video: give /live.ts to televisions, VLC, mpv or Kodi"

    /// - Parameter isFollowed: whether other streams of that kind are published.
    private static func warning(_ kind: String, _ names: [String], isFollowed: Bool) -> String? {
        guard !names.isEmpty else { return nil }
        let subject = isFollowed ? "not all \(kind) is published" : "no \(kind) is published"
        return "\(subject), because \(names.joined(separator: ", ")) cannot be republished"
    }
}

extension ProgramSelection.ListedStream {
    /// "0x1b".
    private var hexStreamType: String { "0x" + String(streamType, radix: 16) }

    fileprivate var summary: String {
        "0x\(String(pid, radix: 16)) \(name ?? "stream type \(hexStreamType)")\(language.map { " \($0)" } ?? "")"
    }
}
