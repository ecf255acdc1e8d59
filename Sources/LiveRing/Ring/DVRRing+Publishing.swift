// A publish in order: the files are written under another name and renamed, the journal gets a line, and then the
// segment becomes visible. A process killed at any point leaves complete listed files.

extension DVRRing {
    /// Publishes one segment, which viewers can see when the function returns. If the disk is full, the rewind is
    /// dropped first.
    ///
    /// After an error no part of the segment stays. Its time is listed as a gap, as soon as the journal can be written, and
    /// the next segment is discontinuous. A ring that ended in an earlier process continues after its end.
    package func publish(_ segment: NewSegment) throws(RingError) {
        guard !isClosed else { throw .ended }
        let isAfterInterruption = needsDiscontinuity
        needsDiscontinuity = true
        try validate(segment)
        do throws(RingError) {
            try reacquireSpool()
            try droppingRewind { () throws(RingError) in
                try listPendingGaps()
                try store(segment, afterInterruption: isAfterInterruption)
            }
        } catch {
            appendPendingGap(lasting: segment.duration, resumePoint: segment.resumePoint)
            // If the gap fails too, the error has the same cause.
            try? listPendingGaps()
            throw error
        }
        needsDiscontinuity = false
    }

    /// Lists a gap for time without media, so that the playlists continue during an outage. A ring that never held a
    /// segment lists no gap. After an error the gap is listed with the next entry.
    /// - Parameters:
    ///   - duration: 90 kHz ticks, 1 ... `maximumSegmentDuration`.
    ///   - resumePoint: the clocks of the channel after the gap.
    package func publishGap(lasting duration: Int64, resumePoint: ResumePoint) throws(RingError) {
        guard !isClosed else { throw .ended }
        guard index.newest != nil else { return }
        guard (1...maximumSegmentDuration).contains(duration) else {
            throw .badDuration(duration, maximum: maximumSegmentDuration)
        }
        appendPendingGap(lasting: duration, resumePoint: resumePoint)
        try droppingRewind { () throws(RingError) in try listPendingGaps() }
    }

    private func appendPendingGap(lasting duration: Int64, resumePoint: ResumePoint) {
        guard index.newest != nil else { return }
        let duration = min(max(1, duration), maximumSegmentDuration)
        pendingGaps.append(PendingGap(duration: duration, resumePoint: resumePoint))
        if pendingGaps.count > PendingGap.limit { pendingGaps.removeFirst() }
    }

    func listPendingGaps() throws(RingError) {
        guard !pendingGaps.isEmpty else { return }
        try reacquireSpool()
        while let gap = pendingGaps.first, let newest = index.newest {
            try commit(index.gap(after: newest, lasting: gap.duration, resumePoint: gap.resumePoint))
            pendingGaps.removeFirst()
        }
    }

    /// Lists `unrecordedSegments` as gaps, all at once: a process that is killed before has none of them listed.
    ///
    /// Each missing segment may have begun with a discontinuity and have had the maximum duration.
    /// - Parameter resumePoints: the clocks of the channel after each gap.
    package func publishUnrecordedGaps(_ resumePoints: [ResumePoint]) throws(RingError) {
        var next = index
        for resumePoint in resumePoints {
            guard let newest = next.newest else { return }
            _ = next.publish(
                next.discontinuousGap(after: newest, lasting: maximumSegmentDuration, resumePoint: resumePoint))
        }
        try reacquireSpool()
        try rewriteJournal(next)
        index = next
        _ = subtitles.evict(index: index)
        publishSnapshot()
        performHousekeeping { () throws(RingError) in
            try spool.removeRingFiles(except: index.files.union(subtitles.files), of: spool.files())
        }
    }

    /// Publishes the subtitles of a published segment. The subtitles of each rendition come in the order of the segments.
    /// A segment without subtitles gets an empty file with the next subtitles.
    package func publish(_ new: NewSubtitles) throws(RingError) {
        try reacquireSpool()
        try subtitles.store(new, index: &index, in: spool)
        publishSnapshot()
    }

    private func validate(_ segment: NewSegment) throws(RingError) {
        guard (1...maximumSegmentDuration).contains(segment.duration) else {
            throw .badDuration(segment.duration, maximum: maximumSegmentDuration)
        }
        guard SpoolName.isInitialization(segment.initialization.name) else {
            throw .badInitializationName(segment.initialization.name)
        }
        if let still = segment.still, !SpoolName.isStill(still.name) { throw .badInitializationName(still.name) }
    }
}

// The steps of a publish.
extension DVRRing {
    /// Runs `body`. If the disk is full, drops the rewind and runs it once more.
    private func droppingRewind(_ body: () throws(RingError) -> Void) throws(RingError) {
        do throws(RingError) {
            try body()
        } catch {
            guard error.isDiskFull else { throw error }
            dropRewind()
            try body()
        }
    }

    private func store(_ segment: NewSegment, afterInterruption: Bool) throws(RingError) {
        let entry = index.entry(for: segment, afterInterruption: afterInterruption)
        try writeFiles(of: segment, for: entry)
        do throws(RingError) {
            try commit(entry)
        } catch {
            try? spool.remove(entry.segment.name)
            if let still = newStill(of: segment) { try? spool.remove(still.name) }
            throw error
        }
    }

    /// Step 1: writes the files of a segment. Each is written under another name and renamed when it is complete.
    private func writeFiles(of segment: NewSegment, for entry: RingEntry) throws(RingError) {
        let reserve = index.policy.freeReserve
        if index.initializations[entry.initialization.name] == nil {
            try spool.write(entry.initialization.name, [segment.initialization.bytes[...]], leaving: reserve)
        }
        if let still = newStill(of: segment) { try spool.write(still.name, [still.bytes[...]], leaving: reserve) }
        try spool.write(entry.segment.name, [segment.header[...]] + segment.payload, leaving: reserve)
    }

    /// The still of `segment`, if no other segment needs it so far.
    private func newStill(of segment: NewSegment) -> StillFile? {
        segment.still.flatMap { index.stills[$0.file] == nil ? $0 : nil }
    }

    /// Steps 2 to 4 for an entry whose files are complete: journal, snapshot, removal of evicted files.
    private func commit(_ entry: RingEntry) throws(RingError) {
        var next = index
        let evicted = next.publish(entry)
        try appendToJournal(next)
        hasEnded = false
        removeUnneeded(evicted + makeVisible(next))
    }

    /// Step 2: appends the newest entry of `next` to the journal, or rewrites a stale journal.
    private func appendToJournal(_ next: RingIndex) throws(RingError) {
        guard let entry = next.listed.last else { return }
        // Nothing may follow the EXT-X-ENDLIST of an earlier process.
        if hasEnded { journal.invalidate() }
        if journal.isStale { return try rewriteJournal(next, hasEnded: false) }
        try journal.append(RingJournal.record(entry), in: spool)
    }

    /// Step 3: makes `next` visible.
    /// - Returns: the subtitle files that are no longer needed.
    private func makeVisible(_ next: RingIndex) -> [SpoolFile] {
        index = next
        let evicted = subtitles.evict(index: index)
        publishSnapshot()
        return evicted
    }
}
