import Testing

@testable import Support

private let decodeRows: [(digits: String, bytes: [UInt8]?)] = [
    ("", []), ("00ff", [0, 255]), ("0A0b", [10, 11]), ("0", nil), ("0g", nil), ("0x00", nil), ("٣٣", nil),
]

@Test(arguments: decodeRows)
func decodesHexadecimal(digits: String, bytes: [UInt8]?) { #expect(Hexadecimal.decode(digits.utf8) == bytes) }

@Test func encodesHexadecimal() {
    #expect(Hexadecimal.encode([0, 0xAB, 0x1F]) == "00ab1f")
    #expect(Hexadecimal.encode([0, 0xAB, 0x1F], uppercase: true) == "00AB1F")
    #expect(Hexadecimal.encode([]).isEmpty)
}

private let percentRows: [(text: String, decoded: String?)] = [
    ("plain+text", "plain+text"), ("a%20b%2Fc", "a b/c"), ("%C3%a9", "é"), ("", ""), ("%", nil), ("%2", nil),
    ("%2G", nil), ("%C3", nil), ("100%", nil),
]

@Test(arguments: percentRows)
func decodesPercentEncoding(text: String, decoded: String?) { #expect(PercentEncoding.decode(text[...]) == decoded) }

private let dateRows: [(days: Int64, date: CivilDate)] = [
    (0, CivilDate(year: 1970, month: 1, day: 1)), (-1, CivilDate(year: 1969, month: 12, day: 31)),
    (59, CivilDate(year: 1970, month: 3, day: 1)), (11_016, CivilDate(year: 2000, month: 2, day: 29)),
    (20_455, CivilDate(year: 2026, month: 1, day: 2)), (-719_468, CivilDate(year: 0, month: 3, day: 1)),
]

@Test(arguments: dateRows)
func convertsCivilDates(days: Int64, date: CivilDate) {
    #expect(CivilDate(daysSince1970: days) == date)
    #expect(date.daysSince1970 == days)
}
