import Channel
import ChannelTestSupport
import Foundation
import LiveRing
import TestSupport
import Testing

@testable import liverelay

/// The fields of `/status.json`, which scripts and dashboards read.
@Suite struct StatusDocumentTests {
    /// Fields that every status has.
    private static let fields = """
        logLinesDropped secondsInState state uptime
        adMarkers: changedDateRangeAttributes cueTags dateRanges discardedTimedMetadata duplicateEventMessages \
        eventMessages excess expiredDateRanges ignoredProgramDateTimes lateCueTags malformedDateRanges otherTags \
        unpairedBreakEnds unplaced
        clients: busyRequests closedWithoutRequest connections refused throttledRequests
        output: codecs gapSegments rangesRefused rewindEvictionsForDiskFull rewindSeconds segments slateSegments spoolReplacements
        splice: adjustedTimestamps assumedRandomAccessPoints audioGapsAndOverlaps damagedAudioFrames demux duplicateAudioFrames duplicateFrames earlyReleases \
        framesBeforeSync inferredTimestamps leadingPictures openSegments overlappingAudioFrames periods periodsBeyondCompositionDelay \
        segmentsNotWritten segmentsSkipped segmentsWithoutSync silentAudioFrames stillFrames timestampGapSeconds \
        timestampGaps transcodedAudioFrames trimmedAudioFrames undecodableAudioFrames unmatchedAudioFrames \
        unsupportedFrames untimedAudioFrames videoTimeouts
        splice.demux: abandonedUnits badBoxes badSections bytesOutOfSync duplicatePackets excessEventMessages \
        incompleteSamples otherPackets scrambledPackets transportErrors undecodableUnits wrongPacketLengths
        subtitles: cues droppedCues filesNotWritten lateCues malformedCues malformedSegments renditions retimedCues segments \
        undecryptableSegments unplacedCues
        transportStream: audioChanges clients droppedSeconds foreignAudioFrames \
        foreignAudioSegments foreignFrames foreignVideoSegments jumps lateAudioFrames loweredDecodeTimes oversizeUnits \
        segmentsFailed segmentsWritten silentAudioFrames stillFrames unreadableSegments
        upstream: activeSource discontinuities droppedFromPlaylists failedAttempts failedPlaylistLoads failovers irregularPlaylists outageSeconds \
        playlistLoads postponedSegments requests segmentsDelivered segmentsInFlight segmentsLost segmentsLostByCause sequenceResets \
        stalePlaylists url
        upstream.droppedFromPlaylists: 
        upstream.requests: errors throttledHosts throttledResponses total
        upstream.segmentsLostByCause: gap gone leftPlaylist overtaken permanent
        """

    /// Lists the fields of an object, and of the objects in it, as `fields` does.
    private func list(_ object: [String: Any], _ path: String = "") -> [String] {
        let nested = object.compactMapValues { $0 as? [String: Any] }.filter { $0.key != "errors" }
        let names = object.keys.filter { !path.isEmpty || nested[$0] == nil }.sorted().joined(separator: " ")
        let lines = nested.sorted { $0.key < $1.key }.flatMap { name, object in
            list(object, path.isEmpty ? name : "\(path).\(name)")
        }
        return [path.isEmpty ? names : "\(path): \(names)"] + lines
    }

    private func object(_ status: RelayStatus) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(status.json))
        return try #require(object as? [String: Any])
    }

    @Test func newChannelHasAllFieldsWithAValue() throws {
        let status = RelayStatus(upstream: "http://channel.example/live.m3u8")
        #expect(try list(object(status)) == Self.fields.split(separator: "\n").map(String.init))
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
        #expect(reason == RelayError(.spoolInUse(directory: "/spool")).line)
    }
}
