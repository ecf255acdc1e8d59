import TestSupport
import Testing

@testable import Guide

/// A guide, and what of it is found: `c` and `p` with the id of each element.
private let guides: [(when: String, text: String, finds: [String], damaged: Int)] = [
    (
        "as it should be",
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE tv SYSTEM "xmltv.dtd">
        <tv generator-info-name="x">
          <channel id="a"><display-name>A</display-name></channel>
          <programme start="1" channel="a"><title>T</title></programme>
        </tv>
        """, ["c a", "p a"], 0
    ),
    (
        "without a header and an end", "<channel id='a'/><programme channel='a'></programme><programme channel='b'>",
        ["c a", "p a"], 1
    ),
    (
        "a DTD that declares elements and entities",
        """
        <!DOCTYPE tv [<!ENTITY a "<programme channel='x'></programme>"> <!ENTITY b "&a;&a;&a;"> <!ELEMENT tv ANY>]>
        <tv><programme channel="a">&b;</programme></tv>
        """, ["p a"], 0
    ),
    ("comments", "<!-- <channel id=\"x\"/> --><channel id=\"a\"/><!-- ->-- -->", ["c a"], 0),
    (
        "an end tag inside of a comment and of character data",
        "<programme channel=\"a\"><!-- </programme> --><desc><![CDATA[ </programme> ]]></desc></programme>", ["p a"], 0
    ),
    ("an instruction", "<?x <channel id='x'/> ?><channel id='a'/>", ["c a"], 0),
    (
        "no end tag before the next element", "<programme channel='a'><title>T<programme channel='b'></programme>",
        ["p b"], 1
    ),
    ("a greater sign in a value", "<programme title='a > b' channel=\"a\"><title/></programme>", ["p a"], 0),
    (
        "a quote that is not closed", "<programme start='1 channel=\"a\"><title/></programme><channel id='b'/>",
        ["p -", "c b"], 0
    ),
    ("a start tag inside of another", "<programme start='1' <programme channel='b'></programme>", ["p b"], 1),
    ("a quote that is open up to the next element", "<programme start='1><channel id='b'/>", ["c b"], 1),
    ("an open quote with a less sign", "<programme a='<x> channel=\"a\"><y/></programme>", ["p -"], 0),
    ("a less sign in a start tag", "<programme < channel='a'></programme>", ["p a"], 0),
    ("other elements with such names", "<channels/><programmed/><channel-x id='a'/>", [], 0),
    ("an empty one", "", [], 0),
    ("no guide", "<html><body>Not found</body></html>", [], 0),
    ("a cut at the end of a tag", "<channel id='a'", [], 1),
    ("an open comment", "<channel id='a'/><!-- <channel id='b'/>", ["c a"], 0),
    ("space in tags", "<channel\n id = 'a'\t></channel ><programme\nchannel='a'/>", ["c a", "p a"], 0),
]

@Suite("Finding elements of XMLTV") struct GuideScannerTests {
    /// Scans a text in parts of `size` bytes.
    private func scan(_ text: String, size: Int, limits: GuideLimits = GuideLimits()) -> ([String], GuideScanner.Counts)
    {
        var scanner = GuideScanner(limits: limits)
        var found: [String] = []
        func collect() {
            while let element = scanner.next() {
                let id = element.rawID.map { String(decoding: $0, as: UTF8.self) } ?? "-"
                found.append((element.kind == .channel ? "c " : "p ") + id)
            }
        }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            scanner.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            collect()
        }
        scanner.finish()
        collect()
        return (found, scanner.counts)
    }

    @Test("In parts of any size", arguments: guides)
    func elements(when: String, text: String, finds: [String], damaged: Int) {
        for size in [1, 2, 3, 7, 16, 1000, 1 << 20] {
            let (found, counts) = scan(text, size: size)
            #expect(found == finds, "\(when), in parts of \(size)")
            #expect(counts.damaged == damaged, "\(when), in parts of \(size)")
        }
    }

    @Test("An element that is too long costs only itself") func longElement() {
        var limits = GuideLimits()
        limits.elementBytes = 100
        let long = String(repeating: "x", count: 500)
        let text = "<programme channel='a'>\(long)</programme><programme channel='b'></programme>"
        for size in [10, 1000] {
            let (found, counts) = scan(text, size: size, limits: limits)
            #expect(found == ["p b"] && counts.damaged == 1)
        }
    }

    @Test("Any bytes are read without harm, in any parts alike") func anyBytes() {
        var random = SeededGenerator(seed: 14)
        let words = [
            "<", ">", "<programme", "<channel", " channel='a'", " id=\"b\"", "/>", "</programme>", "</channel>", "<!--",
            "-->", "<![CDATA[", "]]>", "<!DOCTYPE", "[", "]", "'", "\"", "<?", "?>", "&amp;", "x", "\n",
        ]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                words[Int.random(in: 0..<words.count, using: &random)]
            }.joined()
            let whole = scan(text, size: 1 << 20)
            let parts = scan(text, size: Int.random(in: 1...9, using: &random))
            #expect(whole.0 == parts.0 && whole.1 == parts.1, "\(text)")
        }
    }
}

private let times: [(text: String, time: String?)] = [
    ("20261122140000 +0100", "20261122140000 +0100"), ("20261122140000", "20261122140000 +0000"),
    ("202611221400", "20261122140000 +0000"), ("2026112214 -0330", "20261122140000 -0330"),
    ("20261122", "20261122000000 +0000"), ("20261122140000 +02:00", "20261122140000 +0200"),
    ("20261122140000+0200", "20261122140000 +0200"), ("20261122140000 +2", "20261122140000 +0200"),
    ("20261122140000 BST", "20261122140000 +0100"), ("20261122140000 GMT", "20261122140000 +0000"),
    ("20261122140000 Z", "20261122140000 +0000"), ("20261122140000 Mars", "20261122140000 +0000"),
    ("2026-11-22T14:00:00Z", "20261122140000 +0000"), ("2026-11-22T14:00:00.000+01:00", "20261122140000 +0100"),
    ("2026-11-22T14:00-05:00", "20261122140000 -0500"), ("20261122140060 +0000", "20261122140060 +0000"),
    ("20280228240000 +0100", "20280229000000 +0100"), ("2027123124", "20280101000000 +0000"),
    ("2028-02-29T24:00:00Z", "20280301000000 +0000"), ("20280229240100", nil),
    ("", nil), ("now", nil), ("2026", nil), ("20261322140000", nil), ("20261100140000", nil), ("20261122250000", nil),
    ("2026112", nil), ("20261122140000 +12345", "20261122140000 +0000"),
]

@Test("Times get the one form that every reader knows", arguments: times)
func guideTime(text: String, time: String?) {
    #expect(GuideTime.normalized(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } == time)
    if let time { #expect(GuideTime.isNormal(Array(time.utf8)[...])) }
}

private let programs: [(when: String, content: String, written: String)] = [
    ("plain", "<title lang=\"en\">News</title>", "<title lang=\"en\">News</title>"),
    ("quotes", "<title lang='a\"b'>\"x\"</title>", "<title lang=\"a&quot;b\">&quot;x&quot;</title>"),
    ("references", "&amp;&lt;&#65;&#x41;&apos;", "&amp;&lt;&#65;&#x41;&apos;"),
    ("ampersands", "Tom & Jerry &nbsp; &#0; &#xD800; &a", "Tom &amp; Jerry &amp;nbsp; &amp;#0; &amp;#xD800; &amp;a"),
    ("character data", "<desc><![CDATA[a < b & c &amp; d]]></desc>", "<desc>a &lt; b &amp; c &amp;amp; d</desc>"),
    ("comments and instructions", "a<!-- x -->b<?y?>c<!z>d", "abcd"),
    ("not closed", "<desc>a<br>b</desc><title>c", "<desc>a<br>b</br></desc><title>c</title>"),
    ("closed twice", "<title>a</title></title>b", "<title>a</title>b"),
    ("a sign that is no tag", "a < b <3 c", "a &lt; b &lt;3 c"),
    ("a tag without its end", "a<desc", "a&lt;desc"),
    ("empty elements", "<new/><icon src='http://i' src='x'/>", "<new/><icon src=\"http://i\"/>"),
    ("control characters", "a\u{1}b\u{0}c", "abc"),
    ("an attribute without a value", "<a b c='d'/>", "<a c=\"d\"/>"),
    ("an attribute that begins with a digit", "<a 1='d' e='f'/>", "<a e=\"f\"/>"),
    ("unknown elements", "<y z='1'>t</y>", "<y z=\"1\">t</y>"),
    ("prefixes, which nothing declares", "<x:y x:z='1' xml:lang='de'>t</x:y>", "<x z=\"1\" lang=\"de\">t</x>"),
    ("names that are none", "<é/><a ü='1' ö-b='2'/>", "&lt;é/&gt;<a b=\"2\"/>"),
    ("characters that no document may have", "a\u{FFFE}b\u{FFFF}c\u{FFFD}ﬀ", "abc\u{FFFD}ﬀ"),
]

@Suite("Writing programs of other guides") struct GuideElementWriterTests {
    private func write(_ bytes: [UInt8]) throws -> (isWritten: Bool, text: String) {
        var scanner = GuideScanner()
        scanner.append(bytes)
        scanner.finish()
        let next = scanner.next()
        let element = try #require(next)
        var output: [UInt8] = []
        let program = GuideElementWriter.program(element, limits: GuideLimits())
        program?.append(channel: Array("me&amp;you".utf8), to: &output)
        return (program != nil, String(decoding: output, as: UTF8.self))
    }

    @Test(arguments: programs)
    func content(when: String, content: String, written: String) throws {
        let text = "<programme start=\"20261122140000 +0000\" channel=\"a\">\(content)</programme>"
        let head = "<programme start=\"20261122140000 +0000\" channel=\"me&amp;you\">"
        #expect(try write(Array(text.utf8)).text == head + written + "</programme>\n", "\(when)")
    }

    @Test("Attributes stay, with times in one form") func attributes() throws {
        let text = "<programme channel='a' stop='x' start='202611221400' catchup-id='7' start='2'/>"
        #expect(
            try write(Array(text.utf8)).text
                == "<programme start=\"20261122140000 +0000\" catchup-id=\"7\" channel=\"me&amp;you\"></programme>\n")
        #expect(try write(Array("<programme channel='a' start='soon'/>".utf8)) == (false, ""))
        #expect(try write(Array("<programme channel='a'/>".utf8)) == (false, ""))
    }

    @Test("Bytes that are not UTF-8 are Windows-1252") func foreignBytes() throws {
        let bytes =
            Array("<programme start='20261122' channel='a'><title>T".utf8) + [0xE9, 0x80]
            + Array("</title></programme>".utf8)
        let text = try write(bytes).text
        #expect(text.contains("<title>Té€</title>"))
    }

    @Test("A program holds no other program") func nestedProgram() throws {
        let text =
            "<programme start='20261122' channel='a'></progr<![CDATA[> <programme start='2'>x</programme> ]]></programme>"
        let written = try write(Array(text.utf8)).text
        #expect(written.ranges(of: "<programme").count == 1 && written.ranges(of: "</programme>").count == 1)
    }

    @Test("Deep nesting is cut") func depth() throws {
        let deep = String(repeating: "<a>", count: 5000)
        let text = try write(Array("<programme start='20261122' channel='a'>\(deep)</programme>".utf8)).text
        #expect(
            text.matches(of: /<a>/).count == GuideLimits().depth
                && text.matches(of: /<\/a>/).count == GuideLimits().depth)
    }
}
