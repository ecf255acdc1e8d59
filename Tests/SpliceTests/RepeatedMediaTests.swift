import TestSupport
import Testing

@testable import Splice

/// `|` before a segment behind a seam; the digits are the capture's segments, of 50 pictures each.
private let rows: [(when: String, upstream: String, published: String, repeated: Int, discontinuities: Int)] = [
    ("nothing is sent twice", "0 1 2 3", "0 1 2 3", 0, 0),
    ("a reset that lists the last two again", "0 1 2 |1 2 3 4", "0 1 2 3 4", 100, 0),
    ("a reset that lists only what was published, then goes on", "0 1 2 |1 2", "0 1 2", 100, 0),
    ("a reset that leaves a hole", "0 1 |3 4", "0 1 3 4", 0, 1),
    ("two resets, one behind the other", "0 1 |0 1 2 |2 3", "0 1 2 3", 150, 0),
    ("a repetition that ends in a hole", "0 1 2 |1 |4", "0 1 2 4", 50, 1),
    ("played again without a seam", "0 1 0 1", "0 1 0 1", 0, 1),
]

@Test(arguments: rows.indices)
func whatWasPublishedIsNotPublishedAgain(index: Int) throws {
    let row = rows[index]
    let bodies = try CaptureFixture.clean.bodies("clean-")
    var inputs: [SpliceInput] = []
    for (number, word) in row.upstream.split(separator: " ").enumerated() {
        let body = bodies[try #require(word.last?.wholeNumberValue)]
        inputs.append(
            .segment(
                SegmentInput(
                    rendition: .main, mediaSequence: UInt64(number), isAfterSeam: word.hasPrefix("|"), bytes: body)))
    }
    let output = TortureOutput(inputs + [.ended(.main)])
    #expect(output.pictures.count == row.published.split(separator: " ").count * 50, "\(row.when)")
    #expect(output.counts.picturesRepeated == row.repeated, "\(row.when)")
    #expect(output.segments.count(where: \.isDiscontinuous) == row.discontinuities, "\(row.when)")
    #expect(output.counts.sanitized == 0, "\(row.when)")
    // Sound goes on where the picture does.
    let frames = output.segments.compactMap { $0.audio?.count }.reduce(0, +)
    #expect(abs(frames * 1024 - output.pictures.count * 48_000 / 25) <= 4 * 1024, "\(row.when): \(frames)")
    #expect(output.counts.audioSilence <= 2 * row.discontinuities, "\(row.when)")
}
