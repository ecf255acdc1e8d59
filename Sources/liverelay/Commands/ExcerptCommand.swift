import ArgumentParser
import Capture
import Foundation
import Support

/// `liverelay excerpt DIR OUT`
struct ExcerptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "excerpt", abstract: "Copy a capture, or a time range of it, to give to others.",
        discussion: """
            The copy replays alone: it has every playlist as it was at the start of the range, and the segments, keys and \
            maps that its playlists name. The index and the playlists are stripped alike, so the copy is republished like \
            the capture.

            liverelay excerpt evening break --from 12m --to 14m --strip-query --strip-headers
            liverelay replay break
            """)

    @Argument(help: ArgumentHelp("Directory of a capture.", valueName: "capture"), completion: .directory)
    var capture: String

    @Argument(
        help: ArgumentHelp("Directory for the copy; empty or not existing yet.", valueName: "copy"),
        completion: .directory)
    var copy: String

    @Option(name: .customLong("from"), help: "Start of the range, since the capture began: 90, 15m, 2h.")
    var start = TimeSpan(seconds: 0)

    @Option(name: .customLong("to"), help: "End of the range; the end of the capture by default.")
    var end: TimeSpan?

    @OptionGroup(title: "Redaction") var strip: StripOptions

    func validate() throws {
        if let end, end.seconds <= start.seconds { throw ValidationError("--to has to be later than --from.") }
    }

    func run() async throws {
        let source = try CaptureDirectory(argument: capture)
        do throws(CaptureError) {
            let excerpt = try CaptureExcerpt(of: source, timeRange: timeRange(in: source))
            let totals = try excerpt.write(
                to: URL(filePath: copy, directoryHint: .isDirectory), redaction: strip.options)
            print("Copied \(totals.exchanges) of \(source.index.exchanges.count) answers to \(copy)")
        } catch { throw RelayError(error) }
    }

    /// The range from `--from` to `--to`; nil for the whole capture.
    private func timeRange(in source: CaptureDirectory) -> Range<Duration>? {
        if start.seconds == 0 && end == nil { return nil }
        return start.duration..<(end?.duration ?? max(source.index.duration, start.duration) + .seconds(1))
    }
}
