// swift-tools-version: 6.2
import PackageDescription

// The whole line without HTTP and without a command line, and a day of trouble for it. It is a package of its own so that
// SwiftNIO need not be built for a release build that nothing else wants. `run` builds it. Its name is that of the package
// it plays: what is `package` there is seen here.

/// What the package's own targets have, but for warnings: the sources are those that ./test holds to them.
let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func module(
    _ name: String, _ dependencies: [Target.Dependency], path: String? = nil, sources: [String]? = nil
) -> Target {
    .target(name: name, dependencies: dependencies, path: path, sources: sources, swiftSettings: strict)
}

let package = Package(
    name: "liverelay",
    dependencies: [.package(url: "https://github.com/apple/swift-log", from: "1.16.2")],
    targets: [
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl"),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto"),
        .systemLibrary(name: "CLibAV", pkgConfig: "libavformat libavcodec libswresample libavutil"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib"),
        module("Playlist", []),
        module("Tracker", ["Playlist", "CCurl", "CZlib"]),
        module("Decrypt", ["Playlist", "CCrypto"]),
        module("Splice", ["CLibAV"]),
        module("LiveRing", ["Playlist"]),
        // Of the executable what stands between the tracker and viewers, but for what speaks HTTP.
        module(
            "liverelay",
            [
                "Playlist", "Tracker", "Decrypt", "Splice", "LiveRing", "CZlib",
                .product(name: "Logging", package: "swift-log"),
            ],
            sources: [
                "Channel", "Slate", "ExitStatus.swift", "OperatorWords.swift", "RelayError.swift",
                "HTTP/FieldLists.swift", "HTTP/Gzip.swift", "HTTP/HTTPByteRange.swift", "HTTP/HTTPServerError.swift",
                "HTTP/MimeType.swift", "HTTP/RequestTarget.swift", "HTTP/Response.swift",
            ]),
        module(
            "TestSupport", ["Playlist"], path: "Support",
            sources: ["CaptureFixture.swift", "PackageRoot.swift", "PlaylistRules.swift", "SeededGenerator.swift"]),
        module(
            "Soak",
            [
                "liverelay", "Playlist", "Tracker", "Splice", "LiveRing", "TestSupport", "CCrypto",
                .product(name: "Logging", package: "swift-log"),
            ], path: "Soak"),
        .executableTarget(name: "soak", dependencies: ["Soak"], path: "Driver", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
