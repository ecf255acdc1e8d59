import Testing

@testable import Playlist
@testable import Support

private func range(_ text: String) throws -> DateRange {
    let attributes = try AttributeList(parsing: text, line: 1, tag: "EXT-X-DATERANGE")
    return DateRange(id: attributes["ID"] ?? "", attributes: attributes)
}

private let endRows: [(when: String, text: String, end: String?)] = [
    (
        "an end", #"ID="a",START-DATE="2026-01-02T03:04:05Z",END-DATE="2026-01-02T03:05:05Z""#,
        "2026-01-02T03:05:05.000Z"
    ),
    ("a length", #"ID="a",START-DATE="2026-01-02T03:04:05Z",DURATION=30.5"#, "2026-01-02T03:04:35.500Z"),
    ("only a planned duration", #"ID="a",START-DATE="2026-01-02T03:04:05Z",PLANNED-DURATION=30"#, nil),
    ("an unreadable end", #"ID="a",START-DATE="2026-01-02T03:04:05Z",END-DATE="soon""#, nil),
    ("a length without a start", #"ID="a",DURATION=30"#, nil),
]

@Test(arguments: endRows)
func endOfRange(when: String, text: String, end: String?) throws {
    #expect(try range(text).end?.text == end, "\(when)")
}

@Test func attributesRoundTrip() throws {
    var value = DateRange(id: "b")
    value.startDate = ProgramDateTime(parsing: "2026-01-02T03:04:05.006Z")
    value.plannedDuration = .milliseconds(30_500)
    value[splice: .out] = [0xFC, 0x30, 0x0A]
    #expect(
        value.attributes.text
            == #"ID="b",START-DATE="2026-01-02T03:04:05.006Z",PLANNED-DURATION=30.5,SCTE35-OUT=0xFC300A"#)
    let read = try range(value.attributes.text)
    #expect(read == value && read[splice: .out] == [0xFC, 0x30, 0x0A] && read[splice: .in] == nil)
    value.plannedDuration = nil
    #expect(value.plannedDuration == nil && value.attributes["PLANNED-DURATION"] == nil)
}

private let additionRows: [(when: String, old: String, new: String, both: String, refused: [String])] = [
    ("an end is added", #"ID="a",X-N=1"#, #"ID="a",DURATION=5"#, #"ID="a",X-N=1,DURATION=5"#, []),
    ("nothing new", #"ID="a",X-N=1"#, #"ID="a",X-N=1"#, #"ID="a",X-N=1"#, []),
    ("another value", #"ID="a",X-N=1"#, #"ID="a",X-N=2,X-M=3"#, #"ID="a",X-N=1,X-M=3"#, ["X-N"]),
    ("less", #"ID="a",X-N=1"#, #"ID="a""#, #"ID="a",X-N=1"#, []),
]

@Test(arguments: additionRows)
func addsMissingAttributes(when: String, old: String, new: String, both: String, refused: [String]) throws {
    var value = try range(old)
    #expect(value.add(try range(new)) == refused, "\(when)")
    #expect(value.attributes.text == both, "\(when)")
}

@Test(arguments: ["", "0x", "0x1", "0x1g", "FC", "0xFC 30"])
func refusesInvalidHexadecimal(text: String) { #expect(SpliceSectionText.decodeHexadecimal(text) == nil) }

@Test func base64IsReadWithAndWithoutPadding() {
    #expect(SpliceSectionText.decodeBase64("/DAl") == [0xFC, 0x30, 0x25])
    #expect(SpliceSectionText.decodeBase64("/DA=") == [0xFC, 0x30])
    #expect(SpliceSectionText.decodeBase64("/DA") == [0xFC, 0x30])
    #expect(SpliceSectionText.decodeBase64("") == nil)
    #expect(SpliceSectionText.decodeBase64("/D A") == nil)
}
