import ArgumentParser
import Capture
import Foundation
import Observability
import Support
import WebServer

/// `liverelay demo DIR`: a channel with ad breaks that needs no upstream.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Play a bundled capture as a looping live channel and republish it.",
        discussion: """
            Serves the capture at a loopback URL, at the pace of its segments, in an endless loop. liverelay pulls it \
            from there like any other channel. Compare the two URLs in a player.
            """)

    @Argument(help: ArgumentHelp("Directory of a capture.", valueName: "capture"))
    var capture = bundledCapture

    /// The capture of the sources, or that of the installed package.
    private static var bundledCapture: String {
        ["Captures/ssai_tagged", "/usr/share/liverelay/demo"]
            .first { FileManager.default.fileExists(atPath: $0 + "/index.json") } ?? "Captures/ssai_tagged"
    }

    @OptionGroup(title: "Serving") var serving: ServingOptions
    @OptionGroup(title: "Upstream") var intake: UpstreamOptions
    @OptionGroup(title: "Audio") var audio: AudioOptions

    func run() async throws {
        let origin = try origin()
        let clock = FirstRequestClock()
        let address = ListenAddress(host: "127.0.0.1", port: 0)
        let server: HTTPServer
        do {
            server = try await HTTPServer.start(origin, on: address) { clock.elapsed() }
        } catch { throw RelayError(error) }
        let upstream = address.baseURL(port: server.port) + origin.entryPath
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(
                try await serving.run(upstream: upstream, intake: intake, audio: audio) { base in
                    [
                        "The channel as it comes, ad breaks and all:  \(upstream)",
                        "The same, republished:                       \(base)live.m3u8",
                        "Rewind: \(base)dvr.m3u8   status: \(base)status.json   Ctrl-C ends it",
                    ]
                })
        } catch {
            outcome = .failure(error)
        }
        await server.shutdown(within: HTTPServer.shutdownLimit)
        try outcome.get()
    }

    /// An endless loop of the capture without its faults.
    private func origin() throws(RelayError) -> CapturedOrigin {
        let directory = try CaptureDirectory(argument: capture)
        do throws(CaptureError) {
            return try CapturedOrigin(
                CaptureDirectory(directory.url, index: directory.index.withoutFaults), loops: true)
        } catch { throw RelayError(error) }
    }
}

extension CaptureDirectory {
    /// Opens the capture that a command's argument names.
    init(argument path: String) throws(RelayError) {
        do throws(CaptureError) { try self.init(URL(filePath: path, directoryHint: .isDirectory)) } catch {
            throw RelayError(error)
        }
    }
}
