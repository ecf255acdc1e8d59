package import Media

/// Where the media segments of a file are: an MP4 file, fragmented or not, or a transport stream.
///
/// The caller reads `neededRange` of the file and passes the bytes to `append(_:)` until no range is needed. Of a
/// fragmented file without an index, segments are known before that.
package struct MediaFileIndex: Sendable {
    private enum State: Sendable {
        case movie(MoovLocator)
        case fragments(FragmentScan)
        case transport(TransportFile)
        case complete
    }

    /// Bytes that are read at once, because more than a header will be needed.
    package static let windowBytes = TransportFile.windowBytes

    package private(set) var segments: [FileSegment] = []
    /// The `moov`, and its place; nil for a transport stream, and before it is found.
    package private(set) var initialization: (range: Range<UInt64>, bytes: [UInt8])?
    private var state: State
    private let byteCount: UInt64
    private let cutting: FileCutting
    private var window: (start: UInt64, bytes: [UInt8])

    /// - Parameter beginning: the first bytes of the file, as many as a window has.
    /// - Throws: if the file is no media file, or cannot be used.
    package init(beginning: [UInt8], byteCount: UInt64, _ cutting: FileCutting) throws(MediaError) {
        guard UInt64(beginning.count) <= byteCount else { throw .movie(.samplesPastEnd) }
        (self.byteCount, self.cutting, window) = (byteCount, cutting, (0, beginning))
        if let file = TransportFile(beginning: beginning, byteCount: byteCount) {
            state = .transport(file)
        } else {
            state = .movie(MoovLocator(byteCount: byteCount, largestMovie: cutting.maxMovieBytes))
        }
        try advance()
    }

    package var isComplete: Bool { if case .complete = state { true } else { false } }

    /// The part that the state asks for; nil if everything is known.
    private var wantedRange: Range<UInt64>? {
        switch state {
        case .movie(let locator): locator.neededRange
        case .fragments(let scan): scan.neededRange
        case .transport(let file): file.endRange
        case .complete: nil
        }
    }

    /// File range to pass to `append(_:)` next, at most 16 MiB; nil when the index is complete.
    package var neededRange: Range<UInt64>? {
        wantedRange.map { wanted in
            wanted.lowerBound..<min(max(wanted.upperBound, wanted.lowerBound + Self.headerWindow), byteCount)
        }
    }

    /// Bytes that are read with a header: most of the boxes that follow one another before media.
    private static let headerWindow: UInt64 = 1 << 16

    package mutating func append(_ bytes: [UInt8]) throws(MediaError) {
        guard let neededRange, UInt64(bytes.count) >= neededRange.upperBound - neededRange.lowerBound else {
            throw .movie(.samplesPastEnd)
        }
        window = (neededRange.lowerBound, bytes)
        try advance()
    }

    private mutating func advance() throws(MediaError) {
        while let wanted = wantedRange, let bytes = windowBytes(in: wanted) {
            try MediaError.checkCancellation()
            switch state {
            case .movie(var locator):
                try locator.append(bytes)
                state = .movie(locator)
                if case .found(let offset, let moov) = locator.state { try beginMovie(moov, at: offset) }
            case .fragments(var scan):
                segments += scan.append(bytes)
                state = scan.neededRange == nil ? .complete : .fragments(scan)
            case .transport(let file):
                segments = file.segments(end: bytes, cutting)
                state = .complete
            case .complete: break
            }
        }
        if isComplete { window = (0, []) }
        if isComplete, segments.isEmpty { throw .movie(.noMovie) }
    }

    private mutating func beginMovie(_ moov: [UInt8], at offset: UInt64) throws(MediaError) {
        let end = offset + UInt64(moov.count)
        initialization = (offset..<end, moov)
        if Movie.isPlain(moov) {
            segments = try MovieFile(moov: moov, fileSize: byteCount).segments(cutting)
            state = .complete
        } else {
            let scan = try FragmentScan(moov, from: end, byteCount: byteCount, cutting)
            state = scan.neededRange == nil ? .complete : .fragments(scan)
        }
    }

    private func windowBytes(in range: Range<UInt64>) -> [UInt8]? {
        guard range.lowerBound >= window.start, range.upperBound <= window.start + UInt64(window.bytes.count) else {
            return nil
        }
        let start = Int(range.lowerBound - window.start)
        return Array(window.bytes[start..<start + Int(range.upperBound - range.lowerBound)])
    }
}

/// A part of a media file that is fetched as a media segment.
package struct FileSegment: Equatable, Sendable {
    package let range: Range<UInt64>
    package let duration: Ticks
}

/// How a media file is cut into segments.
package struct FileCutting: Equatable, Sendable {
    /// A segment ends at the first sync sample after this time …
    var shortest = Ticks.seconds(3)
    /// … and at any sample after this one …
    var longest = Ticks.seconds(9)
    /// … or when it is half as large as this. No segment is larger.
    package var maxBytes: Int
    /// The largest `moov`. It is held as it was read, and its tables as values.
    package var maxMovieBytes: UInt64

    package init(maxBytes: Int, maxMovieBytes: UInt64 = MoovLocator.largestMovie) {
        (self.maxBytes, self.maxMovieBytes) = (maxBytes, min(maxMovieBytes, MoovLocator.largestMovie))
    }
}
