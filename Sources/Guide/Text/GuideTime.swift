import Support

/// Times of XMLTV: `YYYYMMDDhhmmss +hhmm`.
///
/// Readers disagree about any other form: some read `+02:00` as two minutes, and a zone's name as no zone. Therefore
/// each time is written in this form.
enum GuideTime {
    /// A time in the form above; nil if the text is not a time.
    ///
    /// Accepts 8 to 14 digits, or an ISO 8601 date, and a zone: `+0200`, `+02:00`, `+2`, `Z`, or a known name. Without
    /// a zone, or with an unknown one, a time is in UTC, as the DTD says.
    static func normalized(_ text: some Collection<UInt8>) -> [UInt8]? {
        var rest = Array(text)[...]
        var digits: [UInt8] = []
        while let byte = rest.first, digits.count < 14 {
            if isDigit(byte) {
                digits.append(byte)
            } else if !isSeparator(byte, after: digits.count) {
                break
            }
            rest.removeFirst()
        }
        guard digits.count >= 8, digits.count % 2 == 0 else { return nil }
        digits += Array(repeating: UInt8(ascii: "0"), count: 14 - digits.count)
        guard isDate(digits) else { return nil }
        if digits[8..<10].elementsEqual("24".utf8) { digits = midnight(after: digits) }
        // Fractions of a second.
        if rest.first == UInt8(ascii: ".") { rest = rest.dropFirst().drop(while: isDigit) }
        return digits + [UInt8(ascii: " ")] + zone(rest.drop { XMLCharacter.isSpace($0) })
    }

    /// Whether the text is in the form above already.
    static func isNormal(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count == 20, text.prefix(14).allSatisfy(isDigit), text.suffix(4).allSatisfy(isDigit) else {
            return false
        }
        let (space, sign) = (text[text.startIndex + 14], text[text.startIndex + 15])
        return space == 0x20 && (sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"))
    }

    /// Seconds since 1970 of a time in the form above. A field beyond its range carries over into the next larger
    /// field.
    static func seconds(ofNormal text: some Collection<UInt8>) -> Int64 {
        let bytes = Array(text)
        func number(_ places: Range<Int>) -> Int64 { bytes[places].reduce(0) { $0 * 10 + Int64($1) - 0x30 } }
        let month = min(max(number(4..<6), 1), 12)
        let days = CivilDate(year: number(0..<4), month: month, day: number(6..<8)).daysSince1970
        let zone = number(16..<18) * 3600 + number(18..<20) * 60
        let time = number(8..<10) * 3600 + number(10..<12) * 60 + number(12..<14)
        return days * 86_400 + time - (bytes[15] == UInt8(ascii: "-") ? -zone : zone)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// `-` in a date, `T` or a space before the time, `:` in it.
    private static func isSeparator(_ byte: UInt8, after count: Int) -> Bool {
        switch byte {
        case UInt8(ascii: "-"): count == 4 || count == 6
        case UInt8(ascii: "T"), UInt8(ascii: "t"): count == 8
        case UInt8(ascii: ":"): count == 10 || count == 12
        default: false
        }
    }

    private static func isDate(_ digits: [UInt8]) -> Bool {
        func number(_ place: Int) -> Int { Int(digits[place] - 0x30) * 10 + Int(digits[place + 1] - 0x30) }
        // 24:00:00 is the end of a day (ISO 8601-1 §5.3.4).
        let isTime =
            number(8) < 24 ? number(10) < 60 && number(12) < 61 : number(8) == 24 && number(10) + number(12) == 0
        return (1...12).contains(number(4)) && (1...31).contains(number(6)) && isTime
    }

    private static func midnight(after digits: [UInt8]) -> [UInt8] {
        func number(_ places: Range<Int>) -> Int64 { digits[places].reduce(0) { $0 * 10 + Int64($1) - 0x30 } }
        let day = CivilDate(year: number(0..<4), month: number(4..<6), day: number(6..<8))
        let next = CivilDate(daysSince1970: day.daysSince1970 + 1)
        let text =
            DecimalSeconds.padded(next.year.magnitude, to: 4)
            + DecimalSeconds.padded(next.month.magnitude, to: 2) + DecimalSeconds.padded(next.day.magnitude, to: 2)
        return Array((text + "000000").utf8)
    }

    private static func zone(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard let sign = text.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else {
            let name = String(decoding: text.prefix { !XMLCharacter.isSpace($0) }, as: UTF8.self)
            return Array((zones[name.uppercased()] ?? "+0000").utf8)
        }
        var digits = text.dropFirst().filter { $0 != UInt8(ascii: ":") }.prefix(while: isDigit)
        if digits.count == 1 || digits.count == 3 { digits = [0x30] + digits }
        if digits.count == 2 { digits += [0x30, 0x30] }
        guard digits.count == 4 else { return Array("+0000".utf8) }
        return [sign] + digits
    }

    /// Zone names that mean the same offset everywhere in guides.
    private static let zones = [
        "WEST": "+0100", "BST": "+0100", "CET": "+0100", "MET": "+0100", "CEST": "+0200", "MEST": "+0200",
        "EET": "+0200", "EEST": "+0300", "MSK": "+0300", "AEST": "+1000", "AEDT": "+1100", "NZST": "+1200",
        "NZDT": "+1300", "JST": "+0900", "EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
        "MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700", "AKST": "-0900", "AKDT": "-0800",
        "HST": "-1000", "AST": "-0400", "ADT": "-0300", "BRT": "-0300", "ART": "-0300",
    ]
}
