import StoreTestSupport
import Testing

@testable import ArchiveStore
@testable import LiveRing
@testable import Support

@Test func anIndexIsReadBack() throws {
    var index = head
    for n in 5..<400 { index.append(.numbered(n), isLost: n == 7) }
    let digest = String(repeating: "0a", count: 32) + ".m4s"
    index.append(
        ArchiveIndex.Object(name: digest, files: [5, 6].map { RingEntry.numbered($0).segment }))
    let read = try ArchiveIndex(index.text, name: "index")
    #expect(read == index)
    #expect(read.entries.map(\.isGap) == (5..<400).map { $0 == 7 })
    let name = RingEntry.numbered(6).segment.name
    #expect(read.places[name] == ArchiveIndex.Place(object: 0, start: 105))
}

private let badIndexes: [(what: String, line: String)] = [
    ("an object of another name", "#LIVERELAY-OBJECT:../../x seg-1-0a0a0a0a.m4s:5"),
    ("a file of another name", "#LIVERELAY-OBJECT:\(String(repeating: "0", count: 64)).m4s passwd:5"),
    ("a negative size", "#LIVERELAY-OBJECT:\(String(repeating: "0", count: 64)).m4s seg-1-0a0a0a0a.m4s:-5"),
]

@Test(arguments: badIndexes) func indexesFromOutsideAreChecked(what: String, line: String) {
    let text = Array(String(decoding: head.text, as: UTF8.self).replacing("#EXTM3U\n", with: "#EXTM3U\n\(line)\n").utf8)
    #expect(throws: RingError.self, "\(what)") { try ArchiveIndex(text, name: "index") }
}

private let keyRows: [(text: String, isKey: Bool)] = [
    ("index/2026-01-02T12/w-0.m3u8", true), ("index/2026-01-02T12/w.m3u8", false),
    ("index/2026-01-02/w-0.m3u8", false), ("index/2026-13-02T12/w-0.m3u8", false),
    ("media/2026-01-02T12/w-0.m3u8", false),
    ("index/2026-01-02T12/-0.m3u8", false), ("index/2026-01-02T12/w-0.m3u8.part", false), ("", false),
]

@Test(arguments: keyRows) func keysOfIndexes(text: String, isKey: Bool) {
    #expect((IndexKey(text)?.text == text) == isKey)
}

@Test func hoursBefore1970AreHoursToo() {
    #expect(IndexKey.hour(of: ProgramDateTime(millisecondsSince1970: -1)) == -1)
    #expect(IndexKey.hour(of: ProgramDateTime(millisecondsSince1970: 3_599_999)) == 0)
}

// MARK: - Several writers

private func words(_ entries: [RingEntry]) -> [String] {
    entries.map {
        "\($0.mediaSequence):\($0.segment.byteCount - 100)\($0.isDiscontinuous ? "!" : "")\($0.isGap ? "-" : "")"
    }
}

@Test func oneWriterKeepsItsNumbers() {
    #expect(words(ArchiveTimeline.merge([[.numbered(3), .numbered(5)]])) == ["3:3", "5:5"])
    #expect(ArchiveTimeline.merge([]).isEmpty)
}

private let numberRows: [(what: String, entries: [RingEntry], words: [String])] = [
    ("missing numbers stay", [.numbered(3), .numbered(90)], ["3:3", "90:90"]),
    ("an index that was put twice", [.numbered(3), .numbered(4), .numbered(3), .numbered(5)], ["3:3", "4:4", "5:5"]),
    (
        "numbers that went back", [.numbered(70, at: noon), .numbered(3), .numbered(4)], ["70:70", "71:3!", "72:4"]
    ),
    (
        "more missing numbers than a range has gaps",
        [.numbered(3), .numbered(80_000), .numbered(90_000), .numbered(90_002)],
        ["3:3", "80000:80000", "80001:90000!", "80003:90002"]
    ),
]

@Test(arguments: numberRows) func numbersOfOneWriter(what: String, entries: [RingEntry], words expected: [String]) {
    #expect(words(ArchiveTimeline.merge([entries])) == expected, "\(what)")
}

@Test func missingNumbersStayWhereAnotherWriterHasNothingEither() {
    let one: [RingEntry] = [.numbered(0), .numbered(1), .numbered(4)]
    let other: [RingEntry] = [.numbered(50, at: noon.advanced(byMilliseconds: 140_000))]
    #expect(words(ArchiveTimeline.merge([one, other])) == ["0:0", "1:1", "4:4", "5:50!"])
}

/// A writer of 4 segments beside one with as many newer ones as it takes to be silent, or one fewer.
private let silenceRows: [(what: String, newer: Int, words: [String])] = [
    ("the newest segment of a writer ends a range", 29, ["0:0", "1:1", "2:2", "3:3"]),
    ("another writer goes on where one is silent", 30, ["0:0", "1:1", "2:2", "3:3", "4:54!", "5:55"]),
]

@Test(arguments: silenceRows) func anotherWriterGoesOnWhereOneEnds(what: String, newer: Int, words expected: [String]) {
    let one = (0..<4).map { RingEntry.numbered($0) }
    let other = (50..<54 + newer).map {
        RingEntry.numbered($0, at: noon.advanced(byMilliseconds: Int64($0 - 50) * 4000 + 100))
    }
    #expect(Array(words(ArchiveTimeline.merge([one, other])).prefix(6)) == expected, "\(what)")
}

@Test func anotherWriterFillsTheGapOfOne() {
    var one = (0..<5).map { RingEntry.numbered($0) }
    for n in 2...3 { one[n].isGap = true }
    let other = (50..<55).map { RingEntry.numbered($0, at: noon.advanced(byMilliseconds: Int64($0 - 50) * 4000)) }
    let merged = ArchiveTimeline.merge([one, other])
    #expect(words(merged) == ["0:0", "1:1", "2:52!", "3:53", "4:54"], "a range changes its writer as seldom as it can")
}

/// Two relays that put their indexes in turn, of which readers see what was put so far.
private struct TwoWriters {
    /// Seconds into the channel at which each has put an index, which has all media of 15 s before.
    private static let puts: [[Int]] = [
        Array(stride(from: 60, through: 600, by: 60)), Array(stride(from: 85, through: 600, by: 60)),
    ]

    /// - Parameter starts: the first segment of each, of 4 s.
    static func entries(at second: Int, starts: [Int]) -> [[RingEntry]] {
        zip(puts, starts).enumerated().map { writer, plan in
            let end = ((plan.0.last { $0 <= second } ?? 0) - 15) / 4
            guard end > plan.1 else { return [] }
            return (plan.1..<end).map { n in
                .numbered(
                    n + 1000 * writer, at: noon.advanced(byMilliseconds: Int64(n) * 4000 + Int64(writer) * 300),
                    header: "w\(writer)")
            }
        }
    }
}

private let growthRows: [(what: String, starts: [Int])] = [
    ("both from the beginning", [0, 0]), ("the second later", [0, 30]), ("the first later", [30, 0]),
]

/// A range that grows is listed each 5 s for ten minutes, of which 8 are the relays' own.
@Test(arguments: growthRows) func whatARangeHasListedStaysListed(what: String, starts: [Int]) {
    var listed: [String] = []
    for second in stride(from: 60, through: 640, by: 5) {
        let lists = TwoWriters.entries(at: second, starts: starts)
        let next = words(ArchiveTimeline.merge(lists.filter { !$0.isEmpty }))
        #expect(next.starts(with: listed), "\(what), at \(second) s")
        listed = next
    }
    #expect(listed.count > 110, "\(what)")
}

/// The relay's own ring has the newest media at once, and another relay's index has what was before.
@Test func aRangeThatReachesBackBeforeTheRingKeepsWhatItListed() {
    var listed: [String] = []
    for second in stride(from: 130, through: 640, by: 5) {
        let other = TwoWriters.entries(at: second, starts: [0, 0])[1]
        let own = (30..<second / 4).map { RingEntry.numbered($0) }
        let next = words(ArchiveTimeline.merge([own, other], own: 0))
        #expect(next.starts(with: listed), "at \(second) s")
        listed = next
        #expect(second < 210 || next.last?.contains(":\(second / 4 - 1)") == true, "the ring is listed to its end")
    }
    #expect(listed.count > 150)
}

/// Gaps of one writer for as long as another has media.
@Test func twiceAsManyGapsTakeTwiceAsManySteps() {
    let steps = [1000, 2000, 4000, 8000].map { count in
        let one = (0..<count).map { RingEntry.numbered($0, lasting: 1, isGap: $0 > 0 && $0 < count - 1) }
        let other = (0..<count).map {
            RingEntry.numbered(
                $0, lasting: 1, at: noon.advanced(byMilliseconds: Int64($0) * 1000 + 100), isGap: $0 % 2 == 0)
        }
        return StepCounter.steps { _ = ArchiveTimeline.merge([one, other]) }
    }
    for (few, many) in zip(steps, steps.dropFirst()) { #expect(many <= few * 2 + few / 5, "\(steps)") }
    #expect(steps.allSatisfy { $0 > 0 })
}
