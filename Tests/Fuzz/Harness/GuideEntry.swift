import Support

@testable import ChannelList
@testable import Guide

/// Entry for XMLTV guides, on their way to the guide that is published.
enum GuideEntry {
    /// The last byte is the size of the parts in which the text comes.
    static let entry = FuzzEntry(
        "guide", "an XMLTV guide, whole and in parts, and the guide that is written of it", largest: 4096,
        dictionary: [
            "<?xml version=\"1.0\"?>", "<!DOCTYPE tv [", "]>", "<!--", "-->", "<![CDATA[", "]]>", "<channel id=\"a\">",
            "</channel>", "<programme ", "start=\"20260101000000 +0000\" ", "stop=\"", "channel=\"a\">", "</programme>",
            "<display-name>", "<icon src=\"http://", "<title>", "</title>", "/>", "&amp;", "&#x", "&#0;", "<a<",
        ],
        seeds: { _ in guides.map { Array($0.utf8) + [7] } },
        run: { bytes in
            guard let size = bytes.last.map({ Int($0) + 1 }) else { return }
            let text = Array(bytes.dropLast())
            let (whole, counts) = elements(text, partSize: text.count + 1)
            let (parts, _) = elements(text, partSize: size)
            try demand(
                whole.map { Array($0.bytes) } == parts.map { Array($0.bytes) }, "parts of \(size) have other elements")
            try demand(whole.reduce(0) { $0 + $1.bytes.count } <= text.count, "elements overlap")
            try demand(counts.channels + counts.programs == whole.count, "\(counts) of \(whole.count) elements")
            try checkWritten(whole)
        })

    private static func elements(_ text: [UInt8], partSize: Int) -> ([GuideElement], GuideScanner.Counts) {
        var scanner = GuideScanner(limits: limits)
        var elements: [GuideElement] = []
        for start in stride(from: 0, to: text.count, by: partSize) {
            scanner.append(text[start..<min(start + partSize, text.count)])
            while let element = scanner.next() { elements.append(element) }
        }
        scanner.finish()
        while let element = scanner.next() { elements.append(element) }
        return (elements, scanner.counts)
    }

    private static var limits: GuideLimits {
        var limits = GuideLimits()
        limits.elementBytes = 8192
        return limits
    }

    /// Checks that the written guide has the channels and programs that were counted.
    private static func checkWritten(_ elements: [GuideElement]) throws {
        let matcher = GuideMatcher(["a", "b"].map { ListedChannel(name: $0, guideID: $0, sources: []) })
        var index = GuideIndex(matcher, limits: limits)
        for element in elements { index.record(element) }
        var selection = GuideSelection()
        selection.add(index, guide: 0)
        var merge = GuideMerge(matcher, selection, limits: limits)
        var output = merge.head()
        merge.beginGuide()
        for element in elements { merge.append(element, of: 0, to: &output) }
        let document = String(decoding: output + GuideMerge.tail, as: UTF8.self)
        try checkBalance(output + GuideMerge.tail, document)
        let programs = document.ranges(of: "<programme ").count
        try demand(programs >= merge.counts.programs, "\(merge.counts) were written, \(programs) are in\n\(document)")
    }

    /// Checks that every element is closed where it was opened, and that nothing else looks like markup.
    private static func checkBalance(_ output: [UInt8], _ document: String) throws {
        var open: [ArraySlice<UInt8>] = []
        for part in output.split(separator: UInt8(ascii: "<")) {
            guard let end = part.firstIndex(of: UInt8(ascii: ">")) else {
                throw FuzzFinding(description: "a tag has no end in\n\(document)")
            }
            let name = part[..<end].drop { $0 == UInt8(ascii: "/") }.prefix(while: XMLCharacter.isName)
            switch part.first {
            case UInt8(ascii: "?"): continue
            case UInt8(ascii: "/"): try demand(open.popLast() == name, "an end tag has no start in\n\(document)")
            case _ where part[..<end].last == UInt8(ascii: "/"): continue
            default: open.append(name)
            }
        }
        try demand(open.isEmpty, "\(open.count) elements have no end in\n\(document)")
    }

    private static let guides = [
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE tv SYSTEM "xmltv.dtd" [<!ENTITY a "b>"> ]>
        <tv><!-- <channel id="no"> -->
        <channel id="a"><display-name lang="en">A &amp; B</display-name><icon src="http://l/a.png"/></channel>
        <channel id="b"/>
        <programme start="20260101120000 +0100" stop='20260101130000' channel="a"><title>T</title><desc><![CDATA[<x>&]]></desc></programme>
        <programme start="202601011300" channel="b"><title>U</title><sub-title>open</programme>
        <programme channel="a"></programme>
        </tv>
        """,
        "<channel id=a><programme start=\"<programme start=\"2026\" channel='a' / ><a<a<a</programme><channel id=\"b\">",
    ]
}
