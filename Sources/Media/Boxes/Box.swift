/// One box in a byte slice.
package struct Box: Sendable {
    package let type: BoxType
    /// The bytes after the header. Indices are those of the bytes that were read.
    package let body: ArraySlice<UInt8>
    /// Index of the header's first byte.
    package let start: Int

    package init(type: BoxType, body: ArraySlice<UInt8>, start: Int) {
        self.type = type
        self.body = body
        self.start = start
    }
}

extension Box {
    package func children(after fields: Int = 0) throws(MediaError) -> [Box] {
        guard body.count >= fields else { throw BoxFields(body).truncated }
        return try BoxReader.boxes(in: body.dropFirst(fields))
    }

    /// Returns the first box at the end of a path of plain containers.
    /// - Throws: If there is none.
    package func descendant(_ path: BoxType...) throws(MediaError) -> Box {
        var box = self
        for type in path { box = try box.children().require(type) }
        return box
    }
}

extension [Box] {
    package func first(_ type: BoxType) -> Box? { first { $0.type == type } }

    package func require(_ type: BoxType) throws(MediaError) -> Box {
        guard let box = first(type) else {
            throw MediaError(
                .badParameterSet(field: "\(type)"), offset: first?.start ?? 0, section: BoxReader.section)
        }
        return box
    }
}

/// The four-character type of a box (ISO/IEC 14496-12 §4.2).
package struct BoxType: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The four bytes in file order, most significant first.
    let code: UInt32

    package init(code: UInt32) { self.code = code }

    package init(stringLiteral value: String) {
        code = value.utf8.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The four characters; a byte that is not printable ASCII becomes a dot.
    package var description: String {
        String(
            decoding: (0..<4).map { shift in
                let byte = UInt8(truncatingIfNeeded: code >> UInt32(24 - 8 * shift))
                return (0x20...0x7E).contains(byte) ? byte : UInt8(ascii: ".")
            }, as: UTF8.self)
    }
}
