import Testing

@testable import Playlist

/// `read`: the attributes written again, one form for all spellings; nil when they are malformed.
private let rows: [(when: String, text: String, read: String?)] = [
    ("plain", #"A=1,B="x""#, #"A=1,B="x""#),
    (
        "commas and equals signs in quotes", #"CODECS="a,BANDWIDTH=99",BANDWIDTH=1"#,
        #"CODECS="a,BANDWIDTH=99",BANDWIDTH=1"#
    ),
    ("white space around everything", #" A = 1 ,  B = "x" ,C=2 "#, #"A=1,B="x",C=2"#),
    ("white space in quotes stays", #"NAME=" a b ""#, #"NAME=" a b ""#),
    ("an empty quoted value", #"A="",B=1"#, #"A="",B=1"#),
    ("an empty value", "A=,B=1", "A=,B=1"),
    ("stray commas", ",A=1,,B=2,", "A=1,B=2"),
    ("an equals sign in an unquoted value", "URI=http://h/a?b=c", "URI=http://h/a?b=c"),
    (
        "a list without its quotes", "CODECS=avc1.4d401f, mp4a.40.2,BANDWIDTH=1",
        "CODECS=avc1.4d401f,mp4a.40.2,BANDWIDTH=1"
    ),
    ("nothing", "", ""),
    ("a quote that does not close", #"A="x,B=1"#, nil),
    ("one quote alone", #"A=""#, nil),
    ("text after the closing quote", #"A="x"y"#, nil),
    ("text before the opening quote", #"A=x"y""#, nil),
    ("a value without a name", "=1", nil),
    ("a first item without a value", "hello,A=1", nil),
    ("an item after a quoted value", #"A="x",hello"#, nil),
]

@Test(arguments: rows)
func attributeLists(when: String, text: String, read: String?) {
    let attributes = try? AttributeList(parsing: text, line: 7, tag: "EXT-X-MEDIA")
    #expect(attributes?.text == read, "\(when)")
}

@Test func errorNamesPosition() {
    let error = #expect(throws: PlaylistError.self) {
        try AttributeList(parsing: #"A=1,B="x"#, line: 7, tag: "EXT-X-MEDIA")
    }
    #expect(error == PlaylistError(reason: .badValue(#"B="x"#), tag: "EXT-X-MEDIA", line: 7, section: "4.2"))
}

@Test func settingKeepsPosition() {
    var attributes = AttributeList()
    attributes.set("A", to: "1")
    attributes.set("B", to: "2", isQuoted: true)
    attributes.set("A", to: "3")
    #expect(attributes.text == #"A=3,B="2""#)
    attributes.set("A", to: nil)
    #expect(attributes.text == #"B="2""#)
    attributes.set("B", to: #"say "hi""#, isQuoted: true)
    #expect(attributes.text == #"B="say 'hi'""#, "the grammar has no escape")
}
