package import LiveRing
import Media
import Mux
import Playlist
package import Support

/// A range of the rewind as one MP4 file, which is never whole anywhere: its head, and parts of stored segments.
package struct MovieClip: Sendable {
    /// Why there is no clip of a range.
    package enum Refusal: Error, Equatable, Sendable {
        /// The range has no end, or its end is not published.
        case notPublished
        /// The ring has no segment in the range that can be read.
        case noMedia
        case tooLong
    }

    /// Consecutive bytes of the file.
    package struct Part: Sendable {
        package let file: SpoolFile
        /// In the file of the spool.
        package var bytes: Range<Int>
        /// Where they end in the clip.
        package var end: Int
    }

    /// The longest range, in milliseconds. The head of as long a clip has about 20 MB.
    package static let longest: Int64 = 6 * 3600 * 1000

    /// Everything before the media data.
    package let head: [UInt8]
    package let byteCount: Int
    /// Names the bytes: other segments, or another part of them, have another name.
    package let name: String
    /// The date of the first segment that is presented.
    package let date: ProgramDateTime
    private let parts: [Part]

    fileprivate init(head: [UInt8], parts: [Part], name: String, date: ProgramDateTime) {
        (self.head, self.date) = (head, date)
        self.parts = parts.map { part in
            var part = part
            part.end += head.count
            return part
        }
        byteCount = self.parts.last?.end ?? head.count
        self.name = "\(name) \(byteCount)"
    }

    /// The bytes of a stored file from an offset of the clip on.
    /// - Parameter offset: between the size of `head` and `byteCount`.
    package func part(at offset: Int) -> (file: SpoolFile, bytes: Range<Int>)? {
        let index = parts.partitioningIndex { $0.end > offset }
        guard index < parts.count else { return nil }
        let part = parts[index]
        let start = part.bytes.upperBound - (part.end - offset)
        return start < part.bytes.lowerBound ? nil : (part.file, start..<part.bytes.upperBound)
    }
}

extension MovieClip {
    /// Reads the indexes of the segments of a range, and the init sections of their periods.
    ///
    /// The clip begins with the random access point at or before the start of the range, and ends before the first frame at
    /// or after its end. Dates are rounded to milliseconds, so a frame that is less than one early is at its date.
    /// - Parameter isPrecise: whether the frames before the start are decoded but not presented.
    package init(_ range: RewindRange, isPrecise: Bool, of snapshot: RingSnapshot) throws(Refusal) {
        guard case .between(let start, let end?) = range, let indices = snapshot.publishedIndices(of: range) else {
            throw .notPublished
        }
        guard !indices.isEmpty else { throw .noMedia }
        if let start, end.milliseconds(since: start) > Self.longest { throw .tooLong }
        var builder = ClipBuilder(snapshot)
        let wanted = start ?? snapshot.index.listed[indices.lowerBound].programDateTime
        guard let first = indices.first(where: { builder.begin(at: $0, from: wanted, isPrecise: isPrecise) }) else {
            throw .noMedia
        }
        let date = snapshot.index.listed[first].programDateTime
        guard end.milliseconds(since: date) <= Self.longest else { throw .tooLong }
        for index in first..<indices.upperBound { builder.append(index, until: end) }
        if indices.upperBound < snapshot.index.listed.endIndex { builder.appendEarlyAudio(of: indices.upperBound) }
        guard let clip = builder.clip(from: date) else { throw .noMedia }
        self = clip
    }
}

/// Collects the samples of a clip, segment by segment.
private struct ClipBuilder {
    /// Dates have whole milliseconds.
    private static let tolerance = Ticks.milliseconds(1)
    private static let latest = Ticks(Ticks.timeline.upperBound)

    private let snapshot: RingSnapshot
    private var writer = MovieWriter()
    private var parts: [MovieClip.Part] = []
    private var descriptions: (file: SpoolFile, value: TrackDescriptions)?
    /// Where the presentation begins, on the channel's timeline.
    private var start = Ticks.zero
    /// Where the last segment ends.
    private var end: Ticks?
    /// Where the presentation ends, on the timeline of the clip.
    private var presentedEnd = Ticks.zero
    private var names: (first: String, last: String)?
    /// The first sample of the first segment of the range.
    private var firstSample = 0

    init(_ snapshot: RingSnapshot) { self.snapshot = snapshot }

    /// Appends what the first segment needs of those before it.
    /// - Returns: false if the first segment cannot be read.
    mutating func begin(at first: Int, from date: ProgramDateTime, isPrecise: Bool) -> Bool {
        guard let fragment = snapshot.fragment(at: first) else { return false }
        let wanted = fragment.entry.presented.lowerBound + Self.time(from: fragment.entry.programDateTime, to: date)
        guard fragment.video?.samples.isEmpty == false else {
            start = wanted
            return true
        }
        let frame = fragment.videoTimes.filter { $0 > wanted - Self.tolerance }.min() ?? wanted
        guard let entryPoint = snapshot.randomAccessPoint(before: frame, in: fragment, at: first) else {
            // Nothing before it can be decoded, so the first frame that can be is later.
            start = fragment.videoTimes.min() ?? wanted
            return true
        }
        start = isPrecise ? frame : entryPoint.time
        if entryPoint.index < first {
            for index in entryPoint.index..<first {
                append(index, from: index == entryPoint.index ? entryPoint.sample : 0)
            }
        } else {
            firstSample = entryPoint.sample
        }
        return true
    }

    mutating func append(_ index: Int, until date: ProgramDateTime) {
        append(index, from: firstSample, until: date)
        firstSample = 0
    }

    /// Appends the audio that is presented with the last frames, and that the segment after them has.
    mutating func appendEarlyAudio(of index: Int) {
        guard let end, let fragment = snapshot.fragment(at: index), let audio = fragment.audio,
            ClientClock.pause(for: fragment.entry.presented.lowerBound - end) == nil,
            let descriptions = descriptions(of: fragment.entry)
        else { return }
        let heard = fragment.audioFrames(in: start..<max(start, presentedEnd + writer.earlier))
        append(audio, heard, of: fragment.entry, descriptions)
    }

    private mutating func append(_ index: Int, from sample: Int, until date: ProgramDateTime? = nil) {
        guard let fragment = snapshot.fragment(at: index), let descriptions = descriptions(of: fragment.entry) else {
            return
        }
        let presented = fragment.entry.presented
        if let end, let pause = ClientClock.pause(for: presented.lowerBound - end) {
            writer.skip(presented.lowerBound - end - pause)
        }
        end = presented.upperBound
        let rest = date.map { Self.time(from: fragment.entry.programDateTime, to: $0) }
        let limit = rest.map { presented.lowerBound + $0 }.flatMap { $0 < presented.upperBound ? $0 : nil }
        let until = append(fragment, from: sample, until: limit, descriptions)
        presentedEnd = max(presentedEnd, until - writer.earlier)
        names = (names?.first ?? fragment.entry.segment.name, fragment.entry.segment.name)
    }

    /// - Parameter limit: before which the last frame begins; nil for all of the segment.
    /// - Returns: where what was appended ends.
    private mutating func append(
        _ fragment: StoredFragment, from sample: Int, until limit: Ticks?, _ descriptions: TrackDescriptions
    ) -> Ticks {
        let times = fragment.videoTimes
        var (end, frames) = (fragment.entry.presented.upperBound, times.count)
        if let limit {
            let latest = limit - Self.tolerance
            end = times.filter { $0 > latest }.min() ?? limit
            frames = (times.indices.last { times[$0] <= latest } ?? -1) + 1
        }
        if let video = fragment.video, sample < frames {
            append(video, sample..<frames, of: fragment.entry, descriptions)
        }
        if let audio = fragment.audio {
            let heard = fragment.audioFrames(in: start..<max(start, limit == nil ? Self.latest : end))
            append(audio, heard, of: fragment.entry, descriptions)
        }
        return end
    }

    /// The time between two dates, none if the second is earlier.
    private static func time(from first: ProgramDateTime, to second: ProgramDateTime) -> Ticks {
        .milliseconds(min(max(0, second.milliseconds(since: first)), MovieClip.longest))
    }

    private mutating func append(
        _ track: FragmentTrack, _ samples: Range<Int>, of entry: RingEntry, _ descriptions: TrackDescriptions
    ) {
        let bytes = writer.append(
            track.samples[samples], of: track.id, at: track.decodeTime(of: samples.lowerBound), as: descriptions)
        guard let bytes else { return }
        let end = Int(writer.mediaByteCount)
        if let last = parts.last, last.file == entry.segment, last.bytes.upperBound == bytes.lowerBound {
            parts[parts.count - 1].bytes = last.bytes.lowerBound..<bytes.upperBound
            parts[parts.count - 1].end = end
        } else {
            parts.append(MovieClip.Part(file: entry.segment, bytes: bytes, end: end))
        }
    }

    private mutating func descriptions(of entry: RingEntry) -> TrackDescriptions? {
        if let known = descriptions, known.file == entry.initialization { return known.value }
        guard let bytes = try? snapshot.bytes(of: entry.initialization), let value = try? TrackDescriptions(bytes)
        else {
            return nil
        }
        descriptions = (entry.initialization, value)
        return value
    }

    func clip(from date: ProgramDateTime) -> MovieClip? {
        guard let names, writer.mediaByteCount > 0, start < presentedEnd else { return nil }
        return MovieClip(
            head: writer.head(presenting: [start..<presentedEnd]), parts: parts,
            name: "\(names.first) \(names.last) \(start.count) \(presentedEnd.count)", date: date)
    }
}
