import Media
import Mux

/// The end of the channel: audio may go on after the last video frame, which then stays.
extension PeriodAssembler {
    /// Ends the channel and returns the segments held back.
    /// - Parameter remaining: the last audio of the period, late or after its video. Frames that are not written are counted.
    mutating func finishChannel(with remaining: [TimedAudio]) -> [SplicedSegment] {
        defer { audio.dropPending() }
        guard !isAudioOnly, !isRejected, let timeline = period?.timeline else { return finish(with: remaining) }
        audio.append(remaining)
        further.appendLate(before: nil, leading: remaining, isChannelEnding: true)
        var cuts = cutter.finish()
        guard let last = cuts.popLast() else { return [] }
        let tail = audioTail(after: last, on: timeline)
        let parts = split(last, before: tail)
        var segments = write(cuts + parts.dropLast(), mediaSequence: lastSequence)
        let end = parts.last.flatMap { write($0, mediaSequence: lastSequence, endsPeriod: true, tail: tail) }
        if let end { segments.append(end) }
        return segments
    }

    /// Extends the last frame up to the end of the audio.
    mutating func holdLastFrame(_ samples: inout [MuxSample], for longest: Ticks) -> Ticks {
        guard let end = audio.nextDecodeTime, let last = samples.indices.last else { return .zero }
        let nearest = PeriodTimeline.ticks(ofAudioTime: end)
        let audioEnd = PeriodTimeline.audioTime(nearest) < end ? nearest + Ticks(1) : nearest
        let held = min(audioEnd - position.presentationEnd, longest)
        guard held > .zero else { return .zero }
        samples[last].duration += UInt32(held.count)
        position.presentationEnd = position.presentationEnd + held
        return held
    }

    /// Returns how long the pending audio goes on after the video of `cut`.
    private func audioTail(after cut: SegmentCutter.CutSegment, on timeline: PeriodTimeline) -> Ticks {
        guard let end = audio.pendingEnd, let presented = cut.units.map(\.pts).max() else { return .zero }
        return max(.zero, end - timeline.presentation(of: presented) - Ticks(lastDuration(of: cut)))
    }

    /// Splits off the end of the last segment, if the whole with `tail` would be longer than allowed: from a sync sample
    /// on if one is near enough, else from the last place where decoding and presentation order agree.
    private func split(_ cut: SegmentCutter.CutSegment, before tail: Ticks) -> [SegmentCutter.CutSegment] {
        guard let first = cut.units.first, let last = cut.units.last, tail > .zero else { return [cut] }
        let end = last.dts + Ticks(lastDuration(of: cut)) + tail
        guard end - first.dts > longestSegment else { return [cut] }
        let candidates = cut.units.indices.dropFirst().filter { end - cut.units[$0].dts <= longestSegment }
        let start =
            candidates.last { cut.units[$0].randomAccess != nil } ?? candidates.last { cut.keepsOrder($0) }
            ?? cut.units.indices.dropFirst().last { cut.keepsOrder($0) }
        return start.map(cut.split) ?? [cut]
    }
}

extension SegmentCutter.CutSegment {
    /// Whether no frame decoded from `index` on is presented before one decoded earlier.
    fileprivate func keepsOrder(_ index: Int) -> Bool {
        guard let before = units[..<index].map(\.pts).max(), let after = units[index...].map(\.pts).min() else {
            return true
        }
        return before < after
    }

    fileprivate func split(at index: Int) -> [Self] {
        [
            Self(
                units: Array(units[..<index]), end: units[index].dts, latestEnd: latestEnd, mediaSequence: mediaSequence
            ),
            Self(
                units: Array(units[index...]), end: end, latestEnd: latestEnd + (units[index].dts - units[0].dts),
                mediaSequence: mediaSequence),
        ]
    }
}
