import Playlist

/// A journal's text taken apart before anything of it is read: its head, and records each of which says by a checksum
/// whether it is whole.
///
/// Each record stands for itself, so damage costs the records that it is in and no other.
struct ChecksummedJournal {
    /// Begins a record: the checksum of its other lines follows, eight hexadecimal digits.
    private static let recordTag = "#LIVERELAY-RECORD:"
    private static let endTag = "#" + PlaylistTag.endList.rawValue

    /// The lines of the head, and of every whole record.
    let intactBytes: [UInt8]
    /// Nothing was to follow, and nothing does.
    let hasEnded: Bool
    /// Something is neither. A record that breaks off at the end, as a kill leaves it, is no damage.
    let isDamaged: Bool

    /// - Parameter format: the last line of the head, without its end.
    /// - Returns: nil where it is not there.
    init?(_ bytes: [UInt8], format: String) {
        // Zeros are what a power cut leaves where text was.
        var (taken, hasEnded, isDamaged) = ([UInt8](), false, bytes.contains(0))
        var isInHead = true
        var record: (sum: ArraySlice<UInt8>, beginning: Int)?
        for line in Self.lines(of: bytes) {
            let content = line.dropLast()
            if isInHead {
                taken += line
                isInHead = !content.elementsEqual(format.utf8)
            } else if content.starts(with: Self.recordTag.utf8) {
                isDamaged = isDamaged || record != nil
                record = (content.dropFirst(Self.recordTag.utf8.count), line.endIndex)
                hasEnded = false
            } else if let (sum, beginning) = record {
                guard let first = content.first, first != UInt8(ascii: "#") else { continue }
                let lines = bytes[beginning..<line.endIndex]
                if sum.elementsEqual(SpoolName.hexFingerprint(lines).utf8) { taken += lines } else { isDamaged = true }
                record = nil
            } else {
                hasEnded = content.elementsEqual(Self.endTag.utf8)
                isDamaged = isDamaged || !hasEnded
            }
        }
        guard !isInHead else { return nil }
        (intactBytes, self.hasEnded, self.isDamaged) = (taken, hasEnded, isDamaged)
    }

    /// The lines of one segment, and what tells that they are whole.
    static func prependingChecksum(to lines: String) -> String {
        "\(recordTag)\(SpoolName.hexFingerprint(lines.utf8))\n\(lines)"
    }

    /// With their ends; what has none is no line yet.
    private static func lines(of bytes: [UInt8]) -> some Sequence<ArraySlice<UInt8>> {
        sequence(state: bytes[...]) { rest -> ArraySlice<UInt8>? in
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            defer { rest = rest[(end + 1)...] }
            return rest[...end]
        }
    }
}
