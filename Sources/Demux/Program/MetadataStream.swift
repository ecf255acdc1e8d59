import Media

/// An elementary stream of metadata and its PID.
struct MetadataStream: Hashable, Sendable {
    let pid: UInt16
    let kind: MetadataStreamKind
}

/// The kind of a metadata stream, by stream_type.
enum MetadataStreamKind: UInt8, Hashable, Sendable {
    /// ID3v2 tags in PES packets (Timed Metadata for HTTP Live Streaming §2).
    case id3 = 0x15
    /// Splice information sections (SCTE 35 §8.1).
    case splice = 0x86
}
