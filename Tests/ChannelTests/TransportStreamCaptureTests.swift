import ChannelTestSupport
import Foundation
import TestSupport
import Testing

@testable import Channel
@testable import Demux
@testable import Export
@testable import LiveRing
@testable import Media
@testable import Mux

/// Every capture's published segments as a transport stream.
@Suite struct TransportStreamCaptureTests {
    /// The transport stream of a capture, segment by segment, and the samples it was made of.
    struct Output {
        var segments: [(stored: TransportMedia, state: TransportStreamState, transport: TransportSegment)] = []
        var replacements: [TransportMedia.Replacements] = []

        var bytes: [UInt8] { segments.flatMap(\.transport.bytes) }
    }

    static func output(of row: CaptureRow) async throws -> Output {
        try output(of: await ReplayCache.shared.result(of: row.capture))
    }

    static func output(of published: ReplayResult) throws -> Output {
        var output = Output()
        var still: TransportMedia.VideoSample?
        for (segment, entry) in zip(published.segments, published.entries) {
            let stored = try TransportMedia(
                fragment: segment.bytes[...], audio: entry.audioConfiguration, lasting: Ticks(entry.duration))
            let state = try #require(entry.transportStream.flatMap { TransportStreamState($0) })
            var media = stored
            output.replacements.append(
                media.replaceForeignMedia(
                    state, videoCodec: entry.videoCodec, compositionDelay: Ticks(18_000), still: still))
            if entry.videoCodec == state.program.video {
                still = stored.video.last(where: \.isRandomAccessPoint) ?? still
            }
            var buffer: [UInt8] = []
            let muxer = TransportStreamMuxer(state.program, audioChanges: state.audioChanges)
            output.segments.append((stored, state, muxer.segment(media, in: &buffer)))
        }
        return output
    }

    /// The index of a published segment says what the demuxer for any fragmented MP4 finds.
    @Test(arguments: CaptureRow.all) func indexHasEverySample(_ row: CaptureRow) async throws {
        let published = try await ReplayCache.shared.result(of: row.capture)
        let timescale = try #require(Timescale(UInt32(TrackTimescale.audio)))
        for (segment, stored) in try zip(published.segments, await Self.output(of: row).segments.map(\.stored)) {
            let tracks = try MovieFragment.fragments(of: segment.bytes).flatMap(\.tracks)
            for (id, payloads) in [
                (TrackID.video, stored.video.map(\.payload)), (TrackID.audio, stored.audio.map(\.payload)),
            ] {
                #expect(tracks.filter { $0.trackID == id }.flatMap(\.samples).map(\.payload) == payloads)
            }
            let video = tracks.first { $0.trackID == TrackID.video }
            let audio = tracks.first { $0.trackID == TrackID.audio }
            #expect(stored.video.first.map { UInt64($0.decodeTime.count) } == video?.decodeTime)
            let start = audio?.decodeTime.map { Ticks(units: $0, timescale: timescale) }
            #expect(stored.audio.first?.time == start)
            #expect(
                stored.video.first.map { Int32($0.presentationTime.count - $0.decodeTime.count) }
                    == video?.samples.first?.compositionOffset)
        }
    }

    @Test(arguments: CaptureRow.all) func packetsFollowTheRules(_ row: CaptureRow) async throws {
        let output = try await Self.output(of: row)
        let scan = try #require(TransportStreamScan(output.bytes))
        let program = try #require(output.segments.first).state.program
        // A gap of the playlist is a step of PCR.
        let faults = scan.faults(clockPID: Int(program.clockPID))
            .filter { !row.hasOutageGaps || !($0.contains("PCR step") || $0.contains("table")) }
        #expect(faults.isEmpty, "\(faults.prefix(5))")
        for segment in output.segments {
            let packets = try #require(TransportStreamScan(segment.transport.bytes)).packets
            #expect(packets.prefix(2).map(\.pid) == [0, 0x1000])
            let counts = Dictionary(grouping: packets.filter { $0.payload != nil }, by: \.pid).mapValues(\.count)
            #expect(counts.values.allSatisfy { $0.isMultiple(of: 16) })
            #expect(row.capture.name == "interleave" || segment.transport.lateAudioFrames == 0)
            #expect(segment.transport.chunks.map(\.bytes.count).reduce(0, +) == segment.transport.bytes.count)
        }
    }

    @Test(arguments: CaptureRow.all) func everyFrameIsInTheTransportStream(_ row: CaptureRow) async throws {
        let output = try await Self.output(of: row)
        for (index, segment) in output.segments.enumerated() {
            let scan = try #require(TransportStreamScan(segment.transport.bytes))
            if output.replacements[index].foreignFrames == 0, !segment.stored.video.isEmpty {
                let video = segment.stored.video
                let all = scan.packetizedElements(of: 0x100)
                let times = Set(video.map(\.presentationTime.wire.count))
                let units = all.filter { times.contains($0.pts) }
                #expect(all.count - units.count == output.replacements[index].stills)
                #expect(zip(all, all.dropFirst()).allSatisfy { times.contains($1.pts) || $0.payload == $1.payload })
                #expect(units.map(\.pts) == video.map(\.presentationTime.wire.count))
                #expect(
                    segment.transport.loweredDecodeTimes > 0
                        || units.map(\.dts) == video.map(\.decodeTime.wire.count))
                #expect(units.map(\.randomAccess) == video.map(\.isRandomAccessPoint))
                #expect(units.allSatisfy { $0.streamID == 0xE0 && $0.hasClock })
                let isSame = zip(units, video).allSatisfy { unit, sample in
                    let nalUnits = Self.nalUnits(of: unit.payload)
                    return Self.isDelimiter(nalUnits[0])
                        && Array(nalUnits.dropFirst()) == Self.nalUnits(sample: sample.payload)
                }
                #expect(isSame)
            }
            let audio = segment.stored.audio
            guard let configuration = segment.stored.audioConfiguration,
                output.replacements[index].foreignAudioFrames == 0
            else { continue }
            let units = scan.packetizedElements(of: 0x101)
            #expect(units.count >= (audio.count + 3) / 4)
            let times = Set(audio.map(\.time.wire.count))
            #expect(units.allSatisfy { times.contains($0.pts) })
            let header = ADTSHeader(configuration)
            var frames: [UInt8] = []
            for frame in audio {
                frames += (header?.bytes(forFrameOf: frame.payload.count) ?? []) + frame.payload
            }
            let sent: [UInt8] = units.flatMap(\.payload)
            #expect(sent == frames)
        }
    }

    /// In `interleave` the audio of a segment is a second before its video: it was published later than it is due.
    static let timely = CaptureRow.all.filter { $0.capture.name != "interleave" }

    @Test(arguments: timely) func everyUnitArrivesWithinASecondOfItsDecoding(_ row: CaptureRow) async throws {
        let output = try await Self.output(of: row)
        let scan = try #require(TransportStreamScan(output.bytes))
        for pid in [0x100, 0x101, 0x102] {
            let margins = scan.margins(of: pid)
            #expect(
                margins.allSatisfy { $0 > 0 && $0 < 90_000 }, "\(pid): \(margins.min() ?? 0) … \(margins.max() ?? 0)")
        }
    }

    private static func isDelimiter(_ unit: [UInt8]) -> Bool { unit == [0x09, 0xF0] || unit == [0x46, 0x01, 0x50] }

    private static func nalUnits(sample: ArraySlice<UInt8>) -> [[UInt8]] {
        var (units, index): ([[UInt8]], Int) = ([], sample.startIndex)
        while index < sample.endIndex {
            let size = sample[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
            units.append(Array(sample[index + 4..<index + 4 + size]))
            index += 4 + size
        }
        return units
    }

    /// NAL units between start codes of four bytes.
    private static func nalUnits(of stream: [UInt8]) -> [[UInt8]] {
        var starts: [Int] = []
        var index = 0
        while index + 4 <= stream.count {
            if stream[index] == 0, stream[index + 1] == 0, stream[index + 2] == 0, stream[index + 3] == 1 {
                starts.append(index + 4)
                index += 4
            } else {
                index += 1
            }
        }
        return zip(starts, starts.dropFirst().map { $0 - 4 } + [stream.count]).map { Array(stream[$0..<$1]) }
    }
}
