import Demux
import Fetch
import Media
import Playlist
import Support

/// Derives the media playlist of a file from its index, which is read by byte ranges.
///
/// A finished file becomes a playlist of type VOD. One that is paced by the clock becomes a live playlist: each segment
/// is listed when its time has come. If it loops, it has no end, and each round begins with a discontinuity.
struct FilePlaylist: Sendable {
    /// The growth of the list: everything at once, or as time passes.
    enum Pace: Equatable, Sendable {
        case finished
        case clock
        case loop
    }

    /// How much of a paced playlist is listed, at least: what a client may be late by.
    private static let window = Duration.seconds(60)
    private static let shortestLoop = Ticks.seconds(1)

    private let url: String
    let mayBeStream: Bool
    /// The size that the origin announced with the beginning; nil if it did not.
    private let announcedSize: UInt64?
    /// Whether the origin sends no parts, so that the file is read from its beginning on.
    private var isForward = false
    private let pace: Pace
    private let cutting: FileCutting
    private var index: MediaFileIndex?
    /// When each segment begins in the file, and after the last one the end.
    private var starts = [Ticks.zero]
    private var began: Duration?
    private var listings = 0

    /// - Parameters:
    ///   - url: of the upstream, requested for each part: redirects may have tokens that expire.
    ///   - beginning: the answer by which the file was recognized.
    init(url: String, _ beginning: FetchAnswer, _ policy: UpstreamSession.Policy) {
        (self.url, mayBeStream) = (url, StreamPart.isStream(beginning.body))
        announcedSize = beginning.header("content-length").flatMap { UInt64($0) }
        pace = policy.filePace
        cutting = FileCutting(
            maxBytes: policy.limits.segmentBytes, maxMovieBytes: UInt64(policy.limits.movieBytes))
    }

    /// The part of the file to request next; nil if the index is complete.
    var neededRange: Range<UInt64>? { index == nil ? 0..<MediaFileIndex.windowBytes : index?.neededRange }

    var hasMore: Bool { neededRange != nil || listings == 1 && pace != .finished }

    /// Segments that wait, at least, before more of the index is read. What is read forward is not kept for long.
    var queuedAhead: Int { isForward ? 2 : 64 }

    /// The file that is read from its beginning on, and its size; nil: the origin sends parts.
    var forwardFile: (url: String, byteCount: UInt64)? {
        isForward ? announcedSize.map { (url, $0) } : nil
    }

    var request: FetchRequest? {
        neededRange.map { FetchRequest(.map, url: url, byteRange: ByteRange($0)) }
    }

    /// The section that all segments are read with, and its request; nil if they need none.
    var initialization: (request: FetchRequest, bytes: [UInt8])? {
        index?.initialization.map { (FetchRequest(.map, url: url, byteRange: ByteRange($0.range)), $0.bytes) }
    }

    mutating func append(_ outcome: FetchOutcome) throws(TrackerError) {
        guard let neededRange else { return }
        let part: (bytes: [UInt8], fileSize: UInt64)
        do throws(TrackerError) { part = try self.part(neededRange, in: outcome) } catch {
            guard error.reason == .noByteRanges, !isForward, !mayBeStream, announcedSize != nil else { throw error }
            isForward = true
            return
        }
        do throws(MediaError) {
            if index == nil {
                index = try MediaFileIndex(beginning: part.bytes, byteCount: part.fileSize, cutting)
            } else {
                try index?.append(part.bytes)
            }
            // All media would be read before it, and then from the beginning again.
            if isForward, let index, index.initialization == nil, let next = index.neededRange?.lowerBound,
                next > UInt64(ForwardReader.windowBytes)
            {
                throw .movie(.movieAfterMedia)
            }
        } catch {
            throw TrackerError(.unusableFile(error), url: url)
        }
        for segment in (index?.segments ?? []).dropFirst(starts.count - 1) {
            starts.append((starts.last ?? .zero) + max(segment.duration, .milliseconds(1)))
        }
        if pace == .loop, isComplete, total < Self.shortestLoop {
            throw TrackerError(.unusableFile(.movie(.tooShort(total))), url: url)
        }
    }

    private func part(
        _ range: Range<UInt64>, in outcome: FetchOutcome
    ) throws(TrackerError) -> (bytes: [UInt8], fileSize: UInt64) {
        switch outcome {
        // An origin without ranges sends everything.
        case .failure(let error) where error.reason == .tooLarge: throw TrackerError(.noByteRanges, url: url)
        case .failure(let error): throw TrackerError(error, url: url)
        case .success(let answer):
            guard answer.isSuccess else { throw TrackerError(.refused(status: answer.status), url: url) }
            guard let part = answer.filePart(of: range) else { throw TrackerError(.noByteRanges, url: url) }
            return part
        }
    }

    // MARK: - The playlist

    private var total: Ticks { starts.last ?? .zero }
    private var isComplete: Bool { index?.isComplete ?? false }

    /// RFC 8216 §4.3.3.1: the longest segment, in whole seconds.
    private var targetDuration: Duration {
        let longest = index?.segments.lazy.map(\.duration).max() ?? .zero
        return .seconds(max(1, (longest.count + Ticks.perSecond - 1) / Ticks.perSecond))
    }

    /// Returns the playlist as it is at `now`; nil if too little of the index is known.
    mutating func playlist(at now: Duration) -> MediaPlaylist? {
        guard let index, !index.segments.isEmpty, isComplete || pace == .finished else { return nil }
        let since = now - (began ?? now)
        (began, listings) = (began ?? now, listings + 1)
        // A playlist that grows would be joined near its end.
        if listings == 1, pace != .finished || !isComplete { return playlist(of: 0..<1, hasEnded: false) }
        guard pace != .finished else { return playlist(of: 0..<index.segments.count, hasEnded: isComplete) }
        // Three target durations are there when a live playlist is joined.
        let position = since + max(targetDuration * 3, .seconds(8))
        let end = pace == .loop ? Int.max : index.segments.count
        let last = min(number(at: position), end - 1)
        let first = number(at: max(.zero, position - max(Self.window, targetDuration * 10)))
        return playlist(of: min(first, last)..<last + 1, hasEnded: last == end - 1)
    }

    /// The number of the segment that lasts at a time since the beginning of the first round.
    private func number(at time: Duration) -> Int {
        let (round, place) = Ticks(time).count.quotientAndRemainder(dividingBy: total.count)
        let following = starts.firstIndex { $0.count > place } ?? starts.count - 1
        return Int(round) * (starts.count - 1) + max(0, following - 1)
    }

    private func playlist(of numbers: Range<Int>, hasEnded: Bool) -> MediaPlaylist {
        var playlist = MediaPlaylist(targetDuration: targetDuration, mediaSequence: UInt64(numbers.lowerBound))
        playlist.segments = numbers.map(segment)
        playlist.discontinuitySequence = playlist.segments.first?.discontinuitySequence
        playlist.hasEndList = hasEnded
        playlist.playlistType = pace == .finished && hasEnded ? .vod : nil
        return playlist
    }

    private func segment(_ number: Int) -> MediaSegment {
        let (round, place) = number.quotientAndRemainder(dividingBy: starts.count - 1)
        var segment = MediaSegment(
            uri: url, duration: (starts[place + 1] - starts[place]).duration, mediaSequence: UInt64(number),
            discontinuitySequence: UInt64(round))
        segment.byteRange = index.map { ByteRange($0.segments[place].range) }
        segment.map = initialization.map { MediaInitialization(uri: url, byteRange: $0.request.byteRange) }
        segment.isDiscontinuous = place == 0 && round > 0
        return segment
    }
}
