import Support

/// Reads the moments in the URLs of catch-up clients. All are UTC unless they bear a zone.
enum ArchiveStamp {
    /// Seconds since 1970; 13 digits are milliseconds. nil for other text.
    static func moment(_ text: Substring) -> ProgramDateTime? {
        guard isNumber(text), text.utf8.count <= 13, let number = Int64(text) else { return nil }
        return ProgramDateTime(millisecondsSince1970: text.utf8.count == 13 ? number : number * 1000)
    }

    static func isNumber(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { ASCII.zero...ASCII.nine ~= $0 }
    }

    /// A date in one of the forms in use; nil for other text.
    ///
    /// `2026-01-02:03-04`, also with seconds, with a colon, an underscore, a space, a plus or T after the day, and with
    /// colons in the time; ISO 8601; `20260102030405`; 10 or 13 digits as `moment` reads them.
    static func date(_ text: Substring) -> ProgramDateTime? {
        if isNumber(text) { return text.utf8.count == 14 ? compactDate(text) : moment(text) }
        let bytes = Array(text.utf8)
        guard bytes.count >= 16, separators.contains(bytes[10]), bytes[13] == ASCII.minus || bytes[13] == ASCII.colon
        else { return nil }
        var (time, rest) = ([bytes[11..<13], bytes[14..<16]], bytes[16...])
        if let first = rest.first, first == bytes[13], rest.count >= 3 {
            time.append(rest.dropFirst().prefix(2))
            rest = rest.dropFirst(3)
        } else {
            time.append("00".utf8.map(\.self)[...])
        }
        let joined = bytes[..<10] + [UInt8(ascii: "T")] + time.joined(separator: [ASCII.colon])
        // A plus that no client has escaped arrives as a space.
        return ProgramDateTime(parsing: joined + rest.map { $0 == ASCII.space ? UInt8(ascii: "+") : $0 })
    }

    /// After the day.
    private static let separators = Set(":_ +Tt".utf8)

    private static func compactDate(_ digits: Substring) -> ProgramDateTime? {
        let text = Array(digits.utf8)
        let day = [text[0..<4], text[4..<6], text[6..<8]].joined(separator: [ASCII.minus])
        let time = [text[8..<10], text[10..<12], text[12..<14]].joined(separator: [ASCII.colon])
        return ProgramDateTime(parsing: Array(day) + [UInt8(ascii: "T")] + Array(time))
    }
}
