import Demux
import Media

/// Removes frames that were already published.
///
/// An upstream that restarts its numbering, or a packager that restarts, lists published segments again under other numbers
/// and names. So does a source that takes over and lags behind the previous one. Only then may media come again:
/// within one numbering a segment is new whatever its bytes are, because ads, loops and test cards are broadcast many
/// times.
///
/// The proof is in the bytes: a key frame with the time and the content of one that was published no longer ago than the
/// upstream can list. From there all frames are duplicates up to the newest frame published after that key frame, in the
/// order in which they were published, and the next frame continues the period. If several showings have that key
/// frame, it proves nothing, unless the frames are the newest ones published, or the segment is the one in which an earlier
/// process stopped.
///
/// A process that joins in the segment in which an earlier one stopped may get that of another variant, with other bytes.
/// The date or the number of the segment and its clock are the proof then.
struct DuplicateFilter: Sendable {
    private enum State: Sendable {
        case new
        /// No duplicate was found yet; `after` is the newest frame received since.
        case unverified(Suspicion, after: Ticks?)
        /// Frames are duplicates; `position` is the newest key frame among them, `after` the newest frame removed.
        case duplicate(Suspicion, at: PublishedMedia.Position, after: Ticks?)
    }

    /// Published media that may come again.
    fileprivate struct Suspicion: Sendable {
        /// Published media, counted back from its end at that time.
        var reach: Ticks
        /// The oldest key frame in it; nil if there is none.
        var oldest: PublishedMedia.Position?
        /// The newest frame in it.
        var until: Ticks?
    }

    var published = PublishedMedia()
    private var state = State.new
    /// Whether the segment handled last begins with frames that were already published.
    private(set) var beginsWithDuplicates = false
    /// Whether all of its frames were published.
    private(set) var removedAll = false
    private(set) var counts = SpliceCounts()

    /// Continues after `published`, which other sources published.
    /// - Parameter repeatable: how much of it the next frames may repeat, counted back from its end.
    mutating func resume(after published: PublishedMedia, repeatable: Ticks) {
        self.published = published
        state = .new
        if repeatable > .zero { suspect(repeatable) }
    }

    /// Suspects the next frames, besides what is suspected already.
    private mutating func suspect(_ repeatable: Ticks) {
        var suspicion = Suspicion(
            reach: repeatable, oldest: published.oldest(within: repeatable), until: published.end.video)
        if case .unverified(let earlier, _) = state {
            suspicion.reach = max(suspicion.reach, earlier.reach)
            suspicion.oldest = [suspicion.oldest, earlier.oldest].compactMap { $0 }.min()
            suspicion.until = earlier.until
        }
        state = .unverified(suspicion, after: nil)
    }

    /// A loss makes no frame suspect, and none that is suspect new.
    private mutating func recordLoss() {
        switch state {
        case .new: return
        case .unverified(let suspicion, _): state = .unverified(suspicion, after: nil)
        case .duplicate(var suspicion, let position, _):
            (suspicion.oldest, suspicion.until) = (position, published.end(of: position.span)?.video)
            state = .unverified(suspicion, after: nil)
        }
    }

    /// Removes from a segment the frames that were already published, and the boundary before them.
    /// - Parameters:
    ///   - segment: that of the frames.
    ///   - repeatable: as of `SegmentInput`.
    mutating func removeDuplicates(
        from demuxed: inout RenditionDemuxer.Demuxed, of segment: UpstreamSegment, repeatable: Ticks
    ) {
        published.append(demuxed.flushed)
        if demuxed.boundary == .loss { recordLoss() }
        if repeatable > .zero { suspect(repeatable) }
        let isLastSegment = published.lastSegment.map { segment.isSame(as: $0) } ?? false
        let duplicates = findDuplicatePrefix(
            demuxed.packets.video, boundary: demuxed.boundary, isLastSegment: isLastSegment)
        (beginsWithDuplicates, removedAll) = (false, false)
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

        /// Returns how many frames at the beginning of an audio track are of the published spans.
        func count(in audio: [AudioPacket]) -> Int {
            var count = 0
            for end in ends {
                let start = count
                while count < audio.count, !DuplicateFilter.isNew(audio[count].pts, end.audio),
                    count == start || DuplicateFilter.isNew(audio[count].pts, audio[count - 1].pts)
                { count += 1 }
            }
            return count
        }
    }

    private mutating func findDuplicatePrefix(
        _ frames: [VideoPacket], boundary: SegmentBoundary, isLastSegment: Bool
    ) -> DuplicatePrefix {
        var (duplicates, newestSpan): (DuplicatePrefix, Int?) = (DuplicatePrefix(), nil)
        if frames.isEmpty, case .duplicate(_, let position, _) = state {
            duplicates.ends = [published.end(of: position.span)].compactMap { $0 }
        }
        let ranges = PublishedMedia.spanRanges(of: frames)
        let earlier = isLastSegment ? rangesBeforeEnd(ranges, of: frames) : 0
        for range in ranges[..<earlier] {
            duplicates.videoFrames = range.upperBound
            let end = frames[range].last?.decodeTime
            duplicates.ends.append(.init(video: end, audio: Self.presentationEnd(of: frames[range])))
        }
        for range in ranges[earlier...] {
            state = classify(
                frames[range], boundary: range.lowerBound == 0 ? boundary : .plain, isLastSegment: isLastSegment)
            guard case .duplicate(_, let position, _) = state, var end = published.end(of: position.span) else { break }
            newestSpan = position.span
            duplicates.videoFrames = range.first { Self.isNew(frames[$0].decodeTime, end.video) } ?? range.upperBound
            // A journal tells nothing about the audio of an earlier process. It was published with its video.
            end.audio = end.audio ?? Self.presentationEnd(of: frames[range.lowerBound..<duplicates.videoFrames])
            duplicates.ends.append(end)
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

    /// Returns how many ranges of the segment in which an earlier process stopped were published before the newest frame, by
    /// their clock alone: the bytes are of another variant.
    private func rangesBeforeEnd(_ ranges: [Range<Int>], of frames: [VideoPacket]) -> Int {
        guard case .unverified(let suspicion, nil) = state,
            let last = ranges.firstIndex(where: { suspicion.ends(in: frames[$0]) }), last > 0,
            published.positions(of: frames[...], where: suspicion.includes).isEmpty
        else { return 0 }
        return last
    }

    private mutating func remove(_ duplicates: DuplicatePrefix, from packets: inout DemuxedSegment) {
        let audioCount = duplicates.count(in: packets.audio)
        counts[.duplicateFrames] += duplicates.videoFrames
        counts[.duplicateAudioFrames] += audioCount
        beginsWithDuplicates = duplicates.videoFrames + audioCount > 0
        removedAll = duplicates.videoFrames > 0 && duplicates.videoFrames == packets.video.count
        packets.video.removeFirst(duplicates.videoFrames)
        packets.audio.removeFirst(audioCount)
        for index in packets.furtherAudio.indices {
            let track = packets.furtherAudio[index]
            packets.furtherAudio[index].packets.removeFirst(duplicates.count(in: track.packets))
        }
        // What comes before the first new frame has the time of the frame before, or none, and belongs to the new one.
        guard duplicates.videoFrames > 0 || packets.video.isEmpty else { return }
        let newestTime = duplicates.ends.last?.video
        packets.metadata.removeAll { !Self.isNew($0.time, newestTime) }
    }

    /// The last tick at which the frames are presented, as a 33-bit value; nil if they have no times.
    private static func presentationEnd(of frames: ArraySlice<VideoPacket>) -> Ticks? {
        guard let first = frames.lazy.compactMap(\.pts).first else { return nil }
        let times = frames.compactMap { $0.pts.map { Ticks(wire: $0, near: first) } }.sorted()
        let step = times.count < 2 ? .zero : times[times.count - 1] - times[times.count - 2]
        return times.last.map { $0 + max(step, Ticks(1)) - Ticks(1) }
    }

    fileprivate static func isNew(_ time: Ticks?, _ last: Ticks?) -> Bool {
        guard let time, let last else { return last == nil }
        return Ticks(wire: time, near: last) > last
    }

    private func classify(
        _ frames: ArraySlice<VideoPacket>, boundary: SegmentBoundary, isLastSegment: Bool
    ) -> State {
        guard let first = frames.first?.decodeTime, let last = frames.last?.decodeTime else { return state }
        switch state {
        case .new: return .new
        case .unverified(let suspicion, let after):
            // A playlist read from further back begins with older, unknown segments. Each is compared, up to the first
            // new frame; but an ad may legitimately be presented twice.
            let isFirst = after == nil
            let mayBeOlder = suspicion.isOlder(first, after: after) && (isFirst || boundary != .tagged)
            let matches = isFirst || mayBeOlder ? published.positions(of: frames, where: suspicion.includes) : []
            let isKnown =
                isFirst && (isLastSegment || matches.last.map { ends(suspicion, with: $0, at: last) } ?? false)
            if let match = matches.last, matches.count == 1 || isKnown {
                return .duplicate(suspicion, at: match, after: last)
            }
            if isLastSegment, matches.isEmpty, suspicion.ends(in: frames) {
                return .duplicate(suspicion, at: published.newest, after: last)
            }
            return mayBeOlder ? .unverified(suspicion, after: last) : .new
        case .duplicate(let suspicion, let position, let after):
            // Duplicates come in the order in which they were published.
            let next = published.positions(of: frames) { $0 > position && $0.span <= position.span + 1 }
            if let match = next.first { return .duplicate(suspicion, at: match, after: last) }
            let continuesSpan = boundary != .tagged && after.map { Ticks(wire: first, near: $0) > $0 } ?? true
            return continuesSpan ? .duplicate(suspicion, at: position, after: last) : .new
        }
    }

    /// Whether frames up to `last` are the end of what was published: the segment in which a process was killed, even if
    /// an earlier showing has its frames too.
    private func ends(_ suspicion: Suspicion, with match: PublishedMedia.Position, at last: Ticks) -> Bool {
        guard published.isLast(match.span), let until = suspicion.until else { return false }
        return Ticks(wire: last, near: until) >= until
    }
}

extension DuplicateFilter.Suspicion {
    func includes(_ position: PublishedMedia.Position) -> Bool { oldest.map { $0 <= position } ?? false }

    /// Whether the newest frame in it has the time of one of `frames`, or lies between two.
    func ends(in frames: ArraySlice<VideoPacket>) -> Bool {
        guard let until, let first = frames.first?.decodeTime, let last = frames.last?.decodeTime else { return false }
        return Ticks(wire: first, near: until) <= until && Ticks(wire: last, near: until) >= until
    }

    /// Whether a frame may have been published before `until` on the same clock; `after` is the frame before it.
    func isOlder(_ time: Ticks, after: Ticks?) -> Bool {
        guard let until else { return false }
        let unwrapped = Ticks(wire: time, near: until)
        guard unwrapped <= until, until - unwrapped <= reach else { return false }
        return after.map { Ticks(wire: time, near: $0) > $0 } ?? true
    }
}
