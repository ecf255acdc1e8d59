import Testing

@testable import DASH

@Suite("Templates of segment URLs") struct URLTemplateTests {
    static let rows: [(when: String, text: String, is: String?)] = [
        ("every identifier", "a/$RepresentationID$/$Bandwidth$/$Number$-$Time$.m4s", "a/v1/900/7-180000.m4s"),
        ("widths", "$Number%05d$_$Time%08d$_$Bandwidth%02d$", "00007_00180000_900"),
        ("a dollar sign", "a$$b$Number$", "a$b7"),
        ("no identifier", "a.mp4", "a.mp4"),
        ("an identifier that does not end", "a$Number", nil),
        ("an unknown identifier", "$SubNumber$", nil),
        ("an identifier without a width", "$RepresentationID%03d$", nil),
        ("a width beyond all reason", "$Number%099d$", nil),
        ("a hexadecimal width", "$Number%05x$", nil),
        ("too many identifiers", String(repeating: "$Number$", count: 100), nil),
    ]

    @Test(arguments: rows) func text(when: String, text: String, is expected: String?) {
        #expect(URLTemplate(text)?.text(id: "v1", bandwidth: 900, number: 7, time: 180_000) == expected, "\(when)")
    }
}
