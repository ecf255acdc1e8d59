import Playlist

// Reads what is new in a media playlist.

extension RenditionTracker {
    /// Queues what is new in a playlist. Returns the events that it causes.
    mutating func accept(
        _ playlist: MediaPlaylist, base: String, _ freshness: CacheFreshness, _ cache: ResourceCache, at now: Duration
    ) throws(TrackerError) -> [UpstreamEvent] {
        let (next, hadEnded) = (cursor.next, cursor.hasEnded)
        let update = PlaylistUpdate(cursor.handle(playlist, at: now))
        let grew = update.firstNew != nil
        var events = record(playlist, at: now)
        if update.isContinuation { queue.refresh(from: playlist, base: base, cache, at: now) }
        if role == .main { recordAdMarkers(in: playlist, update, next: next) }
        if hadEnded, !cursor.hasEnded { events.append(.playlistReopened(role)) }
        for effect in update.effects {
            events += try apply(effect, playlist, base, firstFetched: update.firstFetched, at: now)
        }
        if next == nil, let joined = joined(playlist, update) { events.append(joined) }
        // Segments longer than the target duration do not make the playlist late.
        if grew, let silence = stallEscalation.restart(targetDuration: playlist.typicalDuration, at: now) {
            events.append(.resumed(role, silence: silence))
        }
        if cursor.hasEnded { stallEscalation.stop() }
        endListState.update(from: playlist, hasEnded: cursor.hasEnded, hasNewSegments: grew, at: now)
        finishLoad(of: playlist, update, freshness, at: now)
        return events
    }

    private mutating func recordAdMarkers(in playlist: MediaPlaylist, _ update: PlaylistUpdate, next: UInt64?) {
        let isClosing = cursor.hasEnded && update.firstFetched == nil
        trailingDateRanges = isClosing ? playlist.dateRanges(notWith: .max...) : []
        if update.isReset { lateCueTagCounter = LateCueTagCounter() }
        guard update.isContinuation else { return }
        counts.lateCueTags += lateCueTagCounter.countLateTags(
            in: playlist, before: next ?? 0, joined: update.firstFetched)
    }

    /// Returns the event for the first playlist. A finished one may have no segment that was not received before.
    private func joined(_ playlist: MediaPlaylist, _ update: PlaylistUpdate) -> UpstreamEvent? {
        let end = update.isEnd ? playlist.window?.upperBound : nil
        guard let number = update.firstNew ?? cursor.next ?? end else { return nil }
        return .joined(
            .init(
                rendition: role, mediaSequence: number, targetDuration: playlist.targetDuration,
                isVOD: playlist.isComplete))
    }

    private mutating func apply(
        _ effect: SegmentCursor.Effect, _ playlist: MediaPlaylist, _ base: String, firstFetched: UInt64?,
        at now: Duration
    ) throws(TrackerError) -> [UpstreamEvent] {
        switch effect {
        case .fetch(let numbers):
            try append(numbers, of: playlist, base, firstFetched: firstFetched, at: now)
            return []
        case .gap(let numbers):
            append(
                SegmentLoss(mediaSequences: numbers, reason: .gap, cause: .gap),
                of: numbers.map { playlist.segment($0) })
            return []
        case .slidOut(let numbers):
            append(SegmentLoss(mediaSequences: numbers, reason: .slidOut, cause: .leftPlaylist))
            return []
        case .stale(let count):
            counts.stalePlaylists += 1
            return count == 1 ? [.stalePlaylist(role)] : []
        case .reset(let method): return reset(method, at: now)
        case .ended: return [.playlistEnded(role)]
        }
    }

    private mutating func append(
        _ numbers: Range<UInt64>, of playlist: MediaPlaylist, _ base: String, firstFetched: UInt64?, at now: Duration
    ) throws(TrackerError) {
        let excess = min(numbers.count, max(0, queue.count + numbers.count - queueLimit))
        if excess > 0 {
            let lost = numbers.lowerBound..<numbers.lowerBound + UInt64(excess)
            append(SegmentLoss(mediaSequences: lost, reason: .tooMany, cause: .permanent))
        }
        let kept = numbers.dropFirst(excess)
        var previous: SegmentRequests?
        for number in kept {
            let segment = playlist.segment(number)
            let isFirst = number == kept.first && firstFetched.map(numbers.contains) == true
            let ranges = isFirst ? playlist.dateRanges(notWith: number...) : []
            do throws(UnsupportedKey) {
                let requests = try SegmentRequests(segment, base: base, after: previous)
                queue.append(segment, requests, dateRanges: ranges, at: now)
                previous = requests
            } catch {
                throw TrackerError(error, of: number, playlist: base)
            }
        }
    }

    private mutating func append(_ loss: SegmentLoss, of segments: [MediaSegment] = []) {
        queue.append(loss, of: segments, segmentDuration: assumedTargetDuration)
    }

    private mutating func reset(_ method: SegmentCursor.RejoinMethod, at now: Duration) -> [UpstreamEvent] {
        counts.resets += 1
        guard method == .url else {
            counts.discontinuities += 1
            queue.appendDiscontinuity(at: now)
            return [.reset(role, method)]
        }
        queue.renumber()
        return reportRenumbering(at: now)
    }

    /// The time without renumbering after which it is reported again.
    private static let renumberingReportInterval = Duration.seconds(60)

    /// Reports a renumbering, but only the first of a playlist that renumbers at each refresh.
    private mutating func reportRenumbering(at now: Duration) -> [UpstreamEvent] {
        defer { renumberedAt = now }
        guard let renumberedAt, now - renumberedAt < Self.renumberingReportInterval else { return [.reset(role, .url)] }
        return []
    }
}

extension MediaPlaylist {
    /// EXT-X-TARGETDURATION, or the longest of the last segments if that is longer, up to four times as long.
    fileprivate var typicalDuration: Duration {
        let longest = segments.suffix(3).map(\.duration).max() ?? .zero
        return max(targetDuration, min(longest, targetDuration * 4))
    }
}
