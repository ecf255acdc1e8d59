import Demux
import Media

/// Removes frames that were already published.
///
/// An upstream that resets its numbering, or an encoder that restarts, lists published segments again under other
/// numbers and names. So does a source that takes over and lags behind the previous one.
///
/// The proof is in the bytes: after a loss, a key frame with the time and the content of one published lately. From
/// there all frames are duplicates up to the newest frame published after that key frame, and the next frame continues
/// the period. A loop that presents the same frames again has other times, or was already seen to repeat them; such a
/// match proves nothing, unless the frames are the newest ones published.
struct DuplicateFilter: Sendable {
    private enum State: Sendable {
        case new
        /// After a loss or a change of source, no duplicate was found yet. Frames may still be older than `until`, the
        /// newest frame published before; `after` is the newest frame received since.
        case unverified(until: Ticks?, after: Ticks?)
        /// Frames are duplicates of that span; `after` is the newest frame removed.
        case duplicate(span: Int, after: Ticks?)
    }

    var published = PublishedMedia()
    private var state = State.new
    /// Whether the segment handled last begins with frames that were already published.
    private(set) var beginsWithDuplicates = false
    private(set) var counts = SpliceCounts()

    /// Continues after `published`, which other sources published; the next frames may be among them.
    mutating func resume(after published: PublishedMedia) {
        self.published = published
        state = .unverified(until: published.end.video, after: nil)
    }

    /// Removes from a segment the frames that were already published, and the boundary before them.
    mutating func removeDuplicates(from demuxed: inout RenditionDemuxer.Demuxed) {
        published.append(demuxed.flushed)
        handleBoundary(demuxed.boundary)
        let duplicates = findDuplicatePrefix(demuxed.packets.video, boundary: demuxed.boundary)
        beginsWithDuplicates = false
        if duplicates.ends.isEmpty {
            if demuxed.boundary != .plain { published.beginSpan() }
        } else {
            remove(duplicates, from: &demuxed.packets)
            demuxed.boundary = .plain
        }
        published.append(demuxed.packets)
    }

    /// Frames at the beginning of a segment that were already published.
    private struct DuplicatePrefix {
        var videoFrames = 0
        var ends: [PublishedMedia.SpanEnd] = []
    }

    private mutating func findDuplicatePrefix(
        _ frames: [VideoPacket], boundary: SegmentBoundary
    ) -> DuplicatePrefix {
        var (duplicates, newestSpan): (DuplicatePrefix, Int?) = (DuplicatePrefix(), nil)
        if frames.isEmpty, case .duplicate(let span, _) = state {
            duplicates.ends = [published.end(of: span)].compactMap { $0 }
        }
        for range in PublishedMedia.spanRanges(of: frames) {
            state = classify(frames[range], boundary: range.lowerBound == 0 ? boundary : .plain)
            guard case .duplicate(let span, _) = state, let end = published.end(of: span) else { break }
            duplicates.ends.append(end)
            newestSpan = span
            duplicates.videoFrames = range.first { Self.isNew(frames[$0].decodeTime, end.video) } ?? range.upperBound
            guard duplicates.videoFrames == range.upperBound else {
                state = .new
                break
            }
        }
        if let newestSpan, duplicates.videoFrames < frames.count, !published.isLast(newestSpan) {
            published.beginSpan()
        }
        return duplicates
    }

    private mutating func remove(_ duplicates: DuplicatePrefix, from packets: inout DemuxedSegment) {
        var audioCount = 0
        for end in duplicates.ends {
            let start = audioCount
            while audioCount < packets.audio.count, !Self.isNew(packets.audio[audioCount].pts, end.audio),
                audioCount == start || Self.isNew(packets.audio[audioCount].pts, packets.audio[audioCount - 1].pts)
            { audioCount += 1 }
        }
        counts[.duplicateFrames] += duplicates.videoFrames
        counts[.duplicateAudioFrames] += audioCount
        beginsWithDuplicates = duplicates.videoFrames + audioCount > 0
        packets.video.removeFirst(duplicates.videoFrames)
        packets.audio.removeFirst(audioCount)
        let newestTime = duplicates.ends.last?.video
        packets.metadata.removeAll { !Self.isNew($0.time, newestTime) }
    }

    private static func isNew(_ time: Ticks?, _ last: Ticks?) -> Bool {
        guard let time, let last else { return last == nil }
        return Ticks(wire: time, near: last) > last
    }

    private mutating func handleBoundary(_ boundary: SegmentBoundary) {
        guard boundary == .loss else { return }
        switch state {
        case .new: state = .unverified(until: published.end.video, after: nil)
        case .unverified(let until, _): state = .unverified(until: until, after: nil)
        case .duplicate(let span, _):
            state = .unverified(until: published.end(of: span)?.video, after: nil)
        }
    }

    private func classify(_ frames: ArraySlice<VideoPacket>, boundary: SegmentBoundary) -> State {
        guard let first = frames.first?.decodeTime, let last = frames.last?.decodeTime else { return state }
        switch state {
        case .new: return .new
        case .unverified(let until, let after):
            // A playlist read from further back begins with older, unknown segments. Each is compared, up to the first
            // new frame; but an ad may legitimately be presented twice.
            let isFirst = after == nil
            let mayBeOlder = isOlder(first, than: until, after: after) && (isFirst || boundary != .tagged)
            let matches = isFirst || mayBeOlder ? published.spans(containing: frames) : []
            if let span = matches.last, matches.count == 1 || isFirst && endsPublished(span, at: last, until: until) {
                return .duplicate(span: span, after: last)
            }
            return mayBeOlder ? .unverified(until: until, after: last) : .new
        case .duplicate(let span, let after):
            // Duplicates come in the order in which they were published.
            let match = published.spans(containing: frames).first { $0 == span || $0 == span + 1 }
            if let match { return .duplicate(span: match, after: last) }
            let continuesSpan = boundary != .tagged && after.map { Ticks(wire: first, near: $0) > $0 } ?? true
            return continuesSpan ? .duplicate(span: span, after: last) : .new
        }
    }

    /// Whether frames up to `last` are the end of what was published: the segment in which a process was killed, even if
    /// an earlier span has its frames too.
    private func endsPublished(_ span: Int, at last: Ticks, until: Ticks?) -> Bool {
        guard published.isLast(span), let until else { return false }
        return Ticks(wire: last, near: until) >= until
    }

    /// Whether a frame may have been published before `until` on the same clock; `after` is the frame before it.
    private func isOlder(_ time: Ticks, than until: Ticks?, after: Ticks?) -> Bool {
        guard let until else { return false }
        let unwrapped = Ticks(wire: time, near: until)
        guard unwrapped <= until, until - unwrapped <= Self.longestPlaylist else { return false }
        return after.map { Ticks(wire: time, near: $0) > $0 } ?? true
    }

    /// Longest playlist assumed. Longer playlists are rare; clocks that happen to be this close are not.
    private static let longestPlaylist = Ticks.seconds(3600)
}
