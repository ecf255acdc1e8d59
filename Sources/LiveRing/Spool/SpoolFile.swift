/// A file of the spool: a segment, an init section or a segment's subtitles. Its bytes never change under its name.
package struct SpoolFile: Hashable, Sendable {
    package let name: String
    package let byteCount: Int

    package init(name: String, byteCount: Int) {
        self.name = name
        self.byteCount = byteCount
    }
}

/// The names that files of the spool have. Only such files are ever removed from a spool directory.
enum SpoolName {
    static let journal = "ring.m3u8"
    static let lock = "ring.lock"
    /// What stood in a journal of which a part cannot be read, for who wants to look.
    static let damagedJournal = "ring.m3u8.damaged"
    /// Added to the name of a file that is not whole yet.
    static let partSuffix = ".part"

    /// `seg-<media sequence>-<fingerprint>.m4s`. The number makes a directory readable. The fingerprint, taken over
    /// the fragment's header (decode times and the size of every sample), keeps a cache from answering with the
    /// bytes of an older ring that began at the same number.
    static func segment(mediaSequence: UInt64, header: [UInt8]) -> String {
        "seg-\(mediaSequence)-\(hexFingerprint(header)).m4s"
    }

    /// The media sequence number in the name of a segment file; nil for any other name.
    static func mediaSequence(ofSegment name: some StringProtocol) -> UInt64? {
        guard name.hasPrefix("seg-"), name.hasSuffix(".m4s") else { return nil }
        return mediaSequence(in: name.dropFirst(4).dropLast(4))
    }

    /// `sub-<rendition>-<media sequence>-<fingerprint>.vtt`, the fingerprint taken over all of it.
    static func subtitles(rendition: Int, mediaSequence: UInt64, bytes: [UInt8]) -> String {
        "sub-\(rendition)-\(mediaSequence)-\(hexFingerprint(bytes)).vtt"
    }

    /// Which rendition's and which segment's subtitles a file of that name holds; nil for any other name.
    static func subtitles(named name: some StringProtocol) -> (rendition: Int, mediaSequence: UInt64)? {
        guard name.hasPrefix("sub-"), name.hasSuffix(".vtt") else { return nil }
        let middle = name.dropFirst(4).dropLast(4)
        guard let dash = middle.firstIndex(of: "-"), let rendition = number(middle[..<dash]),
            let sequence = mediaSequence(in: middle[middle.index(after: dash)...])
        else { return nil }
        return (rendition, sequence)
    }

    /// `subs-<rendition>.m3u8`: the journal of a rendition's subtitles, and the playlist of them.
    static func subtitleJournal(_ rendition: Int) -> String { "subs-\(rendition).m3u8" }

    /// The rendition in a name that `subtitleJournal` gave.
    static func rendition(ofSubtitleJournal name: some StringProtocol) -> Int? {
        guard name.hasPrefix("subs-"), name.hasSuffix(".m3u8") else { return nil }
        return number(name.dropFirst(5).dropLast(5))
    }

    private static func number(_ digits: some StringProtocol) -> Int? {
        guard (1...4).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(digits)
    }

    /// `<media sequence>-<fingerprint>`
    private static func mediaSequence(in text: some StringProtocol) -> UInt64? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].count == 8, parts[1].allSatisfy(isAlphanumeric) else { return nil }
        // Above this a number cannot be one of ours, and counting on from it could not go well.
        return UInt64(parts[0]).flatMap { $0 < UInt64(Int64.max) ? $0 : nil }
    }

    static func isInitialization(_ name: some StringProtocol) -> Bool {
        guard name.hasPrefix("init-"), name.hasSuffix(".mp4"), name.utf8.count <= 100 else { return false }
        let middle = name.dropFirst(5).dropLast(4)
        return !middle.isEmpty && middle.allSatisfy(isAlphanumeric)
    }

    /// Whether a file of that name can only have come from a ring.
    static func isRingFile(_ name: String) -> Bool {
        if name == journal + partSuffix { return true }
        let whole = name.hasSuffix(partSuffix) ? name.dropLast(partSuffix.count) : name[...]
        return isInitialization(whole) || mediaSequence(ofSegment: whole) != nil || subtitles(named: whole) != nil
            || rendition(ofSubtitleJournal: whole) != nil
    }

    private static func isAlphanumeric(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber)
    }

    /// FNV-1a, 32 bits, in eight digits.
    static func hexFingerprint(_ bytes: some Sequence<UInt8>) -> String {
        let fingerprint = bytes.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let hex = String(fingerprint, radix: 16)
        return String(repeating: "0", count: 8 - hex.count) + hex
    }
}
