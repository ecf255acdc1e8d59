package import Foundation
import Testing

/// Slate files made by ffmpeg.
package enum SlateFixture {
    /// Writes three seconds of a test pattern with a tone.
    /// - Parameter pattern: a source of ffmpeg's lavfi device.
    package static func write(
        to file: URL, pattern: String = "testsrc=size=320x180:rate=25:duration=3"
    ) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", pattern, "-f", "lavfi", "-i"]
            + ["sine=frequency=440:sample_rate=44100:duration=3", "-c:v", "libx264", "-g", "25", "-pix_fmt", "yuv420p"]
            + ["-c:a", "aac", "-ac", "1", file.path]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}
