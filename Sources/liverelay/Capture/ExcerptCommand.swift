import ArgumentParser
import Capture
import Foundation
import Tracker

/// `liverelay excerpt DIR OUT`
struct ExcerptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "excerpt", abstract: "Copy a capture, or a stretch of it, to show it to others.",
        discussion: """
            The copy replays alone: it has every playlist as it stood when the stretch began, and the segments, keys and \
            maps that its playlists name. What is stripped is stripped from the index and from the playlists alike, so the \
            copy is republished as the capture is.

            liverelay excerpt evening break --from 12m --to 14m --strip-query --strip-headers
            liverelay replay break
            """)

    @Argument(help: ArgumentHelp("Directory of a capture.", valueName: "capture"))
    var capture: String

    @Argument(help: ArgumentHelp("Directory for the copy; empty or not there yet.", valueName: "copy"))
    var copy: String

    @Option(name: .customLong("from"), help: "Where the stretch begins, since the recording began: 90, 15m, 2h.")
    var start = TimeSpan(seconds: 0)

    @Option(name: .customLong("to"), help: "Where it ends; with the capture, unless given.")
    var end: TimeSpan?

    @OptionGroup(title: "What is left out") var strip: StripOptions

    func validate() throws {
        if let end, end.seconds <= start.seconds { throw ValidationError("--to has to be later than --from.") }
    }

    func run() async throws {
        do throws(CaptureError) {
            let source = try CaptureDirectory(URL(filePath: capture, directoryHint: .isDirectory))
            let isWhole = start.seconds == 0 && end == nil
            let past = end?.duration ?? max(source.index.duration, start.duration) + .seconds(1)
            let excerpt = try CaptureExcerpt(of: source, timeRange: isWhole ? nil : start.duration..<past)
            let totals = try excerpt.write(
                to: URL(filePath: copy, directoryHint: .isDirectory), redaction: strip.options)
            print("Copied \(totals.exchanges) of \(source.index.exchanges.count) answers to \(copy)")
        } catch { throw RelayError(error) }
    }
}
