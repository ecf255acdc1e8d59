import Demux
import Splice

extension ProgramSelection {
    /// "program 1 (0x100 H.264, 0x101 AAC or MPEG audio eng; not followed: 0x102 DVB teletext)".
    var words: String {
        guard !listed.isEmpty else { return "streams identified by their first bytes, because no table lists any" }
        func words(_ streams: [ListedStream]) -> String { streams.map(\.words).joined(separator: ", ") }
        let others = listed.filter { !$0.isFollowed }
        let rest = others.isEmpty ? "" : "; not followed: \(words(others))"
        let besides = otherPrograms.isEmpty ? "" : ", one of \(otherPrograms.count + 1)"
        return "program \(programNumber)\(besides) (\(words(listed.filter(\.isFollowed)))\(rest))"
    }
}

extension ProgramSelection.ListedStream {
    /// "0x1b".
    var hexStreamType: String { "0x" + String(streamType, radix: 16) }

    fileprivate var words: String {
        "0x\(String(pid, radix: 16)) \(name ?? "stream type \(hexStreamType)")\(language.map { " \($0)" } ?? "")"
    }
}
