import TestSupport
import Testing

@testable import Channel
@testable import Demux
@testable import Export
@testable import Media
@testable import Mux

/// Files of a spool with numbers that nothing published: a disk may change them.
@Suite struct StoredSegmentTests {
    static let rows: [(when: String, video: UInt64?, audio: UInt64?, duration: UInt32, isReadable: Bool)] = [
        ("a new channel", 0, 0, 3600, true), ("84 days", 653_184_000_000, 102_419_251_200_000, 3600, true),
        ("50 years", 141_912_000_000_000, 22_251_801_600_000_000, 3600, true),
        ("the end of the timeline", 1 << 52, (1 << 52) / 5 * 784, 3600, true),
        ("after it", (1 << 60) + 1, 0, 3600, false), ("the largest time of video", .max, 0, 3600, false),
        ("the largest time of audio", 0, .max, 3600, false), ("63 bits of audio", 0, 1 << 63, 3600, false),
        ("samples that last for days", 0, 0, .max, false), ("no audio", 1 << 60, nil, 3600, true),
        ("no video", nil, 1 << 60, 3600, true),
    ]

    @Test(arguments: rows)
    func times(when: String, video: UInt64?, audio: UInt64?, duration: UInt32, isReadable: Bool) throws {
        let track = { (id: UInt32, time: UInt64) in
            MuxTrack(
                trackID: id, decodeTime: time,
                samples: (0..<3).map { _ in
                    MuxSample(duration: duration, compositionOffset: 0, isSync: true, payload: [1, 2, 3])
                })
        }
        let stored = try? Self.media(
            video: video.map { track(TrackID.video, $0) }, audio: audio.map { track(TrackID.audio, $0) })
        #expect((stored != nil) == isReadable)
        guard var media = stored,
            let state = TransportStreamState(
                text: "none;aac;0;init-a.mp4;aac/48000/2/1024/1190", discontinuities: 0)
        else { return }
        _ = media.replaceForeignMedia(
            state, videoCodec: video == nil ? nil : .h264, compositionDelay: Ticks(18_000), still: nil)
        #expect(media.video.isEmpty && !media.audio.isEmpty)
        var buffer: [UInt8] = []
        #expect(!TransportStreamMuxer(state.program, audioChanges: 0).segment(media, in: &buffer).bytes.isEmpty)
    }

    /// Silence is on a grid of whole frames from 0. That was computed with 64 bits, which are enough for 33 years.
    @Test(arguments: [0, 33, 50, 1_500] as [UInt64]) func silenceAfterYears(_ years: UInt64) throws {
        let dolby = try #require(AudioConfiguration(text: "ac3/48000/2/1536/101140"))
        let seconds = years * 365 * 86_400
        let sample = MuxSample(duration: 28_224_000, compositionOffset: 0, isSync: true, payload: [1])
        let track = MuxTrack(trackID: TrackID.audio, decodeTime: seconds * 14_112_000, samples: [sample])
        var media = try Self.media(video: nil, audio: track)
        let state = TransportStreamState(video: nil, audio: dolby, initialization: "init-a.mp4")
        _ = media.replaceForeignMedia(state, videoCodec: nil, compositionDelay: .zero, still: nil)
        let (start, times) = (Ticks.seconds(Int64(seconds)), media.audio.map(\.time))
        #expect((62...63).contains(times.count))
        #expect(times.allSatisfy { $0 >= start && $0 < start + .seconds(2) })
        #expect(times.allSatisfy { $0.count.isMultiple(of: 2880) })
    }

    /// A file cut anywhere, or with a byte changed, is an error or media; nothing is read beside it.
    @Test func damagedFiles() throws {
        let sample = MuxSample(duration: 3600, compositionOffset: 7200, isSync: true, payload: [0, 0, 0, 1, 0x65])
        let track = MuxTrack(trackID: TrackID.video, decodeTime: 90_000, samples: [sample, sample])
        let fragment = FragmentWriter.write(sequenceNumber: 1, video: track, audio: nil)
        let file = fragment.header + fragment.payloads.joined()
        for end in file.indices {
            #expect(throws: MediaError.self) {
                try TransportMedia(fragment: file[..<end], audio: nil, lasting: .seconds(1))
            }
        }
        for index in file.indices {
            var changed = file
            changed[index] ^= 0xFF
            let media = try? TransportMedia(fragment: changed[...], audio: nil, lasting: .seconds(1))
            #expect(media?.video.allSatisfy { $0.payload.count <= file.count } ?? true)
        }
    }

    private static func media(video: MuxTrack?, audio: MuxTrack?) throws -> TransportMedia {
        let fragment = FragmentWriter.write(sequenceNumber: 1, video: video, audio: audio)
        return try TransportMedia(
            fragment: (fragment.header + fragment.payloads.joined())[...],
            audio: audio == nil ? nil : AudioConfiguration(text: "aac/48000/2/1024/1190"), lasting: .seconds(2))
    }
}
