package import Foundation

/// A committed capture, `Captures/<name>/`: `index.json`, `body/` and `expected/`.
package struct CaptureFixture: Hashable, Sendable, CustomStringConvertible {
    package let name: String

    package init(_ name: String) { self.name = name }

    /// One program without discontinuities.
    package static let clean = CaptureFixture("clean")
    /// An ad pod of three ads in a program, with a discontinuity tag at each boundary.
    package static let ssaiTagged = CaptureFixture("ssai_tagged")
    /// The same media without discontinuity tags.
    package static let ssaiUntagged = CaptureFixture("ssai_untagged")
    /// The 33-bit clock wraps in the middle of a segment.
    package static let wrap = CaptureFixture("wrap")
    /// Video with a companion audio rendition, AES-128.
    package static let demuxedAES128 = CaptureFixture("demuxed_aes128")
    /// An audio-only channel, in two containers.
    package static let audioOnly = CaptureFixture("audio_only")
    /// A WebVTT rendition beside the pod of `ssaiTagged`.
    package static let webVTT = CaptureFixture("webvtt")

    /// Every capture with an index, by name.
    package static func all() throws -> [CaptureFixture] {
        let folder = PackageRoot.url.appending(path: "Captures")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .map { CaptureFixture($0) }
            .filter { FileManager.default.fileExists(atPath: $0.file("index.json").path) }
    }

    package var directory: URL { PackageRoot.url.appending(path: "Captures").appending(path: name) }

    package var description: String { name }

    /// - Parameter path: relative to the capture's directory.
    package func file(_ path: String) -> URL { directory.appending(path: path) }

    /// The expected output for this capture, for `expectGolden`.
    package func expected(_ path: String) -> URL { directory.appending(path: "expected").appending(path: path) }

    /// The bytes of one file, such as `body/main-00.ts`.
    package func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: file(path))) }

    /// The bytes of every file of `body/` whose name begins with `prefix`, in the order of their names.
    package func bodies(_ prefix: String) throws -> [[UInt8]] {
        try FileManager.default.contentsOfDirectory(atPath: file("body").path).sorted()
            .filter { $0.hasPrefix(prefix) }
            .map { try bytes("body/\($0)") }
    }
}
