/// Leaves out what was published already. An upstream that counts anew, or an encoder that is started again, lists once
/// more what it had listed, under other numbers and names; so does a source that takes over and is behind the last one.
///
/// Bytes are the proof: behind a seam, a key frame with the time and the content of one that was published lately. From
/// there everything is a repetition up to the newest picture published behind that one, and what follows goes on as if
/// there were no seam. A loop that shows the same pictures again gives them other times, or was seen to show them twice:
/// that proves nothing.
struct RepeatedMedia: Sendable {
    private enum State: Sendable {
        case new
        /// Behind a seam, or a change of source, nothing was known again yet. What comes may still be older than
        /// `until`, the newest picture published before; `after` is the newest that came since.
        case suspicious(until: Ticks?, after: Ticks?)
        /// What comes is part of that stretch; `after` is the newest picture left out.
        case repeating(stretch: Int, after: Ticks?)
    }

    private(set) var published = PublishedMedia()
    private var state = State.new
    /// The segment taken last begins with what was published before.
    private(set) var beganBefore = false
    /// Pictures and frames of sound left out.
    private(set) var pictures = 0
    private(set) var frames = 0

    /// What comes next follows on what others published, and may have been published by them.
    mutating func resume(after published: PublishedMedia) {
        self.published = published
        state = .suspicious(until: published.end.picture, after: nil)
    }

    /// What was held when the channel left this source is published, too.
    mutating func pause(with left: DemuxedSegment) { published.note(left) }

    /// Takes from a segment what was published before, and the seam with it.
    mutating func leaveOut(of demuxed: inout RenditionSource.Demuxed) {
        published.note(demuxed.left)
        suspect(demuxed.border)
        let old = findRepeated(demuxed.packets.video, border: demuxed.border)
        beganBefore = false
        if old.ends.isEmpty {
            if demuxed.border != .plain { published.breakOff() }
        } else {
            leaveOut(old, of: &demuxed.packets)
            demuxed.border = .plain
        }
        published.note(demuxed.packets)
    }

    /// The beginning of a segment that was published before.
    private struct Repeated {
        var pictures = 0
        /// Of the stretches that it is of.
        var ends: [PublishedMedia.End] = []
    }

    private mutating func findRepeated(
        _ pictures: [VideoPacket], border: ProgramSwitchDetector.Border
    ) -> Repeated {
        var (repeated, newest): (Repeated, Int?) = (Repeated(), nil)
        if pictures.isEmpty, case .repeating(let stretch, _) = state {
            repeated.ends = [published.end(of: stretch)].compactMap { $0 }
        }
        for part in PublishedMedia.parts(of: pictures) {
            state = judge(pictures[part], border: part.lowerBound == 0 ? border : .plain)
            guard case .repeating(let stretch, _) = state, let end = published.end(of: stretch) else { break }
            repeated.ends.append(end)
            newest = stretch
            repeated.pictures = part.first { Self.isNew(pictures[$0].decodeTime, end.picture) } ?? part.upperBound
            guard repeated.pictures == part.upperBound else {
                state = .new
                break
            }
        }
        if let newest, repeated.pictures < pictures.count, !published.isLast(newest) { published.breakOff() }
        return repeated
    }

    private mutating func leaveOut(_ repeated: Repeated, of packets: inout DemuxedSegment) {
        var sound = 0
        for end in repeated.ends {
            let begin = sound
            while sound < packets.audio.count, !Self.isNew(packets.audio[sound].pts, end.sound),
                sound == begin || Self.isNew(packets.audio[sound].pts, packets.audio[sound - 1].pts)
            { sound += 1 }
        }
        pictures += repeated.pictures
        frames += sound
        beganBefore = repeated.pictures + sound > 0
        packets.video.removeFirst(repeated.pictures)
        packets.audio.removeFirst(sound)
        let newest = repeated.ends.last?.picture
        packets.metadata.removeAll { !Self.isNew($0.time, newest) }
    }

    private static func isNew(_ time: Ticks?, _ last: Ticks?) -> Bool {
        guard let time, let last else { return last == nil }
        return Ticks(wire: time, near: last) > last
    }
}

// MARK: - What a segment is taken for

extension RepeatedMedia {
    private mutating func suspect(_ border: ProgramSwitchDetector.Border) {
        guard border == .seam else { return }
        switch state {
        case .new: state = .suspicious(until: published.end.picture, after: nil)
        case .suspicious(let until, _): state = .suspicious(until: until, after: nil)
        case .repeating(let stretch, _):
            state = .suspicious(until: published.end(of: stretch)?.picture, after: nil)
        }
    }

    private func judge(_ pictures: ArraySlice<VideoPacket>, border: ProgramSwitchDetector.Border) -> State {
        guard let first = pictures.first?.decodeTime, let last = pictures.last?.decodeTime else { return state }
        switch state {
        case .new: return .new
        case .suspicious(let until, let after):
            // A list that is taken from before what was published begins with older segments that nobody knows: each is
            // looked at, up to the first new picture. But an advertisement may be shown twice.
            let isFirst = after == nil
            let mayBeOlder = isOlder(first, than: until, after: after) && (isFirst || border != .tagged)
            let known = isFirst || mayBeOlder ? published.stretches(with: pictures) : []
            if known.count == 1 { return .repeating(stretch: known[0], after: last) }
            return mayBeOlder ? .suspicious(until: until, after: last) : .new
        case .repeating(let stretch, let after):
            // What comes again comes in the order in which it was published.
            let known = published.stretches(with: pictures).first { $0 == stretch || $0 == stretch + 1 }
            if let known { return .repeating(stretch: known, after: last) }
            let goesOn = border != .tagged && after.map { Ticks(wire: first, near: $0) > $0 } ?? true
            return goesOn ? .repeating(stretch: stretch, after: last) : .new
        }
    }

    /// Whether a picture may have been published before `until`, on the same clock; `after` is the one before it.
    private func isOlder(_ time: Ticks, than until: Ticks?, after: Ticks?) -> Bool {
        guard let until else { return false }
        let unfolded = Ticks(wire: time, near: until)
        guard unfolded <= until, until - unfolded <= Self.longestLists else { return false }
        return after.map { Ticks(wire: time, near: $0) > $0 } ?? true
    }

    /// Lists that go farther back are rare, and clocks that are as near by chance are not.
    private static let longestLists = Ticks.seconds(3600)
}
