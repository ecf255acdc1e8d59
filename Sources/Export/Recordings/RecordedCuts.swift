package import Media

/// Ranges that a file of a recording does not present, and the media in them that is removed.
///
/// A range is removed from its first frame to its last random access point. The frames between that point and the end of
/// the range are needed to decode the next ones, and stay hidden; so do frames of the range that earlier ones refer to.
package struct RecordedCuts: Equatable, Sendable {
    package struct Cut: Equatable, Sendable {
        /// Between these times nothing is presented, on the timeline of the recording.
        package let hidden: Range<Ticks>
        /// The media in between is removed. Within `hidden`, but for the last frame before it.
        package let removed: Range<Ticks>

        /// The length of the removed media, in whole units of each track's timescale.
        fileprivate var shift: Int64 {
            let count = removed.upperBound.count - removed.lowerBound.count
            return count - count % RecordedCuts.shiftUnit
        }
    }

    /// Multiples of this number of ticks are whole numbers of units in both tracks' timescales.
    private static let shiftUnit: Int64 = 5
    /// A frame that is less early is in a range: dates are rounded to milliseconds.
    static let tolerance = Ticks.milliseconds(1)

    /// In order; none touches another.
    package let cuts: [Cut]

    init(_ cuts: [Cut]) { self.cuts = cuts }

    /// Whether all media that is not presented is removed, so that no edit list is needed.
    package var isWhole: Bool {
        cuts.allSatisfy { cut in
            cut.removed.upperBound + Self.tolerance >= cut.hidden.upperBound
                && cut.removed.lowerBound <= cut.hidden.lowerBound + Self.tolerance
        }
    }

    /// A segment without the removed media, on the timeline of the file.
    package func apply(to part: RecordedMedia.Part) -> RecordedMedia.Part {
        var part = part
        defer {
            if part.video.isEmpty { part.videoConfiguration = nil }
            part.audio.removeAll { $0.frames.isEmpty }
        }
        part.video = part.video.compactMap { frame in
            move(frame, at: Ticks(frame.decodeTime + Int64(frame.compositionOffset)), per: TrackTimescale.video)
        }
        part.audio = part.audio.map { audio in
            let frames = audio.frames.compactMap { frame in
                // A frame of audio is where its middle is.
                let middle = frame.decodeTime + Int64(frame.duration / 2)
                return move(
                    frame, at: Ticks(middle.rescaled(Ticks.perSecond, over: TrackTimescale.audio)),
                    per: TrackTimescale.audio)
            }
            return RecordedMedia.Audio(
                number: audio.number, track: audio.track, configuration: audio.configuration, frames: frames)
        }
        part.subtitles = part.subtitles.compactMap { subtitle in
            shift(at: subtitle.time).map {
                RecordedMedia.Subtitle(
                    service: subtitle.service, time: Ticks(subtitle.time.count - $0), bytes: subtitle.bytes)
            }
        }
        return part
    }

    private func move(_ frame: RecordedMedia.Frame, at time: Ticks, per timescale: Int64) -> RecordedMedia.Frame? {
        shift(at: time).map { shift in
            RecordedMedia.Frame(
                decodeTime: frame.decodeTime - shift / Self.shiftUnit * (timescale * Self.shiftUnit / Ticks.perSecond),
                duration: frame.duration, compositionOffset: frame.compositionOffset,
                isRandomAccessPoint: frame.isRandomAccessPoint, bytes: frame.bytes)
        }
    }

    /// By how many ticks media at a time is earlier in the file; nil if it is removed.
    private func shift(at time: Ticks) -> Int64? {
        var shift: Int64 = 0
        for cut in cuts where time + Self.tolerance >= cut.removed.lowerBound {
            guard time + Self.tolerance >= cut.removed.upperBound else { return nil }
            shift += cut.shift
        }
        return shift
    }

    /// The parts of the file that are presented, in order; none touches another.
    /// - Parameter whole: the recording, on its own timeline.
    package func presented(of whole: Range<Ticks>) -> [Range<Ticks>] {
        var (parts, start, shift): ([Range<Ticks>], Ticks, Int64) = ([], whole.lowerBound, 0)
        func add(until end: Ticks) {
            let part = (lower: Ticks(start.count - shift), upper: Ticks(min(end, whole.upperBound).count - shift))
            guard part.lower < part.upper else { return }
            if let last = parts.last, part.lower.count - last.upperBound.count < Self.shiftUnit {
                parts[parts.count - 1] = last.lowerBound..<part.upper
            } else {
                parts.append(part.lower..<part.upper)
            }
        }
        for cut in cuts {
            add(until: cut.hidden.lowerBound)
            (start, shift) = (cut.hidden.upperBound, shift + cut.shift)
        }
        add(until: whole.upperBound)
        return parts
    }

    /// How much of the recording before a time is not presented.
    package func hidden(before time: Ticks) -> Ticks {
        cuts.reduce(Ticks.zero) { sum, cut in
            let end = min(time, cut.hidden.upperBound)
            return end > cut.hidden.lowerBound ? sum + (end - cut.hidden.lowerBound) : sum
        }
    }
}
