import Channel
import Fetch
import Foundation
import Glibc
import Support

/// The bytes that `liverelay check` judges: of a file, of standard input, or of an answer over HTTP.
struct CheckSource {
    /// The bytes of one call of `next`.
    private static let partSize = 1 << 20
    /// How often a silent source notices that the task is canceled, in milliseconds.
    private static let pollInterval: Int32 = 200

    /// The input, without the secrets of a URL.
    let name: String
    /// nil for an answer over HTTP.
    private let file: FileHandle?
    private var answer: ArraySlice<UInt8> = []
    private var isFirst = true

    /// - Parameters:
    ///   - maxBytes: the largest answer over HTTP that is accepted.
    ///   - configuration: of the request.
    init(_ input: String, maxBytes: Int, _ configuration: CurlConfiguration) async throws {
        name = Self.redacted(input)
        if input == "-" {
            file = .standardInput
        } else if input.contains("://") {
            file = nil
            answer = try await Self.fetch(input, maxBytes: maxBytes, configuration)[...]
        } else {
            do { file = try FileHandle(forReadingFrom: URL(filePath: input)) } catch {
                throw Self.unreadable(name, code: errno)
            }
        }
    }

    /// The input's name, without the secrets of a URL.
    static func redacted(_ input: String) -> String { input.contains("://") ? URIReference.redacted(input) : input }

    /// - Returns: nil at the end, or once the task is canceled.
    mutating func next() throws -> [UInt8]? {
        let bytes = if let file { try read(file.fileDescriptor) } else { nextOfAnswer() }
        if isFirst, Self.isPlaylist(bytes) {
            throw RelayError(
                .unreadableInput, "\(name) is an HLS playlist, not a transport stream",
                advice: "Give its URL or its file, by which its segments are found: liverelay check URL")
        }
        isFirst = false
        return bytes.isEmpty ? nil : bytes
    }

    private mutating func nextOfAnswer() -> [UInt8] {
        defer { answer = answer.dropFirst(Self.partSize) }
        return Array(answer.prefix(Self.partSize))
    }

    private func read(_ descriptor: Int32) throws -> [UInt8] {
        while !Task.isCancelled {
            var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&state, 1, Self.pollInterval) > 0 else { continue }
            var result = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.partSize) { buffer, count in
                result = unsafe Glibc.read(descriptor, buffer.baseAddress, Self.partSize)
                count = max(0, result)
            }
            if result >= 0 { return bytes }
            guard errno == EINTR || errno == EAGAIN else { throw Self.unreadable(name, code: errno) }
        }
        return []
    }

    /// Whether the answer over HTTP is a playlist.
    var isPlaylist: Bool { Self.isPlaylist(Array(answer.prefix(1024))) }

    private static func fetch(
        _ url: String, maxBytes: Int, _ given: CurlConfiguration
    ) async throws -> [UInt8] {
        var configuration = given
        configuration.segmentLimits = .init(bodyBytes: maxBytes, idle: .seconds(8), total: .seconds(600))
        let outcome: FetchOutcome
        do throws(FetchError) {
            outcome = try await CurlFetcher(upstream: url, configuration: configuration)
                .fetch(FetchRequest(.segment, url: url))
        } catch { outcome = .failure(error) }
        switch outcome {
        case .success(let answer) where answer.isSuccess: return answer.body
        case .success(let answer):
            throw RelayError(
                .upstreamUnavailable, "\(redacted(url)) answers with status \(answer.status)",
                advice: "Check the URL; with headers of your own: curl … | liverelay check -")
        case .failure(let error) where [.tooLarge, .timedOut].contains(error.reason):
            throw RelayError(
                .unreadableInput, "\(redacted(url)) has no end within \(maxBytes) bytes and 600 s",
                advice: "Judge an endless stream through a pipe: curl -sN URL | liverelay check - --for 10m")
        case .failure(let error): throw RelayError(unexpected: error)
        }
    }

    static func isPlaylist(_ bytes: [UInt8]) -> Bool {
        bytes.drop { $0 != UInt8(ascii: "#") }.starts(with: "#EXTM3U".utf8) && bytes.first != 0x47
    }

    private static func unreadable(_ name: String, code: Int32) -> RelayError {
        let reason = unsafe String(cString: strerror(code))
        return RelayError(.unreadableInput, "\(name) cannot be read: \(reason)", advice: "Give a file, a URL or -")
    }
}
