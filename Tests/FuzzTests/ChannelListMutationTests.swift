import FuzzEntries
import TestSupport
import Testing

/// Lists are text with many rules about single characters: seeds of random edits reach most of them without a fuzzer.
@Suite("Edited lists of channels") struct ChannelListMutationTests {
    @Test(
        "No edit breaks a promise of the reader or the writer", arguments: ["channel-list", "configuration"],
        UInt64(1)...40)
    func edits(name: String, seed: UInt64) throws {
        let entry = try #require(FuzzEntry.named(name))
        let seeds = try entry.seeds(CaptureSeeds())
        var random = SeededGenerator(seed: seed)
        for _ in 0..<25 {
            var bytes = seeds[Int.random(in: 0..<seeds.count, using: &random)]
            for _ in 0..<Int.random(in: 1...12, using: &random) { edit(&bytes, entry.dictionary, &random) }
            #expect(throws: Never.self, "\(String(decoding: bytes, as: UTF8.self))") {
                try entry.run(Array(bytes.prefix(entry.largest)))
            }
        }
    }

    private func edit(_ bytes: inout [UInt8], _ words: [FuzzWord], _ random: inout SeededGenerator) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        let end = min(bytes.count, place + Int.random(in: 0..<20, using: &random))
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes.insert(contentsOf: words.randomElement(using: &random)?.bytes ?? [], at: place)
        case 1: bytes.removeSubrange(place..<end)
        case 2: bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &random))
        case 3: bytes.insert(Array("\"',=|&$#; \n\r\t{}:%\\".utf8).randomElement(using: &random) ?? 0, at: place)
        default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
        }
    }
}
