// swift-tools-version: 6.2
import PackageDescription

// The modules that take bytes from strangers, instrumented for libFuzzer. It is a package of its own so that all of it is
// built with -sanitize=fuzzer, and so that SwiftNIO need not be. `run` builds it. Its name is that of the package it
// looks into: what is `package` there is seen here.

/// What the package's own targets have, but for warnings: the sources are those that ./test holds to them.
let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func module(_ name: String, _ dependencies: [Target.Dependency], path: String? = nil, sources: [String]? = nil)
    -> Target
{
    .target(name: name, dependencies: dependencies, path: path, sources: sources, swiftSettings: strict)
}

let package = Package(
    name: "liverelay",
    targets: [
        .systemLibrary(name: "CLibAV", pkgConfig: "libavformat libavcodec libswresample libavutil"),
        module("Playlist", []),
        module("Splice", ["CLibAV"]),
        module("LiveRing", ["Playlist"]),
        // Of the executable only what reads a request.
        module(
            "liverelay", ["Playlist"], path: "Sources/liverelay/HTTP",
            sources: ["AcceptEncoding.swift", "EntityTag.swift", "HTTPByteRange.swift", "RequestTarget.swift"]),
        module("TestSupport", [], path: "Support", sources: ["CaptureFixture.swift", "PackageRoot.swift"]),
        module("FuzzEntries", ["Playlist", "Splice", "LiveRing", "liverelay", "TestSupport"], path: "Entries"),
        .target(name: "CFuzzer", path: "CFuzzer"),
        .executableTarget(
            name: "fuzz", dependencies: ["FuzzEntries", "CFuzzer"], path: "Driver", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
