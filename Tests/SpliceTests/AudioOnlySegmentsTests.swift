import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Channels without video: segments and periods consist of audio.
@Suite struct AudioOnlyTests {
    static let radio = TortureProgram(serial: 1)
    static let ad = TortureProgram(serial: 2, audioPID: 300, clock: 126_000, frequencyIndex: 4, channels: 1)
    /// The same stream as `radio` on another clock.
    static let restarted = TortureProgram(serial: 3, clock: 126_000)

    struct Row: Sendable {
        var when: String
        var periods = 1
        var segments = 6
        var frames = 6 * 47
        var silentFrames = 0
        /// Ticks in gaps that nothing signaled.
        var missing = 0
        var channel: @Sendable () -> AudioOnlyChannel
    }

    private static func channel(_ build: (inout AudioOnlyChannel) -> Void) -> AudioOnlyChannel {
        var channel = AudioOnlyChannel()
        build(&channel)
        return channel
    }

    static let rows: [Row] = [
        Row(when: "one program") { channel { $0.play(radio, 6) } },
        Row(when: "packed audio with a timestamp") { channel { $0.play(radio, 6, in: .packed) } },
        Row(when: "packed audio without a timestamp: counted") {
            channel { $0.play(radio, 6, in: .packedWithoutTime) }
        },
        Row(when: "an ad of another rate, tagged", periods: 3) {
            channel {
                $0.play(radio, 2)
                $0.play(ad, 2, isTagged: true)
                $0.play(TortureProgram(serial: 4), 2, from: 188, isTagged: true)
            }
        },
        Row(when: "an ad of another rate, untagged", periods: 2) {
            channel {
                $0.play(radio, 3)
                $0.play(ad, 3)
            }
        },
        Row(when: "an ad of another rate, packed audio without a timestamp", periods: 2) {
            channel {
                $0.play(radio, 3, in: .packedWithoutTime)
                $0.play(ad, 3, in: .packedWithoutTime)
            }
        },
        Row(when: "a packed-audio ad in a transport stream, tagged", periods: 2) {
            channel {
                $0.play(radio, 3)
                $0.play(ad, 3, isTagged: true, in: .packed)
            }
        },
        Row(when: "a needless tag") {
            channel {
                $0.play(radio, 3)
                $0.play(radio, 3, from: 141, isTagged: true)
            }
        },
        Row(when: "a tag, packed audio without a timestamp: no change is known") {
            channel {
                $0.play(radio, 3, in: .packedWithoutTime)
                $0.play(restarted, 3, isTagged: true, in: .packedWithoutTime)
            }
        },
        Row(when: "another clock, tagged", periods: 2) {
            channel {
                $0.play(radio, 3)
                $0.play(restarted, 3, isTagged: true)
            }
        },
        Row(when: "another clock, untagged", periods: 2) {
            channel {
                $0.play(radio, 3)
                $0.play(restarted, 3)
            }
        },
        Row(when: "a second missing at a segment boundary is another clock", periods: 2, missing: 47 * 1920) {
            channel {
                $0.play(radio, 3)
                $0.play(radio, 3, from: 141 + 47)
            }
        },
        Row(when: "three frames missing inside a segment", frames: 6 * 47 - 3, silentFrames: 3, missing: 3 * 1920) {
            channel {
                $0.play(radio, 6)
                $0.parts[2].frames.removeSubrange(10..<13)
            }
        },
        Row(when: "one frame missing inside a segment", frames: 6 * 47 - 1, silentFrames: 1) {
            channel {
                $0.play(radio, 6)
                $0.parts[2].frames.remove(at: 10)
            }
        },
        Row(when: "two frames sent twice") {
            channel {
                $0.play(radio, 6)
                $0.parts[2].frames.insert(contentsOf: [92, 93], at: 0)
            }
        },
        Row(when: "the last frames of a segment moved to the next") {
            channel {
                $0.play(radio, 6)
                $0.parts[3].frames.insert(contentsOf: $0.parts[2].frames.suffix(5), at: 0)
                $0.parts[2].frames.removeLast(5)
            }
        },
        Row(when: "segments lost", periods: 2) {
            channel {
                $0.play(radio, 3)
                $0.play(radio, 3, from: 300)
                $0.parts[3].followsLoss = true
            }
        },
        Row(when: "the timestamps wrap inside a segment") {
            channel { $0.play(TortureProgram(serial: 1, clock: (1 << 33) - 200_000), 6) }
        },
        Row(when: "a program change inside a segment, which is cut there", periods: 2) {
            channel {
                $0.play(radio, 3)
                $0.play(ad, 3)
                $0.parts[2].isOneWithNext = true
            }
        },
    ]

    @Test(arguments: rows.indices) func everyFrameIsPublishedOnce(_ index: Int) {
        let row = Self.rows[index]
        let output = AudioOnlyOutput(row.channel().inputs)
        #expect(output.errors.isEmpty && output.faults.isEmpty, "\(row.when): \(output.errors) \(output.faults)")
        #expect(output.periods == row.periods, "\(row.when)")
        #expect(output.segments.count == row.segments, "\(row.when)")
        #expect(output.labels.count == row.frames, "\(row.when)")
        #expect(output.counts[.silentAudioFrames] == row.silentFrames, "\(row.when)")
        #expect(output.counts[.unmatchedAudioFrames] == 0 && output.counts.demux[.undecodableUnits] == 0, "\(row.when)")
        #expect(output.counts[.timestampGapTicks] == row.missing, "\(row.when)")
        #expect(output.counts[.timestampGaps] == (row.missing > 0 ? 1 : 0), "\(row.when)")
    }

    /// Exact values of tfdt in the audio timescale, over a change of rate and back.
    @Test func adIsPlacedToTheSample() {
        let channel = Self.channel {
            $0.play(Self.radio, 1)
            $0.play(Self.ad, 1, isTagged: true)
            $0.play(Self.radio, 1, from: 47, isTagged: true)
        }
        let output = AudioOnlyOutput(channel.inputs)
        let start = UInt64(PeriodTimeline.audioTime(PeriodTimeline.compositionDelay))
        #expect(output.segments.map(\.decodeTime) == [start, start + 47 * 301_056, start + 47 * (301_056 + 327_680)])
        #expect(output.segments.map { Set($0.samples.map(\.duration)) } == [[301_056], [327_680], [301_056]])
    }

    @Test func upstreamDatesAreKept() {
        var channel = Self.channel {
            $0.play(Self.radio, 3)
            $0.play(Self.ad, 1, isTagged: true)
            $0.play(Self.radio, 1, from: 141, isTagged: true)
        }
        let second = 1_700_000_000_000 as Int64
        for (number, date) in [(0, second), (1, second + 1003), (3, second + 3008), (4, second + 60_000)] {
            channel.parts[number].date = date
        }
        let dates = AudioOnlyOutput(channel.inputs).segments.map { $0.date - second }
        // 47 frames are 1002.67 ms; the ad has its own date, and so has the return, a minute on.
        #expect(dates == [0, 1003, 2005, 3008, 60_000])
    }

    @Test func segmentTooLongForThePlaylistIsCut() {
        let channel = Self.channel {
            $0.play(Self.radio, 1)
            $0.parts[0].frames = Array(0..<1000)
        }
        let output = AudioOnlyOutput(channel.inputs, longest: .seconds(6))
        #expect(output.faults.isEmpty && output.periods == 1 && output.labels.count == 1000)
        #expect(output.segments.map(\.samples.count) == [281, 281, 281, 157])
        #expect(output.segments.allSatisfy { $0.duration <= .seconds(6) })
    }

    @Test func processResumesWhereTheLastOneStopped() {
        let first = AudioOnlyOutput(Self.channel { $0.play(Self.radio, 2) }.inputs)
        let second = AudioOnlyOutput(Self.channel { $0.play(Self.ad, 2) }.inputs, position: first.position)
        #expect(second.faults.isEmpty && second.segments.first?.isDiscontinuous == true)
        #expect(second.segments.first.map { Int64($0.decodeTime) } == first.position.audioDecodeTime)
        #expect(second.position.fragmentSequence == first.position.fragmentSequence + 2)
    }

    static let unaligned: [(when: String, hasAudioRendition: Bool, reasons: [MediaError.Reason])] = [
        ("an audio-only channel", false, []),
        ("a companion rendition", true, [.missingTimestamp, .missingTimestamp]),
    ]

    @Test(arguments: unaligned)
    func packedAudioNeedsATimestampOnlyBesideVideo(
        when: String, hasAudioRendition: Bool, reasons: [MediaError.Reason]
    ) {
        let segments = Self.channel { $0.play(Self.radio, 2, in: .packedWithoutTime) }.inputs.map { input in
            guard case .segment(let segment) = input else { return input }
            return .segment(
                SegmentInput(
                    rendition: hasAudioRendition ? .audio : .main, mediaSequence: segment.mediaSequence,
                    bytes: segment.bytes))
        }
        let output = AudioOnlyOutput(segments, hasAudioRendition: hasAudioRendition)
        #expect(output.errors.map(\.reason) == reasons, "\(when)")
        #expect(output.segments.count == (hasAudioRendition ? 0 : 2), "\(when)")
    }

    /// Other upstream boundaries give other output segments with the same samples.
    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func segmentBoundariesDoNotChangeTheSamples(seed: UInt64) {
        let channel = Self.channel {
            $0.play(Self.radio, 3)
            $0.play(Self.ad, 3)
            $0.play(TortureProgram(serial: 5, clock: (1 << 33) - 50_000), 3)
        }
        let expected = AudioOnlyOutput(channel.inputs)
        let stream = channel.stream
        var random = SeededGenerator(seed: seed)
        var boundaries = (0..<12).map { _ in Int.random(in: 1..<stream.count / 188, using: &random) * 188 }
        boundaries = Array(Set(boundaries)).sorted() + [stream.count]
        let cut = zip([0] + boundaries, boundaries).enumerated().map { number, ends in
            SpliceInput.segment(
                SegmentInput(rendition: .main, mediaSequence: UInt64(number), bytes: Array(stream[ends.0..<ends.1])))
        }
        let output = AudioOnlyOutput(cut + [.ended(.main)])
        #expect(output.errors.isEmpty && output.faults.isEmpty && output.periods == 3)
        #expect(output.samples == expected.samples && output.labels.count == 9 * 47)
    }
}
