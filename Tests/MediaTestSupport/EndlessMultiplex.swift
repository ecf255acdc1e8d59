import TestSupport

@testable import Media

/// A live multiplex of 25 pictures per second with a key frame each second and audio, of which connections have parts.
struct EndlessMultiplex {
    static let framesPerSecond = 25
    static let frameTicks: Int64 = 3600
    static let videoPID: UInt16 = 0x100
    static let audioPID: UInt16 = 0x101
    private static let audioPerFrame: Int64 = 1920

    let base: Int64
    /// Packets of 188 bytes.
    private(set) var bytes: [UInt8] = []
    /// The bytes of each frame, from its first to its last packet.
    private(set) var frames: [Range<Int>] = []
    /// The bytes before which each frame begins, in packets of another size.
    let packetSize: Int

    /// - Parameters:
    ///   - base: decoding time of the first frame.
    ///   - seed: of the content, so that another encoder has other frames.
    ///   - programs: what the PAT lists after the program of the video.
    init(
        seconds: Int, base: Int64 = 900_000, seed: UInt8 = 0, packetSize: Int = 188, tables: Bool = true,
        keyInterval: Int = framesPerSecond, radio: Bool = false
    ) {
        self.base = base
        self.packetSize = packetSize
        var builder = TransportStreamBuilder()
        for frame in 0..<seconds * Self.framesPerSecond {
            if tables, frame.isMultiple(of: 5) {
                builder.association((radio ? [(2, 0x1100)] : []) + [(1, 0x1000)])
                if radio { builder.map([.init(pid: 0x301, type: 0x0F)], program: 2, mapPID: 0x1100) }
                builder.map(Self.streams)
            }
            let start = builder.bytes.count
            builder.pes(
                pid: Self.videoPID, pts: Self.wire(base + Int64(frame) * Self.frameTicks),
                Self.picture(frame, seed: seed, isKey: frame.isMultiple(of: keyInterval)))
            frames.append(start..<builder.bytes.count)
            builder.pes(
                pid: Self.audioPID, streamID: 0xC0,
                pts: Self.wire(base + Int64(frame) * Self.frameTicks - 18_000), isBounded: true,
                ElementarySamples.adts(UInt8(frame & 0x7F)))
            if radio {
                builder.pes(
                    pid: 0x301, streamID: 0xC0, pts: Self.wire(base + Int64(frame) * Self.frameTicks), isBounded: true,
                    ElementarySamples.adts(UInt8(frame & 0x7F)))
            }
        }
        bytes = Self.packets(builder.bytes, size: packetSize)
    }

    static let streams: [TransportStreamBuilder.Stream] = [
        .init(pid: videoPID, type: 0x1B), .init(pid: audioPID, type: 0x0F),
    ]

    static func wire(_ time: Int64) -> Int64 { time & (1 << 33 - 1) }

    static func picture(_ frame: Int, seed: UInt8, isKey: Bool) -> [UInt8] {
        let fill = UInt8(truncatingIfNeeded: frame) ^ seed
        return isKey ? ElementarySamples.idr(fill, size: 900) : ElementarySamples.plain(fill, size: 250 + frame % 60)
    }

    /// Adds what other packet sizes add.
    static func packets(_ bytes: [UInt8], size: Int) -> [UInt8] {
        guard size != 188 else { return bytes }
        return stride(from: 0, to: bytes.count, by: 188).flatMap { offset in
            let packet = bytes[offset..<offset + 188]
            let (before, after): ([UInt8], Int) = size == 192 ? ([0x11, 0x22, 0x33, 0x44], 0) : ([], size - 188)
            return before + Array(packet) + [UInt8](repeating: 0xEE, count: after)
        }
    }

    /// The bytes from one time to another, in seconds. Both lie inside a packet.
    func part(_ from: Double, _ to: Double) -> Range<Int> { position(from)..<position(to) }

    private func position(_ seconds: Double) -> Int {
        let packets = bytes.count / packetSize
        let packet = Int(Double(packets) * seconds * Double(Self.framesPerSecond) / Double(frames.count))
        return min(bytes.count, packet * packetSize + (packet == 0 || packet >= packets ? 0 : 77))
    }

    /// The frames that are whole in a part.
    func wholeFrames(in part: Range<Int>) -> [Int] {
        frames.indices.filter { index in
            let range = frames[index]
            let (first, last) = (range.lowerBound / 188 * packetSize, range.upperBound / 188 * packetSize)
            return first >= part.lowerBound && last <= part.upperBound
        }
    }

    /// The numbers of the frames in a segment, by their decoding times.
    func frameNumbers(in segment: [UInt8]) -> [Int] { Self.frameNumbers(in: segment, base: base) }

    static func frameNumbers(in segment: [UInt8], base: Int64) -> [Int] {
        times(of: videoPID, in: segment).map { time in
            Int((Ticks(wire: Ticks(time), near: Ticks(base)).count - base) / frameTicks)
        }
    }

    static func audioNumbers(in segment: [UInt8], base: Int64) -> [Int] {
        times(of: audioPID, in: segment).map { time in
            Int((Ticks(wire: Ticks(time), near: Ticks(base)).count - base + 18_000) / frameTicks)
        }
    }

    /// The PTS of each PES packet of a PID.
    static func times(of pid: UInt16, in segment: [UInt8]) -> [Int64] {
        stride(from: 0, to: segment.count, by: 188).compactMap { offset in
            let number = UInt16(segment[offset + 1] & 0x1F) << 8 | UInt16(segment[offset + 2])
            guard number == pid, segment[offset + 1] & 0x40 != 0 else { return nil }
            let payload = offset + 4 + (segment[offset + 3] & 0x20 != 0 ? 1 + Int(segment[offset + 4]) : 0)
            let bytes = segment[payload + 9..<payload + 14].map { Int64($0) }
            return (bytes[0] >> 1 & 7) << 30 | (bytes[1] << 22) | (bytes[2] >> 1) << 15 | bytes[3] << 7 | bytes[4] >> 1
        }
    }
}
