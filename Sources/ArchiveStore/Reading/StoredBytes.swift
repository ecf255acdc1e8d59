import LiveRing
import Media
import Support

/// Checks that bytes from a store are the ones that were put there, as far as names contain a digest. A proxy, a full
/// disk or another program may have changed them, and caches would keep the wrong bytes forever.
enum StoredBytes {
    /// Whether the bytes of an object of segments have the digest in its name: `<SHA-256>.m4s`.
    static func isObject(_ bytes: [UInt8], named name: String) -> Bool {
        SHA256.digest(of: bytes).map { "\(Hexadecimal.encode($0)).m4s" == name } ?? false
    }

    /// Whether the bytes are those of an init section or of another file that segments share.
    ///
    /// The name contains the hash of the bytes. If the name has another form, only the box structure is checked.
    static func isShared(_ bytes: [UInt8], named name: String) -> Bool {
        if let hash = SpoolName.hash(inNameOfShared: name), hash.utf8.count == 32,
            hash.utf8.allSatisfy({ Hexadecimal.value(ofDigit: $0) != nil })
        {
            return ContentHash.hexName(of: bytes) == hash
        }
        guard !bytes.isEmpty, let boxes = try? BoxReader.wholeBoxes(in: bytes[...]) else { return false }
        return boxes.rest.isEmpty
    }

    /// The header at the beginning of a segment: the boxes before the media data, and the header of `mdat`.
    /// - Returns: nil if the header does not end within the bytes.
    static func header(in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let (boxes, rest) = try? BoxReader.wholeBoxes(in: bytes) else { return nil }
        // `bytes` may contain a whole short segment.
        if let data = boxes.first("mdat") { return bytes[..<data.body.startIndex] }
        var fields = BoxFields(rest)
        guard boxes.first("moof") != nil, let size = try? fields.u32(),
            let type = try? fields.u32(), BoxType(code: type) == "mdat"
        else { return nil }
        if size == 1, (try? fields.u64()) == nil { return nil }
        return bytes[..<fields.index]
    }
}
