import Demux
import Splice

extension ProgramSelection {
    /// "program 1 (0x100 H.264, 0x101 AAC or MPEG audio eng; not followed: 0x102 DVB teletext)".
    var summary: String {
        guard !listed.isEmpty else { return "streams identified by their first bytes, because no table lists any" }
        func summary(_ streams: [ListedStream]) -> String { streams.map(\.summary).joined(separator: ", ") }
        let others = listed.filter { !$0.isFollowed }
        let rest = others.isEmpty ? "" : "; not followed: \(summary(others))"
        let besides = otherPrograms.isEmpty ? "" : ", one of \(otherPrograms.count + 1)"
        return "program \(programNumber)\(besides) (\(summary(listed.filter(\.isFollowed)))\(rest))"
    }
}

extension ProgramSelection.ListedStream {
    /// "0x1b".
    private var hexStreamType: String { "0x" + String(streamType, radix: 16) }

    fileprivate var summary: String {
        "0x\(String(pid, radix: 16)) \(name ?? "stream type \(hexStreamType)")\(language.map { " \($0)" } ?? "")"
    }
}
