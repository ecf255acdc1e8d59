import Foundation
import Playlist
import Splice
import TestSupport
import Testing

@testable import liverelay

/// docs/limits.md says what the code does.
@Suite struct LimitsDocumentTests {
    private static let text =
        (try? String(contentsOf: PackageRoot.url.appending(path: "docs/limits.md"), encoding: .utf8)) ?? ""

    private func row(_ name: String, _ value: Int) -> String {
        "| `\(name)` | \(name.hasSuffix("Bytes") ? ByteCount(value).defaultValueDescription : "\(value)") |"
    }

    @Test(arguments: PlaylistLimit.allCases) func limitOfPlaylistsIsDocumented(_ limit: PlaylistLimit) {
        let row = row(limit.rawValue, PlaylistLimits.standard[limit])
        #expect(Self.text.contains("\n\(row)"), "\(row)")
    }

    @Test(arguments: PlaylistNumber.allCases) func rangeOfANumberIsDocumented(_ number: PlaylistNumber) {
        let row = "| `\(number.rawValue)` | \(number.range.lowerBound) | \(number.range.upperBound) |"
        #expect(Self.text.contains("\n\(row)"), "\(row)")
    }

    @Test(arguments: [
        ("fileBytes", SubtitleLimits.fileBytes), ("fileLines", SubtitleLimits.fileLines),
        ("fileCues", SubtitleLimits.fileCues), ("definitions", SubtitleLimits.definitions),
        ("heldBytes", SubtitleLimits.heldBytes), ("heldCues", SubtitleLimits.heldCues),
        ("placedCues", SubtitleLimits.placedCues), ("publishedBytes", SubtitleLimits.publishedBytes),
    ])
    func limitOfSubtitlesIsDocumented(_ name: String, _ value: Int) {
        #expect(Self.text.contains("\n\(row(name, value))"), "\(row(name, value))")
    }
}
