import CLibAV
import Media
import Testing

@testable import MediaTestSupport
@testable import Transcode

/// Names for the dynamic loader; nil for a library's compiled name.
struct LibraryNames: Sendable {
    var avutil: String?
    var swresample: String?
    var avcodec: String?
}

private let rows: [(when: String, names: LibraryNames, missing: String?)] = [
    ("all are installed", LibraryNames(), nil),
    ("libavutil is missing", LibraryNames(avutil: "libavutil.so.0"), "libavutil.so.0"),
    ("libswresample is missing", LibraryNames(swresample: "libswresample.so.0"), "libswresample.so.0"),
    ("libavcodec is missing", LibraryNames(avcodec: "libavcodec.so.0"), "libavcodec.so.0"),
    ("a library without the functions", LibraryNames(avcodec: "libz.so.1"), "libz.so.1"),
]

@Test("A library of libav that cannot be loaded is a typed error that names it", arguments: rows)
private func loading(when: String, names: LibraryNames, missing: String?) {
    let error = failure(names)
    guard let missing else { return #expect(error == nil, "\(when)") }
    guard case .missingLibrary(missing, let detail)? = error?.reason else {
        Issue.record("\(when): \(String(describing: error))")
        return
    }
    #expect(detail.contains(missing), "\(when)")
}

@Test("The compiled libraries are loaded once, whoever asks first")
func loadingAtOnce() async throws {
    let addresses = try await withThrowingTaskGroup(of: UInt.self) { group in
        for _ in 0..<8 { group.addTask { unsafe try UInt(bitPattern: LibAV.functions()) } }
        return try await group.reduce(into: Set<UInt>()) { $0.insert($1) }
    }
    #expect(addresses.count == 1)
}

private func failure(_ names: LibraryNames) -> MediaError? {
    let compiled = unsafe liverelay_libav_compiled()
    var functions = liverelay_libav()
    return unsafe withCString(names.avutil, or: compiled.avutil) { avutil in
        unsafe withCString(names.swresample, or: compiled.swresample) { swresample in
            unsafe withCString(names.avcodec, or: compiled.avcodec) { avcodec in
                var names = unsafe liverelay_libav_names(avutil: avutil, swresample: swresample, avcodec: avcodec)
                let failure = unsafe liverelay_libav_open(&names, &functions)
                return unsafe failure.library == nil ? nil : LibAV.error(failure)
            }
        }
    }
}

private func withCString<Result>(
    _ name: String?, or other: UnsafePointer<CChar>, _ body: (UnsafePointer<CChar>) -> Result
) -> Result {
    guard let name else { return unsafe body(other) }
    return unsafe name.withCString(body)
}
