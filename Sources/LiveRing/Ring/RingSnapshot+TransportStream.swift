package import Playlist

// The playlists that list segments as transport streams. Their URIs are relative to a folder below the channel's URL.

extension RingSnapshot {
    /// `ts/live.m3u8` in UTF-8; nil before the first segment.
    package func transportStreamLivePlaylist() -> [UInt8]? {
        PublishedPlaylist(index: index, hasEnded: hasEnded, container: .transportStream).live.map(Self.bytes)
    }

    /// `ts/dvr.m3u8` in UTF-8; nil if the ring has no segment in the range.
    package func transportStreamDVRPlaylist(_ range: RewindRange) -> [UInt8]? {
        PublishedPlaylist(index: index, hasEnded: hasEnded, container: .transportStream).rewind(range).map(Self.bytes)
    }

    /// The playlist of what `selection(of:)` of this snapshot returned, as `ts/dvr.m3u8`.
    package func transportStreamDVRPlaylist(_ selection: RewindSelection) -> [UInt8]? {
        PublishedPlaylist(index: index, hasEnded: hasEnded, container: .transportStream).playlist(of: selection)
            .map(Self.bytes)
    }

    /// `ts/master.m3u8` in UTF-8, or `ts/dvr-master.m3u8` of a range; nil before the first segment.
    /// - Parameters:
    ///   - range: nil for the live playlists.
    ///   - format: returns the format of a segment's transport stream, given that of the segment and its
    ///     `TransportStreamPoint.parameters`.
    package func transportStreamMasterPlaylist(
        _ range: RewindRange? = nil, format: (SegmentFormat, String) -> SegmentFormat
    ) -> [UInt8]? {
        let query = range.map { $0.query.isEmpty ? "" : "?\($0.query)" } ?? ""
        let attributes = VariantAttributes(index.variantSums, rates: \.transportStream) { span in
            span.transportStream.map { format(span.format, $0) }
        }
        return master(attributes, uri: range == nil ? "live.m3u8" : "dvr.m3u8\(query)") {
            "../\(range == nil ? "" : "dvr-")\($0)\(query)"
        }
    }

    /// Where a range begins among the segments: the number of its first, the 90 kHz ticks of that before the range; and
    /// whether all of the range is published. nil if the ring has no segment in the range.
    package func part(of range: RewindRange) -> (first: UInt64, offset: Int64, isComplete: Bool)? {
        let newest = edge?.programDateTimeEnd.millisecondsSince1970 ?? 0
        let (start, end): (ProgramDateTime?, ProgramDateTime?) =
            switch range {
            case .whole: (nil, nil)
            case .between(let start, let end): (start, end)
            case .last(let span), .delayed(let span): (ProgramDateTime(millisecondsSince1970: newest - span), nil)
            }
        let indices = PublishedPlaylist(index: index, hasEnded: hasEnded).indices(from: start, to: end)
        guard let first = index.listed[indices].first else { return nil }
        let early = start.map { max(0, $0.milliseconds(since: first.programDateTime)) } ?? 0
        return (
            first.mediaSequence, PlaylistTicks.ticks(milliseconds: early),
            hasEnded || end.map { $0.millisecondsSince1970 <= newest } ?? false
        )
    }

    /// The dates of the first frame listed and of the end of the last; nil before the first segment.
    package var dates: (first: ProgramDateTime, end: ProgramDateTime)? {
        guard let first = index.listed.first, let last = edge else { return nil }
        return (first.programDateTime, last.programDateTimeEnd)
    }

    /// Whether a segment is listed that can be sent as a transport stream.
    package var hasTransportStream: Bool { index.variantSums.transportStream.ticks > 0 }

    /// The bytes of a file of the ring.
    package func bytes(of file: SpoolFile) throws(RingError) -> [UInt8] {
        try FileDescriptor(path(of: file), flags: FileDescriptor.readOnly).readToEnd()
    }

    /// Reads a file of the ring into the beginning of `buffer`, which is made longer if need be.
    /// - Returns: the number of its bytes.
    package func read(_ file: SpoolFile, into buffer: inout [UInt8]) throws(RingError) -> Int {
        try FileDescriptor(path(of: file), flags: FileDescriptor.readOnly).readToEnd(into: &buffer)
    }
}
