/// Which folders see a C library, a package or a part of the system. The arrows between our own modules are those of
/// Package.swift, which the build checks.
enum ImportRule {
    /// A library, and the folders or files of Sources that may import it. One that is not here may be imported nowhere.
    static let importers: [String: [String]] = [
        "CCurl": ["Fetch/Curl/"],
        "CCrypto": ["Decrypt/AES128CBC.swift", "Support/Digests/SHA256.swift"],
        "CLibAV": ["Transcode/LibAV/"],
        "CEmbed": ["Service/Page/PageFile.swift"],
        "CSpawn": ["Observability/Processes/ProgramStart.swift"],
        "CFileSystem": ["LiveRing/Spool/FileSystem.swift", "Service/Streaming/StreamDescriptor.swift"],
        "CZlib": ["Support/Compression/"],
        "CLzma": ["Support/Compression/"],

        "Yams": ["ChannelList/Configuration/YAMLDocument.swift"],

        "NIOSSL": ["WebServer/TLS/"],
        "NIOHTTP2": ["WebServer/TLS/"],
        "NIOTLS": ["WebServer/TLS/"],
        "NIOCore": ["WebServer/", "liverelay/Tuner/", "liverelay/Replay/"],
        "NIOPosix": ["WebServer/", "liverelay/Tuner/"],
        "NIOHTTP1": ["WebServer/", "liverelay/Replay/"],
        "ArgumentParser": ["liverelay/"],
        "Logging": ["WebServer/", "Observability/", "Guide/", "Service/", "liverelay/"],

        // The rules of time zones are those that Foundation brings.
        "Foundation": [
            "Capture/", "Support/Dates/LocalClock.swift", "Record/", "HTTP/Access/", "WebServer/",
            "Observability/",
            "Guide/",
            "Service/", "liverelay/",
        ],
        "Glibc": [
            "Support/Addresses/IPAddress.swift", "Support/Dates/WallClock.swift", "Fetch/Curl/", "Fetch/Datagrams/",
            "Fetch/DeadlineExecutor.swift",
            "Support/Files/LocalFile.swift", "LiveRing/Spool/", "LiveRing/Values/RingError+Message.swift",
            "Export/Slate/SlateError+Message.swift",
            "Export/Pool/MediaPool.swift", "Record/", "HTTP/Access/", "WebServer/",
            "Observability/", "Guide/", "Service/", "liverelay/",
        ],
        "Dispatch": [
            "Fetch/DeadlineExecutor.swift", "Export/Pool/MediaPool.swift", "HTTP/", "WebServer/", "Observability/",
            "Service/",
            "liverelay/",
        ],
        "Synchronization": [""],
    ]

    /// Our own modules.
    static let modules: Set = [
        "Support", "Playlist", "Media", "DASH", "Fetch", "Tracker", "Capture", "Decrypt", "Demux", "Transcode", "Mux",
        "Splice", "LiveRing", "ArchiveStore", "Fleet",
        "Export", "Channel", "Record", "Conformance", "Inspect", "ChannelList",
        "HTTP",
        "WebServer",
        "Observability", "Guide", "Service", "liverelay",
    ]

    static func findings(in file: SourceFile) -> [String] {
        guard file.module != nil else { return [] }
        let place = file.path.dropFirst("Sources/".count)
        return imports(of: file).compactMap { name, line in
            if modules.contains(name) { return nil }
            guard let allowed = importers[name] else {
                return file.finding(line, "imports \(name), which no row of ImportRule allows")
            }
            if allowed.contains(where: { place.hasPrefix($0) }) { return nil }
            return file.finding(line, "imports \(name), which only \(allowed.joined(separator: ", ")) may")
        }
    }

    /// `import X`, `import struct X.Y` and `@_exported import X` alike name X.
    private static func imports(of file: SourceFile) -> [(name: String, line: Int)] {
        let kinds: Set = ["struct", "class", "enum", "protocol", "typealias", "func", "var", "let", "actor"]
        return file.tokens.indices.filter { file.tokens[$0].text == "import" }.compactMap { index in
            let name = file.tokens[(index + 1)...].first { !kinds.contains($0.text) }
            return name.map { ($0.text, file.tokens[index].line) }
        }
    }
}
