import TestSupport
import Testing

@testable import Tracker

private let packet: [UInt8] = [0x47] + Array(repeating: 0xFF, count: 187)

private func box(_ type: String, _ payload: Int, size: UInt32? = nil) -> [UInt8] {
    let size = size ?? UInt32(payload + 8)
    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) } + Array(type.utf8)
        + Array(repeating: 0, count: payload)
}

private let longBox: [UInt8] = box("mdat", 0, size: 1) + [0, 0, 0, 0, 0, 0, 0, 20] + [1, 2, 3, 4]

private let rows: [(when: String, body: [UInt8], isEncrypted: Bool, isCut: Bool)] = [
    ("whole packets", packet + packet + packet, false, false),
    ("one packet", packet, false, false),
    ("half a packet", packet + packet + packet.prefix(90), false, true),
    ("less than one packet", Array(packet.prefix(90)), false, true),
    ("another thing that begins with 0x47", [0x47] + Array(repeating: 1, count: 300), false, false),
    ("whole boxes", box("moof", 20) + box("mdat", 100), false, false),
    ("a box that reaches to the end", box("styp", 4) + box("mdat", 50, size: 0), false, false),
    ("a box with a long size", box("moof", 20) + longBox, false, false),
    ("a box cut short", box("moof", 20) + box("mdat", 100).dropLast(), false, true),
    ("a long box cut short", box("moof", 20) + longBox.dropLast(), false, true),
    ("a header cut short", box("moof", 20) + box("mdat", 0).prefix(6), false, true),
    ("a long header cut short", box("moof", 20) + longBox.prefix(12), false, true),
    ("a box smaller than its header", box("moof", 20) + box("mdat", 0, size: 7), false, true),
    ("a box larger than any file", box("moof", 20) + box("mdat", 8, size: 1).map { $0 == 0 ? 0xFF : $0 }, false, true),
    ("whole cipher blocks", Array(repeating: 9, count: 32), true, false),
    ("half a cipher block", Array(repeating: 9, count: 40), true, true),
    ("encrypted, and by chance like packets", packet + packet, true, true),
    ("packed audio, of which nothing is known", [0xFF, 0xF1, 0x50], false, false),
    ("text", Array("WEBVTT".utf8), false, false),
]

@Test(arguments: rows.indices) func mediaThatIsCut(_ index: Int) {
    #expect(
        rows[index].body.isTruncated(isEncrypted: rows[index].isEncrypted) == rows[index].isCut, "\(rows[index].when)")
}

@Test func noBytesTrap() {
    var generator = SeededGenerator(seed: 7)
    let samples = rows.map(\.body)
    for _ in 0..<20_000 {
        var body = samples[Int.random(in: 0..<samples.count, using: &generator)]
        if body.isEmpty { continue }
        for _ in 0..<4 {
            body[Int.random(in: 0..<body.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        _ = Array(body.prefix(Int.random(in: 0...body.count, using: &generator))).isTruncated(isEncrypted: false)
    }
}

private let messages: [(when: String, body: String, isMessage: Bool)] = [
    ("a page", "<!DOCTYPE html><p>soon", true), ("a page in capitals", "<HTML><BODY>", true),
    ("a page after blank lines", "\r\n\t <html>", true), ("a page after a byte order mark", "\u{FEFF}<html>", true),
    ("an error of an object store", "<?xml version=\"1.0\"?><Error/>", true), ("a short error", "<Error/>", true),
    ("an error in JSON", "{\"error\":\"expired\"}", true), ("a list in JSON", "[ {\"code\": 403} ]", true),
    ("a playlist", "#EXTM3U\n#EXT-X-VERSION:3", true), ("subtitles", "WEBVTT\n\n", false),
    ("subtitles after a byte order mark", "\u{FEFF}WEBVTT", false), ("nothing", "", false), ("blanks", "  \n", false),
    ("a shape of bytes", "<<<<<<<<<<<<<<<<", false), ("bytes that begin like a page", "<\u{1}\u{2}\u{3}", false),
    ("bytes that begin like JSON", "{\u{7F}aaaaaaaaaaaaaa", false),
]

@Test(arguments: messages.indices) func messagesWhereMediaWasDue(_ index: Int) {
    #expect(Array(messages[index].body.utf8).looksLikeText == messages[index].isMessage, "\(messages[index].when)")
}

@Test func randomBytesAreHardlyEverAMessage() {
    var generator = SeededGenerator(seed: 3)
    let count = (0..<100_000).count { _ in
        (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }.looksLikeText
    }
    #expect(count == 0)
}
