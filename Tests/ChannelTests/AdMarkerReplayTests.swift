import ChannelTestSupport
import Playlist
import Splice
import TestSupport
import Testing
import Tracker

@testable import Capture
@testable import Channel
@testable import Fetch
@testable import LiveRing
@testable import Support

/// Returns the capture with a pod of three ads, with ad markers added to its playlists.
private func capture(adding addMarkers: (inout MediaSegment) throws -> Void) throws -> CaptureDirectory {
    let plain = try CaptureDirectory(CaptureFixture.ssaiTagged.directory)
    var exchanges = plain.index.exchanges
    for index in exchanges.indices where exchanges[index].url == plain.index.upstream {
        guard case .answer(let answer) = exchanges[index].ending else { continue }
        var playlist = try MediaPlaylistParser.parse(plain.bytes(of: answer.body))
        for number in playlist.segments.indices { try addMarkers(&playlist.segments[number]) }
        let text = CapturedAnswer.Body.text(PlaylistWriter.write(playlist))
        exchanges[index] = CapturedExchange(
            at: exchanges[index].at, url: plain.index.upstream,
            ending: .answer(CapturedAnswer(status: 200, body: text)))
    }
    return CaptureDirectory(
        plain.url, index: CaptureIndex(upstream: plain.index.upstream, about: "", exchanges: exchanges))
}

@Suite struct AdMarkerReplayTests {
    private static let section = "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo="

    private func cueTags(_ segment: inout MediaSegment) {
        switch segment.uri {
        case "ad1-00.ts": segment.unknownTags = ["#EXT-X-CUE-OUT:31.000", "#EXT-OATCLS-SCTE35:" + Self.section]
        case _ where segment.uri.hasPrefix("ad"): segment.unknownTags = ["#EXT-X-CUE-OUT-CONT:2/31"]
        case "main-27.ts": segment.unknownTags = ["#EXT-X-CUE-IN", "#EXT-X-OURS:1"]
        default: segment.unknownTags = []
        }
    }

    @Test func cueTagsAreListedWithTheirSegments() async throws {
        let published = try await republish(capture(adding: cueTags))
        let whole = try MediaPlaylistParser.parse(Array(published.dvrPlaylist.utf8))
        let first = try #require(whole.segments.first { !$0.unknownTags.isEmpty })
        let last = try #require(whole.segments.last { !$0.unknownTags.isEmpty })
        #expect(first.isDiscontinuous && last.isDiscontinuous, "the tags are at the discontinuities")
        #expect(first.unknownTags == ["#EXT-X-CUE-OUT:31.000", "#EXT-OATCLS-SCTE35:" + Self.section])
        #expect(last.unknownTags == ["#EXT-X-CUE-IN"])
        let begin = try #require(first.dateRanges.first)
        let end = try #require(last.dateRanges.first)
        #expect(begin.startDate == first.programDateTime && end.end == last.programDateTime)
        #expect(begin.id == end.id && begin.plannedDuration == .seconds(31))
        #expect(begin[splice: .out] == SpliceSectionText.decodeBase64(Self.section))
        #expect(whole.segments.flatMap(\.dateRanges).count == 2)
        #expect(published.status.adMarkers.counts[.cueTags] == whole.segments.flatMap(\.unknownTags).count)
        #expect(
            published.status.adMarkers.counts[.otherTags] == 1 && published.status.adMarkers.counts[.dateRanges] == 2)
    }

    @Test func adMarkersDoNotChangeMedia() async throws {
        let plain = try await republish(.ssaiTagged)
        let marked = try await republish(capture(adding: cueTags))
        #expect(plain.segments.map(\.bytes) == marked.segments.map(\.bytes))
        #expect(plain.versions.count == marked.versions.count)
    }

    /// `/breaks.json`, against the numbers that are drawn into the frames.
    @Test(arguments: ["cue tags", "date range"]) func signalledBreakIsThatOfTheFrames(_ signal: String) async throws {
        let text = "ID=\"ad\",START-DATE=\"2026-01-01T12:00:24.000Z\",PLANNED-DURATION=30.012,SCTE35-OUT=0xFC"
        let range = DateRange(id: "ad", attributes: try AttributeList(parsing: text, line: 1, tag: ""))
        let published = try await republish(
            capture { segment in
                if signal == "cue tags" {
                    cueTags(&segment)
                } else if segment.uri == "ad1-00.ts" {
                    segment.dateRanges = [range]
                }
            })
        let programs = try published.segments.map { try ReplayResult.frames(of: [$0]).first?.program }
        let ads = zip(published.entries, programs).filter { $0.1 != programs[0] }.map(\.0)
        let breaks = AdBreakFinder(published.entries, canGoOn: false).breaks
        try #require(breaks.count == 1 && !ads.isEmpty)
        #expect(breaks[0].evidence == .signalled && (breaks[0].id == "ad") == (signal == "date range"))
        #expect(breaks[0].start == ads.first?.programDateTime && breaks[0].end == ads.last?.programDateTimeEnd)
    }

    /// CONFORMANCE 16 and 22, over all versions of the live playlist.
    @Test func dateRangeIsListedWhileAnySegmentOfItIs() async throws {
        let versions = try await republish(capture(adding: cueTags)).versions
        var attributes: [String: String] = [:]
        var rangesInHead = 0
        for playlist in versions {
            let ranges = playlist.dateRanges + playlist.segments.flatMap(\.dateRanges)
            for range in ranges {
                for attribute in range.attributes.attributes {
                    let name = "\(range.id) \(attribute.name)"
                    #expect(attributes[name] ?? attribute.value == attribute.value, "\(name)")
                    attributes[name] = attribute.value
                }
            }
            let isInBreak = playlist.segments.contains { $0.unknownTags.contains { $0.hasPrefix("#EXT-X-CUE-OUT") } }
            if isInBreak { #expect(!ranges.isEmpty) }
            rangesInHead += playlist.dateRanges.count
        }
        #expect(rangesInHead > 0, "the start of the break left the playlist before its end")
    }

    /// The last playlist adds only a date range and ENDLIST.
    @Test func dateRangeThatComesWithEndListIsPublished() async throws {
        let plain = try CaptureDirectory(CaptureFixture.clean.directory)
        var exchanges = plain.index.exchanges
        let last = try #require(exchanges.lastIndex { $0.url == plain.index.upstream })
        guard case .answer(let answer) = exchanges[last].ending else { return }
        var playlist = try MediaPlaylistParser.parse(plain.bytes(of: answer.body))
        func exchange(at time: Duration) -> CapturedExchange {
            let text = CapturedAnswer.Body.text(PlaylistWriter.write(playlist))
            return CapturedExchange(
                at: time, url: plain.index.upstream, ending: .answer(CapturedAnswer(status: 200, body: text)))
        }
        playlist.hasEndList = false
        exchanges[last] = exchange(at: exchanges[last].at)
        playlist.hasEndList = true
        let text = "ID=\"late\",START-DATE=\"2026-01-01T12:00:04.000Z\",DURATION=3"
        playlist.trailingDateRanges = [
            DateRange(id: "late", attributes: try AttributeList(parsing: text, line: 1, tag: ""))
        ]
        exchanges.append(exchange(at: exchanges[last].at + .seconds(2)))
        let published = try await republish(
            CaptureDirectory(
                plain.url, index: CaptureIndex(upstream: plain.index.upstream, about: "", exchanges: exchanges)))
        let whole = try MediaPlaylistParser.parse(Array(published.dvrPlaylist.utf8))
        #expect(published.end == .drained && whole.hasEndList)
        #expect(whole.dateRanges.map(\.attributes.text) == [text])
        #expect(published.versions.last?.dateRanges.map(\.id) == ["late"])
        #expect(published.status.adMarkers.counts[.dateRanges] == 1)
    }

    @Test func dateRangesOfTheUpstreamArePublished() async throws {
        let text = "ID=\"ad\",CLASS=\"pod\",START-DATE=\"2026-01-01T12:00:24.000Z\",PLANNED-DURATION=31,X-COM-A=\"1\""
        let attributes = try AttributeList(parsing: text, line: 1, tag: "")
        let published = try await republish(
            capture { segment in
                if segment.uri == "ad1-00.ts" { segment.dateRanges = [DateRange(id: "ad", attributes: attributes)] }
            })
        let whole = try MediaPlaylistParser.parse(Array(published.dvrPlaylist.utf8))
        let segment = try #require(whole.segments.first { !$0.dateRanges.isEmpty })
        #expect(segment.dateRanges.map(\.attributes.text) == [text] && segment.isDiscontinuous)
    }
}
