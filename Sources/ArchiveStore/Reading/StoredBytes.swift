import LiveRing
import Media
import Support

/// Whether bytes of a store are those that were put there, as far as their names say it. A proxy, a full disk or another
/// program may have left others, and caches would keep those for ever.
enum StoredBytes {
    /// Whether the bytes of an object of segments have the digest that is its name: `<SHA-256>.m4s`.
    static func isObject(_ bytes: [UInt8], named name: String) -> Bool {
        SHA256.digest(of: bytes).map { "\(Hexadecimal.encode($0)).m4s" == name } ?? false
    }

    /// Whether the bytes are those of an init section or of another file that segments share.
    ///
    /// Its name has the hash of its bytes. A name of another form says nothing, but such a file consists of boxes.
    static func isShared(_ bytes: [UInt8], named name: String) -> Bool {
        if let hash = SpoolName.hash(inNameOfShared: name), hash.utf8.count == 32,
            hash.utf8.allSatisfy({ Hexadecimal.value(ofDigit: $0) != nil })
        {
            return ContentHash.hexName(of: bytes) == hash
        }
        guard !bytes.isEmpty, let boxes = try? BoxReader.wholeBoxes(in: bytes[...]) else { return false }
        return boxes.rest.isEmpty
    }

    /// The header at the beginning of a segment: its boxes before the media data, and the header of that.
    /// - Returns: nil if the header does not end within the bytes.
    static func header(in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let (boxes, rest) = try? BoxReader.wholeBoxes(in: bytes) else { return nil }
        // All of a short segment may be there.
        if let data = boxes.first("mdat") { return bytes[..<data.body.startIndex] }
        var fields = BoxFields(rest)
        guard boxes.first("moof") != nil, let size = try? fields.u32(),
            let type = try? fields.u32(), BoxType(code: type) == "mdat"
        else { return nil }
        if size == 1, (try? fields.u64()) == nil { return nil }
        return bytes[..<fields.index]
    }
}
