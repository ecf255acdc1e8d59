import ChannelTestSupport
import Playlist
import Splice
import TestSupport
import Testing
import Tracker

@testable import Channel

@Test func finishedPlaylistIsRepublishedFromItsFirstSegment() async throws {
    let result = try await republish(finishedCapture(.ssaiTagged))
    #expect(result.end == .drained)
    #expect(result.status.splice.counts.periods == 5 && result.status.output.segments == 34)
    let last = try #require(result.versions.last)
    #expect(last.hasEndList && last.segments.count == 34, "live.m3u8 lists all segments too")
    #expect(last.segments.map(\.mediaSequence) == Array(100...133))
}
