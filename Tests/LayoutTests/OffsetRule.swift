/// Refuses stored offsets into bytes that belong to somebody else.
///
/// An offset is worth nothing after the call that got the bytes, and as a subscript it ends the process. So a type of `Demux`
/// stores offsets only if it is a value of one call, or owns the bytes.
enum OffsetRule {
    /// Types that are made and dropped within the call that has the bytes.
    private static let valuesOfOneCall: Set = [
        "TransportPacket", "PacketSync", "NALUnit", "AccessUnit", "SplitAccessUnits", "CodedPicture", "FragmentReader",
        "FramedAudio",
    ]
    /// Types whose offsets are of bytes that they hold, and go away together with them.
    private static let owners: Set = ["VideoSampleWriter", "AudioFragmentFramer"]

    static func findings(in file: SourceFile) -> [String] {
        guard file.path.hasPrefix("Sources/Demux/") else { return [] }
        var type = ""
        return file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap {
            index, line in
            if let declared = line.firstMatch(of: /^(?:\w+ )*(?:struct|enum|extension) (\w+)/) {
                type = String(declared.1)
            }
            guard
                line.contains(
                    /^ {4}(?:[\w()]+ )*(?:var|let) \w+: .*(?:Range<Int>|NALUnit\b|AccessUnit\b|AccessUnits\b|TransportPacket\b|PacketBlock\b)/
                ),
                !line.hasSuffix("{"), !valuesOfOneCall.contains(type), !owners.contains(type)
            else { return nil }
            return file.finding(index + 1, "\(type) stores offsets: copy the bytes, or return the offsets")
        }
    }
}
