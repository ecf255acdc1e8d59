import Demux
import Media
import Mux
import Transcode

/// Leaves out what was published already. An upstream that counts anew, or an encoder that is started again, lists once
/// more what it had listed, under other numbers and names; so does a source that takes over and is behind the last one.
///
/// Bytes are the proof: behind a seam, a key frame with the time and the content of one that was published lately. From
/// there everything is a repetition up to the newest picture published behind that one, and what follows goes on as if
/// there were no seam. A loop that shows the same pictures again gives them other times, or was seen to show them twice:
/// that proves nothing.
struct DuplicateFilter: Sendable {
    private enum State: Sendable {
        case new
        /// Behind a seam, or a change of source, nothing was known again yet. What comes may still be older than
        /// `until`, the newest picture published before; `after` is the newest that came since.
        case unverified(until: Ticks?, after: Ticks?)
        /// What comes is part of that stretch; `after` is the newest picture left out.
        case duplicate(stretch: Int, after: Ticks?)
    }

    private(set) var published = PublishedMedia()
    private var state = State.new
    /// The segment taken last begins with what was published before.
    private(set) var beginsWithDuplicates = false
    /// Pictures and frames of sound left out.
    private(set) var videoFrames = 0
    private(set) var audioFrames = 0

    /// What comes next follows on what others published, and may have been published by them.
    mutating func resume(after published: PublishedMedia) {
        self.published = published
        state = .unverified(until: published.end.video, after: nil)
    }

    /// What was held when the channel left this source is published, too.
    mutating func appendLeftover(_ left: DemuxedSegment) { published.append(left) }

    /// Takes from a segment what was published before, and the seam with it.
    mutating func removeDuplicates(from demuxed: inout RenditionDemuxer.Demuxed) {
        published.append(demuxed.flushed)
        handleBoundary(demuxed.boundary)
        let old = findDuplicatePrefix(demuxed.packets.video, boundary: demuxed.boundary)
        beginsWithDuplicates = false
        if old.ends.isEmpty {
            if demuxed.boundary != .plain { published.beginSpan() }
        } else {
            remove(old, from: &demuxed.packets)
            demuxed.boundary = .plain
        }
        published.append(demuxed.packets)
    }

    /// The beginning of a segment that was published before.
    private struct DuplicatePrefix {
        var videoFrames = 0
        /// Of the stretches that it is of.
        var ends: [PublishedMedia.SpanEnd] = []
    }

    private mutating func findDuplicatePrefix(
        _ pictures: [VideoPacket], boundary: DiscontinuityDetector.Boundary
    ) -> DuplicatePrefix {
        var (repeated, newest): (DuplicatePrefix, Int?) = (DuplicatePrefix(), nil)
        if pictures.isEmpty, case .duplicate(let stretch, _) = state {
            repeated.ends = [published.end(of: stretch)].compactMap { $0 }
        }
        for part in PublishedMedia.spanRanges(of: pictures) {
            state = classify(pictures[part], boundary: part.lowerBound == 0 ? boundary : .plain)
            guard case .duplicate(let stretch, _) = state, let end = published.end(of: stretch) else { break }
            repeated.ends.append(end)
            newest = stretch
            repeated.videoFrames = part.first { Self.isNew(pictures[$0].decodeTime, end.video) } ?? part.upperBound
            guard repeated.videoFrames == part.upperBound else {
                state = .new
                break
            }
        }
        if let newest, repeated.videoFrames < pictures.count, !published.isLast(newest) { published.beginSpan() }
        return repeated
    }

    private mutating func remove(_ repeated: DuplicatePrefix, from packets: inout DemuxedSegment) {
        var sound = 0
        for end in repeated.ends {
            let begin = sound
            while sound < packets.audio.count, !Self.isNew(packets.audio[sound].pts, end.audio),
                sound == begin || Self.isNew(packets.audio[sound].pts, packets.audio[sound - 1].pts)
            { sound += 1 }
        }
        videoFrames += repeated.videoFrames
        audioFrames += sound
        beginsWithDuplicates = repeated.videoFrames + sound > 0
        packets.video.removeFirst(repeated.videoFrames)
        packets.audio.removeFirst(sound)
        let newest = repeated.ends.last?.video
        packets.metadata.removeAll { !Self.isNew($0.time, newest) }
    }

    private static func isNew(_ time: Ticks?, _ last: Ticks?) -> Bool {
        guard let time, let last else { return last == nil }
        return Ticks(wire: time, near: last) > last
    }
}

// MARK: - What a segment is taken for

extension DuplicateFilter {
    private mutating func handleBoundary(_ border: DiscontinuityDetector.Boundary) {
        guard border == .loss else { return }
        switch state {
        case .new: state = .unverified(until: published.end.video, after: nil)
        case .unverified(let until, _): state = .unverified(until: until, after: nil)
        case .duplicate(let stretch, _):
            state = .unverified(until: published.end(of: stretch)?.video, after: nil)
        }
    }

    private func classify(_ pictures: ArraySlice<VideoPacket>, boundary: DiscontinuityDetector.Boundary) -> State {
        guard let first = pictures.first?.decodeTime, let last = pictures.last?.decodeTime else { return state }
        switch state {
        case .new: return .new
        case .unverified(let until, let after):
            // A list that is taken from before what was published begins with older segments that nobody knows: each is
            // looked at, up to the first new picture. But an advertisement may be shown twice.
            let isFirst = after == nil
            let mayBeOlder = isOlder(first, than: until, after: after) && (isFirst || boundary != .tagged)
            let known = isFirst || mayBeOlder ? published.spans(containing: pictures) : []
            if known.count == 1 { return .duplicate(stretch: known[0], after: last) }
            return mayBeOlder ? .unverified(until: until, after: last) : .new
        case .duplicate(let stretch, let after):
            // What comes again comes in the order in which it was published.
            let known = published.spans(containing: pictures).first { $0 == stretch || $0 == stretch + 1 }
            if let known { return .duplicate(stretch: known, after: last) }
            let goesOn = boundary != .tagged && after.map { Ticks(wire: first, near: $0) > $0 } ?? true
            return goesOn ? .duplicate(stretch: stretch, after: last) : .new
        }
    }

    /// Whether a picture may have been published before `until`, on the same clock; `after` is the one before it.
    private func isOlder(_ time: Ticks, than until: Ticks?, after: Ticks?) -> Bool {
        guard let until else { return false }
        let unfolded = Ticks(wire: time, near: until)
        guard unfolded <= until, until - unfolded <= Self.longestPlaylist else { return false }
        return after.map { Ticks(wire: time, near: $0) > $0 } ?? true
    }

    /// Lists that go farther back are rare, and clocks that are as near by chance are not.
    private static let longestPlaylist = Ticks.seconds(3600)
}
