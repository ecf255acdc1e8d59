import Capture
import ArgumentParser
import Foundation
import Tracker

/// `liverelay demo DIR`: a channel with an ad break, without a channel.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Play a bundled capture as a looping live channel and republish it.",
        discussion: """
            The capture is served on a loopback address of its own, at the pace of its segments, for ever; liverelay pulls \
            it from there as it would any other channel. Compare the two addresses in a player.
            """)

    @Argument(help: ArgumentHelp("Directory of a capture.", valueName: "capture"))
    var capture = "Captures/ssai_tagged"

    @OptionGroup(title: "Serving") var serving: ServingOptions
    @OptionGroup(title: "Upstream") var intake: UpstreamOptions
    @OptionGroup(title: "Sound") var sound: AudioOptions

    func run() async throws {
        let origin: DemoOrigin
        do {
            origin = try DemoOrigin(CaptureDirectory(URL(filePath: capture, directoryHint: .isDirectory)))
        } catch { throw RelayError(error) }
        let clock = ContinuousClock()
        let began = clock.now
        let server: HTTPServer
        do {
            server = try await HTTPServer.start(on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1) {
                origin.response(to: $0, at: began.duration(to: clock.now))
            }
        } catch { throw RelayError(error) }
        let upstream = "http://127.0.0.1:\(server.port)\(origin.entry)"
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(
                try await serving.run(upstream: upstream, intake: intake, sound: sound) { base in
                    [
                        "The channel as it comes, ad breaks and all:  \(upstream)",
                        "The same, republished:                       \(base)live.m3u8",
                        "Rewind: \(base)dvr.m3u8   status: \(base)status.json   Ctrl-C ends it",
                    ]
                })
        } catch {
            outcome = .failure(error)
        }
        await server.shutdown(within: RelayService.farewell)
        try outcome.get()
    }
}
