import ArgumentParser
import Capture
import ChannelList
import Foundation
import HTTP
import Support
import Tracker
import WebServer

/// `liverelay demo DIR`: a channel with ad breaks that needs no upstream, and never ends.
struct DemoCommand: AsyncParsableCommand, ChannelCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Play a bundled capture as a looping live channel and republish it.",
        discussion: """
            Serves the capture at a loopback URL, at the pace of its segments and with its faults, in an endless loop. \
            liverelay pulls it from there like any other channel. Compare the two URLs in a player. The bundled capture \
            has a signalled ad break of 30 s in every two minutes.
            """)

    @Argument(help: ArgumentHelp("Directory of a capture.", valueName: "capture"), completion: .directory)
    var capture = bundledCapture

    /// The capture in the source tree, beside the unpacked program, or in the installed package.
    private static var bundledCapture: String {
        ["Captures/cue_tags", Bundle.main.bundlePath + "/demo", "/usr/share/liverelay/demo"]
            .first { FileManager.default.fileExists(atPath: $0 + "/index.json") } ?? "Captures/cue_tags"
    }

    @OptionGroup(title: "Serving") var serving: ServingOptions
    @OptionGroup var end: EndOptions
    @OptionGroup(title: "Channel") var output: KeyOptions<OutputSection>
    @OptionGroup(title: "Recordings") var recording: KeyOptions<RecordingSection>
    @OptionGroup(title: "Upstream") var upstreams: KeyOptions<UpstreamSection>
    @OptionGroup(title: "Upstream") var requests: RequestArguments
    @OptionGroup(title: "Audio") var audio: KeyOptions<AudioSection>

    func validate() throws {
        try OptionChecks.checkSingle(channelOptions)
        try requests.check(channelOptions)
    }

    func run() async throws {
        let origin = try origin()
        let clock = FirstRequestClock()
        let address = ListenAddress(host: "127.0.0.1", port: 0)
        let server: HTTPServer
        do {
            server = try await HTTPServer.start(origin, on: address) { clock.elapsed() }
        } catch { throw RelayError(error) }
        let upstream = address.baseURL(port: server.port) + origin.entryPath
        var options = channelOptions
        options.giveUp = options.giveUp ?? .zero
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(
                try await RelayService(
                    sources: [upstream], options, requests, serving,
                    single: RelayService.Single(
                        opening: { OpeningPatience.enduring(giveUp: $0) }, exitsAtEnd: end.exitAtEnd
                    ) { base in
                        [
                            "The channel as it comes, ad breaks and all:  \(upstream)",
                            "The same, republished:                       \(base)live.m3u8",
                            "Page: \(base)   rewind: \(base)dvr.m3u8   ad breaks: \(base)breaks.json   Ctrl-C ends it",
                        ]
                    }
                ).run())
        } catch {
            outcome = .failure(error)
        }
        await server.shutdown(within: HTTPServer.shutdownLimit)
        try outcome.get()
    }

    /// An endless loop of the capture.
    private func origin() throws(RelayError) -> CapturedOrigin {
        let directory = try CaptureDirectory(argument: capture)
        do throws(CaptureError) { return try CapturedOrigin(directory, loops: true) } catch { throw RelayError(error) }
    }
}

extension CaptureDirectory {
    /// Opens the capture that a command's argument names.
    init(argument path: String) throws(RelayError) {
        let (files, advice) = (FileManager.default, "Give the directory of a capture")
        guard files.fileExists(atPath: path) else {
            throw RelayError(.badCapture, "There is no directory \(path.quoted)", advice: advice)
        }
        guard files.fileExists(atPath: path + "/index.json") else {
            throw RelayError(.badCapture, "\(path.quoted) is no capture: it has no index.json", advice: advice)
        }
        do throws(CaptureError) { try self.init(URL(filePath: path, directoryHint: .isDirectory)) } catch {
            throw RelayError(error)
        }
    }
}
