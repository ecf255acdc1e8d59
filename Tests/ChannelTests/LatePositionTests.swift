import ChannelTestSupport
import Foundation
import LiveRing
import TestSupport
import Testing

@testable import Capture
@testable import Channel
@testable import Media
@testable import Mux
@testable import Splice

/// A channel that has run for long publishes what a new one does, except for its times.
@Suite struct LatePositionTests {
    struct Start: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let position: Ticks
        var fragmentSequence: UInt32 = 1

        var beginning: TimelinePosition {
            var beginning = TimelinePosition.beginning.advanced(by: position)
            beginning.fragmentSequence = fragmentSequence
            return beginning
        }

        /// Every 1,024 s, whole frames of 1,024 samples end at any sample rate.
        static func after(_ when: String, seconds: Int64) -> Start {
            Start(testDescription: when, position: .seconds(seconds / 1024 * 1024))
        }

        /// Three seconds before a number of ticks, at a tick that is a whole number of units of audio.
        static func before(_ when: String, _ ticks: Int64) -> Start {
            Start(testDescription: when, position: Ticks((ticks - 3 * Ticks.perSecond) / 5 * 5))
        }
    }

    static let day: Int64 = 86_400
    static let long: [Start] = [
        .after("26 hours", seconds: 95_232), .after("84 days", seconds: 85 * day), .after("a year", seconds: 366 * day),
        .after("50 years", seconds: 50 * 366 * day),
    ]
    static let starts: [Start] =
        long + [
            .before("33 bits of a time stamp", 1 << 33), .before("34 bits of a time stamp", 1 << 34),
            .before("32 bits of `tfdt` of video", 1 << 32), .before("32 bits of `tfdt` of audio", (1 << 32) * 5 / 784),
            .before("the product of ticks and the audio timescale", .max / 14_112_000),
            Start(testDescription: "32 bits of `mfhd`", position: .zero, fragmentSequence: .max - 2),
        ]

    /// Ads, a companion rendition, audio alone, and event messages with and without numbers.
    static let captures = ["ssai_untagged", "demuxed_aes128", "audio_only", "event_messages"]

    @Test(arguments: starts, captures) func publishesTheSame(_ start: Start, _ capture: String) async throws {
        let fixture = CaptureFixture(capture)
        let new = try await ReplayCache.shared.result(of: fixture)
        let late = try await republish(try CaptureDirectory(fixture.directory), beginning: start.beginning)
        #expect(late.dvrPlaylist.withoutFingerprints == new.dvrPlaylist.withoutFingerprints)
        #expect(late.segments.map(\.initialization) == new.segments.map(\.initialization))
        #expect(late.events == new.events && late.status.splice.counts == new.status.splice.counts)
        let lines = (late.dumpLines(earlierBy: start.beginning), new.dumpLines(earlierBy: .beginning))
        #expect(lines.0.count == lines.1.count && zip(lines.0, lines.1).first { $0 != $1 }.map { "\($0)" } == nil)
        try expectSameTransportStream(late, as: new, laterBy: start.position)
    }

    private func expectSameTransportStream(
        _ late: ReplayResult, as new: ReplayResult, laterBy position: Ticks
    ) throws {
        let new = try TransportStreamCaptureTests.output(of: new)
        let late = try TransportStreamCaptureTests.output(of: late)
        #expect(late.replacements == new.replacements)
        let bytes = TransportTimeShift.packets(late.bytes[...], earlierBy: position)
        #expect(bytes == new.bytes, "\(zip(bytes, new.bytes).prefix { $0 == $1 }.count) bytes are the same")
    }

    /// The position is in the journal, so every restart goes on there.
    @Test(arguments: starts) func restartContinues(_ start: Start) async throws {
        var results: [[String]] = []
        for beginning in [TimelinePosition.beginning, start.beginning] {
            var channel = try SpooledChannel(of: .clean, beginning: beginning)
            try await channel.relay(.init(times: .zero ..< .seconds(9)))
            try await channel.relay(.init(times: .seconds(9) ..< .seconds(30)))
            results.append(channel.result.dumpLines(earlierBy: beginning))
        }
        #expect(results[0].count == results[1].count && !results[0].isEmpty)
        #expect(zip(results[0], results[1]).first { $0 != $1 }.map { "\($0)" } == nil)
    }
}

extension String {
    /// The text with segments that are called only by their numbers.
    fileprivate var withoutFingerprints: String { replacing(/seg-(\d+)-[0-9a-f]{8}/) { "seg-\($0.output.1)" } }
}

extension ReplayResult {
    /// The dump with all times earlier by a position, without names and numbers that are hashes of times.
    fileprivate func dumpLines(earlierBy beginning: TimelinePosition) -> [String] {
        let shift = beginning.presentationEnd - TimelinePosition.beginning.presentationEnd
        var shiftOfTrack: Int64 = 0
        return dump.split(separator: "\n").map { line in
            var words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            if line.hasPrefix("seg-") { return String(line).withoutFingerprints }
            if line.hasPrefix("fragment "), let number = UInt32(words[1].dropLast()) {
                words[1] = "\(number &- beginning.fragmentSequence)"
            }
            if line.hasPrefix("  track 1 ") { shiftOfTrack = shift.count }
            if line.hasPrefix("  track 2 ") { shiftOfTrack = PeriodTimeline.audioTime(shift) }
            let isMessage = line.hasPrefix("message ")
            if isMessage { words[1] = "" }
            for index in words.indices {
                let parts = words[index].split(separator: "=", maxSplits: 1)
                guard parts.count == 2, ["dts", "tfdt", "time"].contains(parts[0]), let time = Int64(parts[1]) else {
                    continue
                }
                let earlier = isMessage ? (Ticks(time) - shift).wire.count : time - shiftOfTrack
                words[index] = "\(parts[0])=\(earlier)"
            }
            return words.joined(separator: " ")
        }
    }
}
