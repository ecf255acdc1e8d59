import ChannelTestSupport
import Foundation
import TestSupport
import Testing

@testable import Channel
@testable import Export
@testable import LiveRing
@testable import Media
@testable import Record
@testable import Support

/// Recordings without their ad breaks, judged by ffmpeg.
@Suite struct RecordingCutTests {
    /// A recording of a capture that is closed but has no last form yet, with breaks at places of it.
    /// - Parameter breaks: in milliseconds after its start.
    private static func recording(
        of state: ChannelState, in folder: RecordingFolder, as format: RecordingFormat, _ ads: RecordingAds,
        breaks: [Range<Int64>]
    ) async throws -> RecordingFile {
        let plan = RecordingPlan(
            channel: "news", title: "News", path: "\(folder.path)/news", format: format, ads: ads)
        let file = try RecordingFile(RecordingJournal(plan), at: "\(folder.path)/.news.recording")
        state.setState(.ended, reason: nil)
        let first = try #require(state.publication?.firstMediaSequence)
        var writer: RecordingWriter? = RecordingWriter(file, from: first)
        _ = await RecordingWriter.follow(state, with: &writer, open: { _ in nil }, report: { _ in })
        let journal = file.journal
        let start = try #require(journal.segments.first?.date)
        let known = journal.breaks.map { RecordingJournal.Line.noBreak($0.start) }
        let planted = breaks.map { range in
            RecordingJournal.Line.adBreak(
                AdBreak(
                    evidence: .signalled, id: nil, start: start.advanced(byMilliseconds: range.lowerBound),
                    end: start.advanced(byMilliseconds: range.upperBound), parts: []))
        }
        try file.record(known + planted)
        return file
    }

    /// At 25 frames a second, a random access point each two seconds.
    private static let rows:
        [(when: String, format: RecordingFormat, breaks: [Range<Int64>], file: String, frames: [Range<Int>])] = [
            ("at random access points", .mkv, [4000..<8000], "news.mkv", [0..<100, 200..<500]),
            ("the same as a movie", .mp4, [4000..<8000], "news.mp4", [0..<100, 200..<500]),
            ("between them", .mp4, [4520..<9040], "news.mp4", [0..<113, 226..<500]),
            ("between them, which Matroska cannot hide", .mkv, [4520..<9040], "news.mp4", [0..<113, 226..<500]),
            ("within a group of pictures", .mp4, [4200..<5400], "news.mp4", [0..<105, 135..<500]),
            ("at the start", .mp4, [0..<3000], "news.mp4", [75..<500]),
            ("at the end", .mkv, [8000..<60_000], "news.mkv", [0..<200]),
            (
                "three", .mp4, [1000..<2000, 6000..<7000, 12_000..<14_000], "news.mp4",
                [0..<25, 50..<150, 175..<300, 350..<500]
            ),
        ]

    @Test(arguments: rows) func framesOfBreaksAreGone(
        when: String, format: RecordingFormat, breaks: [Range<Int64>], name: String, frames: [Range<Int>]
    ) async throws {
        var channel = try SpooledChannel(of: .clean)
        let state = try await channel.relay()
        let folder = RecordingFolder()
        let file = try await Self.recording(of: state, in: folder, as: format, .cut, breaks: breaks)
        let (path, _) = try #require(try RecordingFinisher(file)?.finish())
        #expect(path == "\(folder.path)/\(name)", "\(when)")
        let all = try channel.result.decodedFrames
        let found = try ReplayResult.frames(of: [("", [], try folder.bytes(name))])
        #expect(
            found == frames.flatMap { all[$0.clamped(to: 0..<all.count)] }, "\(when): \(found.count) of \(all.count)")
    }

    @Test func bothFilesAndTheDocument() async throws {
        var channel = try SpooledChannel(of: .clean)
        let state = try await channel.relay()
        for ads in [RecordingAds.keep, .cut, .both] {
            let folder = RecordingFolder()
            let file = try await Self.recording(of: state, in: folder, as: .mkv, ads, breaks: [4000..<8000])
            _ = try #require(try RecordingFinisher(file)?.finish())
            let document = String(decoding: try folder.bytes("news.json"), as: UTF8.self)
            #expect(folder.files.contains("news.cut.mkv") == (ads == .both), "\(folder.files)")
            #expect(document.contains(#""cutFile":"news.cut.mkv""#) == (ads == .both), "\(document)")
            #expect(document.contains(#""cuts":[{"position":4.0,"seconds":4.0}]"#) == (ads == .cut), "\(document)")
            #expect(folder.files.contains("news.edl") == (ads != .cut), "\(folder.files)")
            let whole = RecordingRetention.files("\(folder.path)/news").suffixes.sorted()
            #expect(whole.map { "news.\($0)" } == folder.files, "retention finds every file")
        }
    }

    private static let kept: [(when: String, format: RecordingFormat, breaks: [Range<Int64>], note: String?)] = [
        ("a transport stream", .ts, [4000..<8000], "A .ts keeps its ad breaks"),
        ("nothing but a break", .mp4, [0..<60_000], "It is one ad break from its start to its end"),
        ("no break", .mp4, [], nil),
    ]

    @Test(arguments: kept) func uncut(
        when: String, format: RecordingFormat, breaks: [Range<Int64>], note: String?
    ) async throws {
        var channel = try SpooledChannel(of: .clean)
        let state = try await channel.relay()
        let folder = RecordingFolder()
        let file = try await Self.recording(of: state, in: folder, as: format, .cut, breaks: breaks)
        let result = try #require(try RecordingFinisher(file)?.finish())
        #expect(result.note?.hasPrefix(note ?? " ") ?? (note == nil), "\(when): \(result)")
        let found = try ReplayResult.frames(of: [("", [], try folder.bytes("news.\(format)"))])
        #expect(try found == channel.result.decodedFrames, "\(when)")
    }

    /// The size that catalogs show is that of the program, not of the ad before it.
    @Test(arguments: [RecordingFormat.mp4, .mkv]) func sizeIsThatOfTheLongestConfiguration(
        _ format: RecordingFormat
    ) async throws {
        var channel = try SpooledChannel(of: .ssaiTagged)
        let state = try await channel.relay(.init(times: Duration.seconds(20)..<Duration.seconds(45)))
        let folder = RecordingFolder()
        let file = try await Self.recording(of: state, in: folder, as: format, .keep, breaks: [])
        let (path, _) = try #require(try RecordingFinisher(file)?.finish())
        let entries = try #require(state.snapshot).index.listed.filter { !$0.isGap }
        let first = try #require(entries.first?.initialization)
        let last = try #require(entries.last?.initialization)
        #expect(first != last)
        let probe = try FFmpegTool.run(
            "ffprobe",
            ["-v", "error", "-select_streams", "v", "-show_entries", "stream=width,height", "-of", "csv=p=0", "INPUT"],
            input: try folder.bytes(String(path.split(separator: "/").last ?? "")))
        #expect(probe.text.trimmingCharacters(in: .whitespacesAndNewlines) == "480,270", "\(probe.text)")
    }
}
