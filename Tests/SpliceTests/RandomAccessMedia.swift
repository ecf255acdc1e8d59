import TestSupport

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// A transport stream that ffmpeg generates, cut at any frame.
struct RandomAccessMedia {
    static let frames = 200

    /// PAT and PMT, in front of every segment.
    private let tables: [UInt8]
    /// The video packets of each frame, in decoding order.
    private let units: [[UInt8]]

    /// - Parameter video: options of the encoder for 25 frames per second.
    init(_ video: [String], seconds: Int = Self.frames / 25) throws {
        let bytes = try OracleMedia.make(video: video + ["-threads", "1"], audio: nil, seconds: seconds)
        var tables: [[UInt8]] = []
        var units: [[UInt8]] = []
        for start in stride(from: 0, to: bytes.count, by: 188) {
            let packet = Array(bytes[start..<start + 188])
            let (pid, begins) = (Int(packet[1] & 0x1F) << 8 | Int(packet[2]), packet[1] & 0x40 != 0)
            switch pid {
            case 0 where tables.isEmpty, 0x1000 where tables.count == 1: tables.append(packet)
            case 0x100 where begins: units.append(packet)
            case 0x100: units[units.count - 1] += packet
            default: break
            }
        }
        self.tables = tables.flatMap(\.self)
        self.units = units
    }

    /// Returns the frames decoded at `range` as one segment.
    func segment(_ range: Range<Int>) -> [UInt8] { tables + units[range].joined() }

    /// Returns the frames from `first` on in segments of `count`.
    func segments(from first: Int, count: Int) -> [[UInt8]] {
        stride(from: first, to: units.count, by: count).map { segment($0..<min($0 + count, units.count)) }
    }

    /// Returns presentation time and hash of every frame that ffmpeg decodes, in the order of presentation.
    static func decoded(_ bytes: [UInt8]) throws -> [(time: Int, hash: String)] {
        let text = try FragmentTool.make(
            [
                "-copyts", "-i", "INPUT", "-map", "0:v", "-fps_mode", "passthrough", "-enc_time_base", "1:90000", "-f",
                "framemd5",
            ], input: bytes)
        return String(decoding: text, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }.map {
            let fields = $0.split(separator: ",").map { $0.filter { $0 != " " } }
            return (Int(fields[2]) ?? 0, fields[5])
        }
    }
}
