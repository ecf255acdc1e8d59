@testable import Conformance
@testable import Demux
@testable import Media

/// Entries for MPEG-2 transport streams (ISO/IEC 13818-1).
enum TransportEntries {
    static let all = [
        entry("transport", "a transport stream segment", repairsSections: false),
        // Corrected, because a fuzzer does not guess CRC_32.
        entry("sections", "a transport stream segment with correct CRC_32 in all sections", repairsSections: true),
        FuzzEntry(
            "check", "a transport stream to judge, with correct CRC_32 in all sections, whole and in parts",
            largest: 48 << 10, dictionary: TableSeeds.words, seeds: seeds,
            run: { bytes in
                let stream = SectionRepair.repaired(bytes)
                let part = Int(stream.last ?? 0) + 1
                try demand(
                    faults(in: stream, partSize: stream.count + 1) == faults(in: stream, partSize: part), "parts")
            }),
    ]

    private static func seeds(_ seeds: CaptureSeeds) -> [[UInt8]] {
        TableSeeds.streams + seeds.segments(in: .transportStream).map { Array($0.prefix(188 * 120)) }
    }

    /// The faults of a stream that comes in parts.
    private static func faults(in stream: [UInt8], partSize: Int) -> [TransportFault] {
        var checker = TransportChecker()
        var faults: [TransportFault] = []
        for start in stride(from: 0, to: stream.count, by: partSize) {
            faults += checker.check(Array(stream[start..<min(start + partSize, stream.count)]))
        }
        return faults + checker.finish()
    }

    private static func entry(_ name: String, _ about: String, repairsSections: Bool) -> FuzzEntry {
        FuzzEntry(
            name, "\(about), whole and in two halves", largest: 48 << 10,
            dictionary: TableSeeds.words + AudioSeeds.words, seeds: seeds,
            run: { bytes in
                let segment = repairsSections ? SectionRepair.repaired(bytes) : bytes
                let middle = segment.count / 188 / 2 * 188 + Int(segment.last ?? 0) % 4
                for tracks in [TrackSelection.both, .audio] {
                    try demux([segment], tracks)
                    try demux([Array(segment.prefix(middle)), Array(segment.dropFirst(middle))], tracks)
                }
            })
    }

    private static func demux(_ segments: [[UInt8]], _ tracks: TrackSelection) throws {
        var demuxer = TransportDemuxer(tracks: tracks)
        var outputs: [DemuxedSegment] = []
        for segment in segments {
            do throws(MediaError) { outputs.append(try demuxer.feed(segment)) } catch {
                outputs.append(try demuxer.reset())
            }
        }
        outputs.append(try demuxer.finish())
        try DemuxInvariants(bytes: segments.reduce(0) { $0 + $1.count }).check(outputs)
    }
}

/// Checks the invariants of a demuxer's output.
struct DemuxInvariants {
    /// Number of input bytes.
    let bytes: Int

    func check(_ outputs: [DemuxedSegment]) throws {
        let video = outputs.flatMap(\.video)
        let audio = outputs.flatMap(\.audio)
        let packets = video.count + audio.count + outputs.reduce(0) { $0 + $1.metadata.count }
        try demand(packets <= bytes, "\(packets) packets of \(bytes) bytes")
        for packet in video {
            try demand(!packet.payload.isEmpty, "an empty frame")
            try demand(isWire(packet.pts) && isWire(packet.dts), "times outside of 33 bits: \(packet)")
            try demand(LengthPrefix.isWhole(packet.payload), "incomplete NAL units in a frame")
        }
        for packet in audio {
            try demand(isWire(packet.pts), "a time outside of 33 bits: \(packet)")
            try demand(
                packet.configuration.samplesPerFrame >= 0, "a negative frame length: \(packet.configuration)")
        }
        let videoBytes = video.reduce(0) { $0 + $1.payload.count }
        try demand(videoBytes <= 5 * bytes + outputs.count << 20, "\(videoBytes) bytes of video from \(bytes)")
        let audioBytes = audio.reduce(0) { $0 + $1.payload.count }
        try demand(audioBytes <= 2 * bytes + 4096, "\(audioBytes) bytes of audio from \(bytes)")
    }

    private func isWire(_ time: Ticks?) -> Bool { time.map { (0..<Ticks.wrap).contains($0.count) } ?? true }
}

/// Checks length-prefixed NAL units (ISO/IEC 14496-15 §5.3.4.2.1).
enum LengthPrefix {
    static func isWhole(_ payload: ArraySlice<UInt8>) -> Bool {
        var rest = payload
        while rest.count >= 4 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard length > 0, length <= rest.count - 4 else { return false }
            rest = rest.dropFirst(4 + length)
        }
        return rest.isEmpty
    }
}
