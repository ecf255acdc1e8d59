import Channel
import ChannelTestSupport
import Foundation
import LiveRing
import Service
import TestSupport
import Testing

@testable import Support

/// The tables of docs/http.md name the fields of `/status.json`, each section its own.
@Suite struct StatusDocumentTests {
    @Test func everyFieldIsDocumented() throws {
        var status = RelayStatus(upstream: "http://channel.example/live.m3u8")
        status.stills = RelayStatus.Stills()
        status.archiveStore = RelayStatus.ArchiveStore()
        status.archiveStore?.error = "unreachable"
        let fields = Self.paths(in: try object(status), below: "")
        let documented = try Self.documentedPaths()
        #expect(fields.subtracting(documented) == [])
        let known = fields.union(Self.properties(of: status, below: ""))
        #expect(documented.subtracting(known) == [], "a field that is not in the status")
    }

    /// The first cells of the tables, below the name of their section.
    private static func documentedPaths() throws -> Set<String> {
        let file = PackageRoot.url.appending(path: "docs/http.md")
        let text = try #require(try String(contentsOf: file, encoding: .utf8).split(separator: "## /status.json").last)
        var (section, paths) = ("", Set<String>())
        for line in text.split(separator: "\n") {
            if let name = line.wholeMatch(of: /### `(.+)`/)?.1 { section = "\(name)." }
            guard line.hasPrefix("| `"), let cell = line.split(separator: "|").first else { continue }
            paths.formUnion(cell.matches(of: /`([^`]+)`/).map { section + $0.1 })
        }
        return paths
    }

    private static func paths(in object: [String: Any], below path: String) -> Set<String> {
        object.reduce(into: []) { paths, member in
            let children = member.value as? [String: Any] ?? [:]
            if children.isEmpty { paths.insert(path + member.key) }
            paths.formUnion(Self.paths(in: children, below: "\(path)\(member.key)."))
        }
    }

    /// Those without a value too, which the JSON does not have.
    private static func properties(of value: Any, below path: String) -> Set<String> {
        Mirror(reflecting: value).children.reduce(into: []) { paths, child in
            guard let label = child.label else { return }
            paths.insert(path + label)
            guard Mirror(reflecting: child.value).displayStyle == .struct else { return }
            paths.formUnion(properties(of: child.value, below: "\(path)\(label)."))
        }
    }

    private func object(_ status: RelayStatus) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(StatusDocument.json(of: status)))
        return try #require(object as? [String: Any])
    }

    @Test func countsArePublishedUnderTheirNames() async throws {
        let status = try await ReplayCache.shared.result(of: CaptureFixture("event_messages")).status
        let object = try object(status)
        let splice = try #require(object["splice"] as? [String: Any])
        let adMarkers = try #require(object["adMarkers"] as? [String: Any])
        #expect(splice["periods"] as? Int == 3 && splice["timestampGapSeconds"] as? Double == 0)
        #expect((splice["currentPeriod"] as? [String: Any])?["audio"] as? String == "mp4a.40.2")
        #expect(adMarkers["eventMessages"] as? Int == 9 && adMarkers["duplicateEventMessages"] as? Int == 4)
    }

    @Test func reasonIsEncodedAsText() throws {
        let state = ChannelState(upstream: "http://channel.example/live.m3u8") { .zero }
        let relay = Relay(
            RelayConfiguration(
                upstream: "http://channel.example/live.m3u8", spool: "/spool", retention: .init(rewind: nil)),
            state: state, wallClock: { 0 })
        _ = relay.recordFailure(.spool(.spoolInUse(directory: "/spool")))
        let reason = try object(state.status)["reason"] as? String
        #expect(reason == RelayError(.spoolInUse(directory: "/spool")).text.viewerText)
    }
}
