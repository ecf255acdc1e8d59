import Foundation
import Playlist
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
}
