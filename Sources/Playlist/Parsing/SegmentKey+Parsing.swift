import Support

extension SegmentKey {
    private static let initializationVectorByteCount = 16

    /// The key that EXT-X-KEY declares; nil for METHOD=NONE.
    ///
    /// Throws if METHOD or URI is missing, or if IV is not a 128-bit number. A guessed key would turn media into noise.
    static func parse(_ attributes: TagAttributes) throws(PlaylistError) -> SegmentKey? {
        guard let method = Method(text: try attributes.required("METHOD")) else { return nil }
        return SegmentKey(
            method: method, uri: try attributes.required("URI"),
            initializationVector: try initializationVector(attributes),
            keyFormat: attributes.list["KEYFORMAT"] ?? identityFormat,
            keyFormatVersions: attributes.list["KEYFORMATVERSIONS"])
    }

    /// The IV attribute. A hexadecimal-sequence is a number (§4.2): missing digits on the left are zeros.
    private static func initializationVector(_ attributes: TagAttributes) throws(PlaylistError) -> [UInt8]? {
        guard let text = attributes.list["IV"] else { return nil }
        let digits = text.utf8.dropFirst(2)
        let missing = 2 * initializationVectorByteCount - digits.count
        guard text.hasPrefix("0x") || text.hasPrefix("0X"), !digits.isEmpty, missing >= 0,
            let bytes = Hexadecimal.decode([UInt8](repeating: ASCII.zero, count: missing) + digits)
        else { throw attributes.badValue("IV") }
        return bytes
    }
}
